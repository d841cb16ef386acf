import { expect } from 'chai'
import { fromHex, toHex, type WakuMessage } from 'waku-light/message'
import {
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
  encodeHistoryIndexBeta2,
  encodeHistoryQuery,
  encodeHistoryQueryBeta2,
  encodeHistoryResponse,
  encodeHistoryResponseBeta2,
  encodeLegacyPushRequest,
  encodeLegacyPushResponse,
  encodeLightPushRequest,
  encodeLightPushResponse,
  encodeMetadata,
  encodeStoreQueryRequest,
  encodeStoreQueryResponse,
  encodeWakuMessage,
  encodeWakuMessageKeyValue,
  LIGHT_PUSH_2_PROTOCOL,
  LIGHT_PUSH_3_PROTOCOL,
  MAX_METADATA_BYTES,
  METADATA_PROTOCOL,
  STORE_BETA2_PROTOCOL,
  STORE_BETA4_PROTOCOL,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import vectors from '../vectors/protocols.json' with { type: 'json' }
import timestamps from '../vectors/timestamps.json' with { type: 'json' }
import { clean, unframe } from './frame.ts'

function vector(id: string): Uint8Array<ArrayBuffer> {
  const found = vectors.find((entry) => entry.id === id)
  if (found === undefined) {
    throw new Error(`no vector ${id}`)
  }
  return found.hex === undefined ? unframe(found.frame ?? '') : fromHex(found.hex)
}

const MESSAGE: WakuMessage = {
  payload: fromHex('0102'),
  contentTopic: '/a/1/b/proto',
  timestamp: 1700000001000000000n
}
const PUBSUB_TOPIC = '/waku/2/rs/1/0'
const HASH = fromHex('3469f24ef13b13ad4e13aa7f39b34daf0440d5ff05db96858cc01b71ae4710eb')
const message = vector('message.minimal')
const START = 1700000000000000000n
const END = 1700003600000000000n

/** Encoding gives the vector, and decoding it the value. */
function both<T>(
  name: string,
  id: string,
  value: T,
  encode: (value: T) => Uint8Array,
  decode: (bytes: Uint8Array) => T
): void {
  it(`${name}: encodes and decodes ${id}`, () => {
    expect(toHex(encode(value))).to.equal(toHex(vector(id)))
    expect(clean(decode(vector(id)))).to.deep.equal(clean(value))
  })
}

/** A form that only others write. */
function only<T>(name: string, id: string, value: T, decode: (bytes: Uint8Array) => T): void {
  it(`${name}: decodes ${id}`, () => {
    expect(clean(decode(vector(id)))).to.deep.equal(clean(value))
  })
}

describe('protocol ids', () => {
  it('are those of the specifications', () => {
    expect([
      LIGHT_PUSH_2_PROTOCOL,
      LIGHT_PUSH_3_PROTOCOL,
      METADATA_PROTOCOL,
      STORE_BETA2_PROTOCOL,
      STORE_BETA4_PROTOCOL,
      STORE_QUERY_3_PROTOCOL
    ]).to.deep.equal([
      '/vac/waku/lightpush/2.0.0-beta1',
      '/vac/waku/lightpush/3.0.0',
      '/vac/waku/metadata/1.0.0',
      '/vac/waku/store/2.0.0-beta2',
      '/vac/waku/store/2.0.0-beta4',
      '/vac/waku/store-query/3.0.0'
    ])
  })
})

describe('published examples', () => {
  both('WakuMessage', 'message.minimal', MESSAGE, encodeWakuMessage, decodeWakuMessage)
  only('WakuMessage', 'message.reference', MESSAGE, decodeWakuMessage)

  both(
    'LightPushRequest',
    'lightpush3.request',
    { requestId: 'req-1', pubsubTopic: PUBSUB_TOPIC, message },
    encodeLightPushRequest,
    decodeLightPushRequest
  )
  both(
    'LightPushResponse',
    'lightpush3.ok',
    { requestId: 'req-1', statusCode: 200, relayPeerCount: 3 },
    encodeLightPushResponse,
    decodeLightPushResponse
  )
  both(
    'LightPushResponse',
    'lightpush3.too-many-requests',
    { requestId: 'N/A', statusCode: 429, statusDesc: 'Request rejected due to too many requests' },
    encodeLightPushResponse,
    decodeLightPushResponse
  )
  both(
    'LegacyPushRequest',
    'lightpush2.request',
    { requestId: 'r1', pubsubTopic: PUBSUB_TOPIC, message },
    encodeLegacyPushRequest,
    decodeLegacyPushRequest
  )
  both(
    'LegacyPushResponse',
    'lightpush2.ok',
    { requestId: 'r1', isSuccess: true, info: 'OK' },
    encodeLegacyPushResponse,
    decodeLegacyPushResponse
  )
  both(
    'LegacyPushResponse',
    'lightpush2.too-many-requests',
    { requestId: 'N/A', isSuccess: false, info: 'TOO_MANY_REQUESTS' },
    encodeLegacyPushResponse,
    decodeLegacyPushResponse
  )

  const decodeRequest = (bytes: Uint8Array) => decodeStoreQueryRequest(bytes, 10)
  both(
    'StoreQueryRequest',
    'store3.content-query',
    {
      requestId: 'q1',
      includeData: true,
      pubsubTopic: PUBSUB_TOPIC,
      contentTopics: ['/a/1/b/proto'],
      timeStart: START,
      timeEnd: END,
      messageHashes: [],
      paginationForward: true,
      paginationLimit: 100n
    },
    encodeStoreQueryRequest,
    decodeRequest
  )
  both(
    'StoreQueryRequest',
    'store3.presence-query',
    {
      requestId: 'q2',
      includeData: false,
      contentTopics: [],
      messageHashes: [HASH],
      paginationForward: true,
      paginationLimit: 1n
    },
    encodeStoreQueryRequest,
    decodeRequest
  )
  const entry = {
    messageHash: HASH,
    message: vector('message.reference'),
    pubsubTopic: PUBSUB_TOPIC
  }
  const response = {
    requestId: 'q1',
    statusCode: 200,
    statusDesc: 'OK',
    messages: [encodeWakuMessageKeyValue(entry)],
    paginationCursor: HASH
  }
  const decodeResponse = (bytes: Uint8Array) => decodeStoreQueryResponse(bytes, 1)
  both('StoreQueryResponse', 'store3.response', response, encodeStoreQueryResponse, decodeResponse)
  both(
    'StoreQueryResponse',
    'store3.cursor-not-found',
    {
      requestId: '',
      statusCode: 300,
      statusDesc: 'BAD_RESPONSE: archive error: DRIVER_ERROR: cursor not found',
      messages: []
    },
    encodeStoreQueryResponse,
    decodeResponse
  )
  it('WakuMessageKeyValue: decodes the entry of store3.response', () => {
    const [encoded] = decodeResponse(vector('store3.response')).messages
    expect(decodeWakuMessageKeyValue(encoded as Uint8Array)).to.deep.equal(entry)
  })

  both(
    'HistoryQuery',
    'store2.query',
    {
      requestId: 'q3',
      pubsubTopic: PUBSUB_TOPIC,
      contentTopics: ['/a/1/b/proto'],
      startTime: START,
      endTime: END,
      pageSize: 100n,
      forward: true
    },
    encodeHistoryQuery,
    decodeHistoryQuery
  )
  both(
    'HistoryResponse',
    'store2.too-many-requests',
    { requestId: 'N/A', messages: [], error: 429 },
    encodeHistoryResponse,
    decodeHistoryResponse
  )
  it('HistoryResponse: rejects store2.undecodable', () => {
    expect(() => decodeHistoryResponse(vector('store2.undecodable'))).to.throw('could not read')
  })

  both(
    'Metadata',
    'metadata.cluster-1',
    { clusterId: 1, shards: [] },
    encodeMetadata,
    decodeMetadata
  )
  only('Metadata', 'metadata.shardless', { clusterId: 1, shards: [] }, decodeMetadata)
  both(
    'Metadata',
    'metadata.shards',
    { clusterId: 1, shards: [0, 3] },
    encodeMetadata,
    decodeMetadata
  )
  only('Metadata', 'metadata.go-waku', { clusterId: 42, shards: [0] }, decodeMetadata)
})

describe('encodeMetadata', () => {
  it('writes cluster 0, and nothing for one that is not known', () => {
    expect(toHex(encodeMetadata({ clusterId: 0, shards: [] }))).to.equal('0800')
    expect(toHex(encodeMetadata({ shards: [] }))).to.equal('')
  })

  it('writes shards as the specification has them, then packed as the reference nodes do', () => {
    expect(toHex(encodeMetadata({ shards: [1, 128, 65535] }))).to.equal(
      '1001' + '108001' + '10ffff03' + '1a0601' + '8001' + 'ffff03'
    )
  })

  it('writes both fields into a frame that they just fill', () => {
    const shards = Array.from({ length: 255 }, (_, shard) => shard)
    expect(encodeMetadata({ clusterId: 1, shards })).to.have.length(MAX_METADATA_BYTES)
  })

  it('leaves the older field out where both do not fit into a frame', () => {
    const shards = Array.from({ length: 300 }, (_, shard) => shard)
    const bytes = encodeMetadata({ clusterId: 1, shards })
    expect(bytes.length).to.be.at.most(1024)
    expect(decodeMetadata(bytes)).to.deep.equal({ clusterId: 1, shards })
  })
})

describe('encodeLightPushRequest', () => {
  it('writes id and message even where they are empty, and no empty topic', () => {
    const request = { requestId: '', pubsubTopic: '', message: new Uint8Array() }
    expect(toHex(encodeLightPushRequest(request))).to.equal('0a00' + 'aa0100')
  })
})

describe('encodeLightPushResponse', () => {
  it('writes id and status even where they are empty, and no empty description', () => {
    expect(
      toHex(encodeLightPushResponse({ requestId: '', statusCode: 0, statusDesc: '' }))
    ).to.equal('0a005000')
  })
})

describe('encodeLegacyPushRequest', () => {
  it('writes id, topic and message even where they are empty', () => {
    const request = { requestId: '', pubsubTopic: '', message: new Uint8Array() }
    expect(toHex(encodeLegacyPushRequest(request))).to.equal('0a00' + '12040a001200')
  })
})

describe('encodeLegacyPushResponse', () => {
  it('writes id and success even where they are empty or false, and no empty info', () => {
    expect(toHex(encodeLegacyPushResponse({ requestId: '', isSuccess: false, info: '' }))).to.equal(
      '0a00' + '1a020800'
    )
  })
})

describe('encodeStoreQueryRequest', () => {
  it('writes id and both booleans, and no empty topic', () => {
    const request = {
      requestId: '',
      includeData: false,
      pubsubTopic: '',
      contentTopics: [],
      messageHashes: [],
      paginationForward: false
    }
    expect(toHex(encodeStoreQueryRequest(request))).to.equal('0a00' + '1000' + 'a00300')
  })
})

describe('encodeHistoryQuery', () => {
  it('writes paging info with size and direction always, and no empty topic', () => {
    const query = {
      requestId: '',
      pubsubTopic: '',
      contentTopics: [],
      pageSize: 0n,
      forward: false
    }
    expect(toHex(encodeHistoryQuery(query))).to.equal('0a00' + '1206' + '2204' + '0800' + '1800')
  })
})

describe('encodeHistoryResponse', () => {
  it('writes id and error always, and paging info only around a cursor', () => {
    expect(toHex(encodeHistoryResponse({ requestId: '', messages: [], error: 0 }))).to.equal(
      '0a00' + '1a022000'
    )
    const response = { requestId: '', messages: [], cursor: fromHex('01'), error: 0 }
    expect(toHex(encodeHistoryResponse(response))).to.equal('0a00' + '1a07' + '1a03120101' + '2000')
  })
})

describe('encodeHistoryIndex', () => {
  it('writes all four fields, empty ones too', () => {
    const index = { digest: new Uint8Array(), receiverTime: 0n, senderTime: 0n, pubsubTopic: '' }
    expect(toHex(encodeHistoryIndex(index))).to.equal('0a00' + '1000' + '1800' + '2200')
  })

  for (const { nanoseconds, sint64, source } of timestamps) {
    if (sint64 !== undefined) {
      it(`writes ${nanoseconds} as ${source} has it`, () => {
        const time = BigInt(nanoseconds)
        const index = {
          digest: new Uint8Array(),
          receiverTime: time,
          senderTime: time,
          pubsubTopic: ''
        }
        expect(toHex(encodeHistoryIndex(index))).to.equal(`0a0010${sint64}18${sint64}2200`)
        const { requestId, ...rest } = {
          requestId: '',
          contentTopics: [],
          forward: true,
          pageSize: 0n
        }
        expect(
          toHex(encodeHistoryQuery({ requestId, ...rest, startTime: time, endTime: time }))
        ).to.contain(`28${sint64}30${sint64}`)
        expect(
          toHex(
            encodeStoreQueryRequest({
              requestId,
              contentTopics: [],
              includeData: true,
              messageHashes: [],
              paginationForward: true,
              timeStart: time,
              timeEnd: time
            })
          )
        ).to.contain(`60${sint64}68${sint64}`)
        expect(toHex(encodeWakuMessage({ ...MESSAGE, timestamp: time }))).to.match(
          new RegExp(`50${sint64}$`)
        )
      })
    }
  }
})

describe('encodeHistoryIndexBeta2', () => {
  it('writes the time as a 32-bit float, which rounds it to 128 s', () => {
    const index = { digest: fromHex('ff'), receivedTime: 1700000001 }
    expect(toHex(encodeHistoryIndexBeta2(index))).to.equal('0a01ff' + '15' + 'e2a7ca4e')
  })
})

describe('encodeHistoryQueryBeta2', () => {
  it('writes topics, page size, cursor and a direction in which forward is 0', () => {
    const query = { requestId: 'a', topics: ['t'], pageSize: 5n, cursor: fromHex('0a00') }
    expect(toHex(encodeHistoryQueryBeta2({ ...query, forward: true }))).to.equal(
      '0a0161' + '120d' + '120174' + '1a08' + '0805' + '12020a00' + '1800'
    )
    expect(toHex(encodeHistoryQueryBeta2({ ...query, forward: false }))).to.match(/1801$/)
  })
})

describe('encodeHistoryResponseBeta2', () => {
  it('writes messages and paging info', () => {
    const pagingInfo = { pageSize: 1n, cursor: fromHex('0a00'), forward: false }
    const response = { requestId: 'a', messages: [fromHex('09')], pagingInfo }
    expect(toHex(encodeHistoryResponseBeta2(response))).to.equal(
      '0a0161' + '1a0d' + '120109' + '1a08' + '0801' + '12020a00' + '1801'
    )
  })
})
