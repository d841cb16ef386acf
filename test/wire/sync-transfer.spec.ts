import { expect } from 'chai'
import { hasErrorCode, isWakuLightError } from 'waku-light/errors'
import { fromHex, messageHash, toHex } from 'waku-light/message'
import {
  decodeTransfer,
  encodeTransfer,
  MAX_TRANSFER_BYTES,
  type TransferredMessage
} from '../../src/wire/sync-transfer.ts'
import recording from '../vectors/nwaku-sync-0.38.1.json' with { type: 'json' }
import { unframe } from './frame.ts'

interface Session {
  readonly id: string
  readonly ours: { hash: string; timestamp: string; payload: string }[]
  readonly transferred: { from: string; hash?: string; hex?: string }[] | number
}

const REFUSED = ['transfer-meta-65', 'transfer-undecodable', 'transfer-empty']

const transfers = (recording as unknown as Session[]).flatMap(({ id, ours, transferred }) =>
  (Array.isArray(transferred) ? transferred : []).flatMap(({ from, hash, hex }) =>
    hex === undefined ? [] : [{ id, from, hash, hex, ours }]
  )
)

function failure(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}

describe('decodeTransfer', () => {
  for (const [number, { id, from, hash, hex, ours }] of transfers.entries()) {
    if (REFUSED.includes(id)) {
      it(`refuses ${id}`, () => {
        expect(
          hasErrorCode(
            failure(() => decodeTransfer(unframe(hex))),
            'ERR_INVALID_MESSAGE'
          )
        ).to.equal(true)
      })
    } else {
      it(`reads transfer ${number} of the recording, from ${from} in ${id}`, () => {
        const { pubsubTopic, message } = decodeTransfer(unframe(hex))
        const actual = toHex(messageHash(pubsubTopic, message))
        const known = hash === undefined ? ours.map((entry) => entry.hash) : [hash]
        if (hash !== undefined || id.startsWith('transfer-')) {
          expect(known).to.include(actual)
        }
        expect(new TextDecoder().decode(message.payload)).to.match(/^[a-z]+-\d+$/)
      })
    }
  }

  it('has met both directions and both orders of fields', () => {
    expect(transfers.length).to.be.greaterThan(20)
    expect(new Set(transfers.map(({ from }) => from))).to.deep.equal(new Set(['us', 'node']))
    expect(transfers.map(({ id }) => id)).to.include('transfer-message-first')
  })

  it('refuses every truncation that takes away from the message', () => {
    const bytes = unframe(transfers.find(({ id }) => id === 'transfer-pubsub-first')!.hex)
    for (let length = 0; length < bytes.length; length++) {
      expect(
        isWakuLightError(failure(() => decodeTransfer(bytes.subarray(0, length)))),
        `${length}`
      ).to.equal(true)
    }
  })

  it('refuses a topic that is not UTF-8, and a frame without one of its fields', () => {
    for (const hex of ['0a02c3281204' + '0a001200', '0a012f', '12040a001200']) {
      expect(
        hasErrorCode(
          failure(() => decodeTransfer(fromHex(hex))),
          'ERR_INVALID_MESSAGE'
        )
      ).to.equal(true)
    }
  })
})

describe('encodeTransfer', () => {
  const transfer = (payloadBytes: number): TransferredMessage => ({
    pubsubTopic: '/waku/2/rs/16/0',
    message: {
      payload: new Uint8Array(payloadBytes),
      contentTopic: '/a/1/b/proto',
      timestamp: 1_700_000_000_000_000_000n
    }
  })

  it('writes the order of the reference node', () => {
    const bytes = encodeTransfer(transfer(3))
    expect(toHex(bytes).startsWith('0a0f2f77616b752f322f72732f31362f3012')).to.equal(true)
    expect(decodeTransfer(bytes)).to.deep.equal(transfer(3))
  })

  it('refuses what the reference node would, one byte over the limit', () => {
    const overhead = encodeTransfer(transfer(140_000)).length - 140_000
    const largest = transfer(MAX_TRANSFER_BYTES - overhead)
    expect(encodeTransfer(largest).length).to.equal(153_600)
    expect(decodeTransfer(encodeTransfer(largest))).to.deep.equal(largest)
    const error = failure(() => encodeTransfer(transfer(MAX_TRANSFER_BYTES - overhead + 1)))
    expect(hasErrorCode(error, 'ERR_LIMIT_EXCEEDED') && error.limit).to.equal(153_600)
    expect(
      hasErrorCode(
        failure(() => decodeTransfer(new Uint8Array(153_601))),
        'ERR_LIMIT_EXCEEDED'
      )
    ).to.equal(true)
  })
})
