import { expect } from 'chai'
import { hasErrorCode } from 'waku-light/errors'
import { messageHash, toHex } from 'waku-light/message'
import {
  decodeHistoryIndex,
  decodeHistoryQuery,
  decodeHistoryResponse,
  decodeLegacyPushRequest,
  decodeLegacyPushResponse,
  decodeLightPushRequest,
  decodeLightPushResponse,
  decodeMetadata,
  decodeStoreQueryRequest,
  decodeStoreQueryResponse,
  decodeWakuMessage,
  decodeWakuMessageKeyValue,
  encodeHistoryIndex,
  encodeHistoryQuery,
  encodeHistoryResponse,
  encodeLegacyPushRequest,
  encodeLegacyPushResponse,
  encodeLightPushRequest,
  encodeLightPushResponse,
  encodeStoreQueryRequest,
  encodeStoreQueryResponse,
  encodeWakuMessageKeyValue
} from 'waku-light/wire'
import { clean, unframe } from './frame.ts'
import { type Recorded, recorded } from './recorded.ts'

/** What the node says when it could not read a request, in any generation. */
const UNREADABLE =
  /decode_rpc_failure|decoding rpc failed|missing \w+ field|invalid length for Meta/

/** Requests that the node refused for another reason than their bytes, or read although a part is missing. */
const READABLE = new Set([
  'go-waku lightpush2.topic-empty',
  'go-waku lightpush2.request-id-empty',
  'go-waku lightpush2.payload-empty',
  'go-waku store2.request-id-empty',
  'go-waku store2.filters-11'
])

function isRefused({ id, decoded, end }: Recorded): boolean {
  const text = decoded?.status_desc ?? decoded?.response?.info ?? ''
  return (
    !READABLE.has(id) &&
    (UNREADABLE.test(text) || text === 'empty_request_body_failure' || end !== undefined)
  )
}

function outcome(read: () => unknown): string {
  try {
    read()
    return 'read'
  } catch (error) {
    expect(hasErrorCode(error, 'ERR_INVALID_MESSAGE'), String(error)).to.equal(true)
    return 'refused'
  }
}

/** One test for each recorded request that is a whole frame. */
function testRequests(protocol: string, decode: (bytes: Uint8Array) => unknown): void {
  for (const entry of recorded(protocol)) {
    const { request } = entry
    if (request === undefined || entry.id.endsWith('eof-inside-frame')) {
      continue
    }
    const expected = isRefused(entry) ? 'refused' : 'read'
    it(`has ${entry.id} ${expected}`, () => {
      expect(outcome(() => decode(unframe(request)))).to.equal(expected)
    })
  }
}

function testResponses(
  protocol: string,
  test: (bytes: Uint8Array<ArrayBuffer>, decoded: Recorded['decoded']) => void
): void {
  for (const { id, response, decoded } of recorded(protocol)) {
    if (response !== undefined) {
      it(`reads the answer of ${id}`, () => test(unframe(response), decoded))
    }
  }
}

/** Frames that the encoders of this package write byte by byte as the recording client did. */
function testSameBytes(
  protocol: string,
  names: readonly string[],
  again: (bytes: Uint8Array) => Uint8Array
): void {
  for (const { id, request } of recorded(protocol)) {
    if (request !== undefined && names.some((name) => id.endsWith(`.${name}`))) {
      it(`writes the request of ${id} again`, () => {
        expect(toHex(again(unframe(request)))).to.equal(toHex(unframe(request)))
      })
    }
  }
}

describe('decodeLightPushRequest, recorded', () => {
  testRequests('lightpush3', (bytes) => decodeWakuMessage(decodeLightPushRequest(bytes).message))
  testSameBytes(
    'lightpush3',
    [
      'ok',
      'topic-absent-static',
      'request-id-empty',
      'payload-empty',
      'meta-64',
      'ephemeral',
      'version-2'
    ],
    (bytes) => encodeLightPushRequest(decodeLightPushRequest(bytes))
  )

  it('takes the last of two request ids, and ignores a topic of the wrong wire type', () => {
    const of = (name: string) =>
      decodeLightPushRequest(
        unframe(recorded('lightpush3').find(({ id }) => id.endsWith(`.${name}`))?.request ?? '')
      )
    expect(of('last-scalar-wins').requestId).to.equal('req-1')
    expect(of('wrong-wiretype-known')).to.not.have.property('pubsubTopic')
    expect(of('wrong-wiretype-and-right').pubsubTopic).to.equal('/waku/2/rs/16/0')
  })
})

describe('decodeLightPushResponse, recorded', () => {
  testResponses('lightpush3', (bytes, decoded) => {
    const response = decodeLightPushResponse(bytes)
    expect(clean(response)).to.deep.equal(
      clean({
        requestId: decoded.request_id,
        statusCode: decoded.status_code,
        statusDesc: decoded.status_desc,
        relayPeerCount: decoded.relay_peer_count
      })
    )
    expect(toHex(encodeLightPushResponse(response))).to.equal(toHex(bytes))
  })
})

describe('decodeLegacyPushRequest, recorded', () => {
  testRequests('lightpush2', (bytes) => decodeWakuMessage(decodeLegacyPushRequest(bytes).message))
  testSameBytes('lightpush2', ['ok', 'topic-empty', 'request-id-empty', 'payload-empty'], (bytes) =>
    encodeLegacyPushRequest(decodeLegacyPushRequest(bytes))
  )
})

describe('decodeLegacyPushResponse, recorded', () => {
  testResponses('lightpush2', (bytes, { request_id = '', response }) => {
    const decoded = decodeLegacyPushResponse(bytes)
    expect(clean(decoded)).to.deep.equal(
      clean({ requestId: request_id, isSuccess: response.is_success ?? false, info: response.info })
    )
    if (response.is_success !== undefined) {
      expect(toHex(encodeLegacyPushResponse(decoded))).to.equal(toHex(bytes))
    }
  })
})

describe('decodeStoreQueryRequest, recorded', () => {
  testRequests('store3', (bytes) => decodeStoreQueryRequest(bytes, 100))

  it('reads every time bound that was sent, zero and negative ones too', () => {
    const of = (name: string) =>
      decodeStoreQueryRequest(
        unframe(recorded('store3').find(({ id }) => id.endsWith(`.${name}`))?.request ?? ''),
        1
      )
    expect(of('time-zero-both')).to.include({ timeStart: 0n, timeEnd: 0n })
    expect(of('time-start-negative').timeStart).to.equal(-1n)
    expect(of('time-end-zero')).to.include({ timeEnd: 0n }).and.not.have.property('timeStart')
  })

  for (const { id, request } of recorded('store3')) {
    if (
      /\.(walk-.*|time-equal|data-true|cursor-(33|31|at-last))$/.test(id) &&
      request !== undefined
    ) {
      it(`writes the request of ${id} again, with its booleans`, () => {
        const written = toHex(
          encodeStoreQueryRequest(decodeStoreQueryRequest(unframe(request), 10))
        )
        const sent = toHex(unframe(request))
        // the recording client left booleans out where they were false
        expect([
          written,
          written.replace('1000', ''),
          written.replace('a00300', ''),
          written.replace('1000', '').replace('a00300', '')
        ]).to.include(sent)
      })
    }
  }
})

describe('decodeStoreQueryResponse, recorded', () => {
  testResponses('store3', (bytes, decoded) => {
    const response = decodeStoreQueryResponse(bytes, 100)
    expect(response.requestId).to.equal(decoded.request_id)
    expect(response.statusCode).to.equal(decoded.status_code)
    expect(response.statusDesc).to.equal(decoded.status_desc)
    expect(response.messages).to.have.length(decoded.messages ?? 0)
    expect(response.paginationCursor && toHex(response.paginationCursor)).to.equal(
      decoded.pagination_cursor
    )
    expect(toHex(encodeStoreQueryResponse(response))).to.equal(toHex(bytes))
  })
})

describe('decodeWakuMessageKeyValue, recorded', () => {
  let verified = 0
  testResponses('store3', (bytes) => {
    for (const encoded of decodeStoreQueryResponse(bytes, 100).messages) {
      const entry = decodeWakuMessageKeyValue(encoded)
      expect(toHex(encodeWakuMessageKeyValue(entry))).to.equal(toHex(encoded))
      expect(entry.message === undefined).to.equal(entry.pubsubTopic === undefined)
      if (entry.message !== undefined && entry.pubsubTopic !== undefined) {
        const hash = messageHash(entry.pubsubTopic, decodeWakuMessage(entry.message))
        expect(toHex(hash)).to.equal(toHex(entry.messageHash))
        verified++
      }
    }
  })

  it('has verified the hash of every message that came with its content', () => {
    expect(verified).to.be.greaterThan(10)
  })
})

describe('decodeHistoryQuery, recorded', () => {
  testRequests('store2', (bytes) => decodeHistoryQuery(bytes, 11))
  testSameBytes(
    'store2',
    ['page-3-fwd', 'page-0-fwd', 'walk-5-of-10-fwd-0', 'walk-5-of-10-fwd-1'],
    (bytes) => encodeHistoryQuery(decodeHistoryQuery(bytes))
  )

  it('keeps an empty cursor apart from none', () => {
    const empty = recorded('store2').find(({ id }) => id.endsWith('.cursor-empty'))?.request ?? ''
    const none = recorded('store2').find(({ id }) => id.endsWith('.page-3-fwd'))?.request ?? ''
    expect(decodeHistoryQuery(unframe(empty)).cursor).to.have.length(0)
    expect(decodeHistoryQuery(unframe(none)).cursor).to.equal(undefined)
  })
})

describe('decodeHistoryResponse, recorded', () => {
  testResponses('store2', (bytes, { request_id, response }) => {
    const decoded = decodeHistoryResponse(bytes)
    expect(decoded.requestId).to.equal(request_id)
    expect(decoded.messages).to.have.length(response.messages)
    expect(decoded.error).to.equal(response.error ?? 0)
    const cursor = response.paging_info?.cursor
    expect(decoded.cursor === undefined).to.equal(cursor === undefined)
    for (const message of decoded.messages) {
      expect(decodeWakuMessage(message).contentTopic).to.not.equal('')
    }
    if (decoded.cursor !== undefined) {
      const index = decodeHistoryIndex(decoded.cursor)
      expect({
        digest: toHex(index.digest),
        receiver_time: String(index.receiverTime),
        sender_time: String(index.senderTime),
        pubsub_topic: index.pubsubTopic
      }).to.deep.equal({ sender_time: '0', pubsub_topic: '', ...cursor })
      if (cursor.sender_time !== undefined) {
        expect(toHex(encodeHistoryIndex(index))).to.equal(toHex(decoded.cursor))
      }
    }
    expect(clean(decodeHistoryResponse(encodeHistoryResponse(decoded)))).to.deep.equal(
      clean(decoded)
    )
  })
})

describe('decodeMetadata, recorded', () => {
  for (const { id, request, response, decoded } of recorded('metadata')) {
    const theirs = /\.(we-|node-asks-us)/.test(id) ? request : response
    const ours = /\.(we-|node-asks-us)/.test(id) ? response : request
    if (theirs !== undefined && decoded?.cluster_id !== undefined) {
      it(`reads what the node says in ${id}`, () => {
        const shards = decoded.shards_field_3.toSorted((a: number, b: number) => a - b)
        expect(decodeMetadata(unframe(theirs))).to.deep.equal({
          clusterId: decoded.cluster_id,
          shards
        })
      })
    }
    if (ours !== undefined) {
      const expected = id.endsWith('undecodable') ? 'refused' : 'read'
      it(`has the client's part of ${id} ${expected}`, () => {
        expect(outcome(() => decodeMetadata(unframe(ours)))).to.equal(expected)
      })
    }
  }
})
