import { expect } from 'chai'
import fc from 'fast-check'
import { InvalidArgumentError, MessageTooLargeError } from 'waku-light/errors'
import {
  assertMessage,
  DEFAULT_MAX_MESSAGE_BYTES,
  fromHex,
  MAX_META_BYTES,
  messageSizeBytes,
  type WakuMessage
} from 'waku-light/message'
import { encodeWakuMessage } from 'waku-light/wire'
import vectors from '../vectors/protocols.json' with { type: 'json' }
import { fieldBytes } from '../wire/twin.ts'

const NOW = 1796007786650000000n
const contentTopic = '/a/1/b/proto'
const message: WakuMessage = { payload: fromHex('0102'), contentTopic, timestamp: NOW }

describe('messageSizeBytes', () => {
  it('is that of the form in which the reference node encodes a message again', () => {
    const reference = vectors.find(({ id }) => id === 'message.reference')?.hex ?? ''
    expect(messageSizeBytes({ ...message, timestamp: 1700000001000000000n })).to.equal(
      reference.length / 2
    )
  })

  it('is 153600, the reference limit, for a payload of 153562 bytes and a topic of 12', () => {
    expect(messageSizeBytes({ ...message, payload: new Uint8Array(153_562) })).to.equal(153_600)
  })

  it('counts every field that is left out or empty as the two or three bytes the node adds', () => {
    const bare = { payload: new Uint8Array(), contentTopic: '' }
    expect(messageSizeBytes(bare)).to.equal(2 + 2 + 2 + 2 + 2 + 3 + 3)
    const full = {
      ...bare,
      version: 0,
      timestamp: 0n,
      meta: new Uint8Array(),
      rateLimitProof: new Uint8Array(),
      ephemeral: false
    }
    expect(messageSizeBytes(full)).to.equal(messageSizeBytes(bare))
  })

  it('counts a timestamp as the zigzag varint that it is', () => {
    const sizeOf = (timestamp: bigint) =>
      messageSizeBytes({ ...message, timestamp }) - messageSizeBytes({ ...message, timestamp: 0n })
    expect([63n, 64n, -64n, -65n, 2n ** 63n - 1n, -(2n ** 63n)].map(sizeOf)).to.deep.equal([
      0, 1, 0, 1, 9, 9
    ])
  })

  it('equals the length of an encoding with all fields, written out by the twin', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat({ max: 20_000 }).map((length) => new Uint8Array(length))
    )
    fc.assert(
      fc.property(
        bytes,
        fc.string({ unit: 'grapheme' }),
        fc.nat({ max: 0xffffffff }),
        fc.oneof(
          fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
          fc.bigInt({ min: -300n, max: 300n })
        ),
        fc.uint8Array({ maxLength: 64 }),
        bytes,
        (payload, topic, version, timestamp, meta, proof) => {
          const zigzag = timestamp < 0n ? -2n * timestamp - 1n : 2n * timestamp
          const encoded = [
            fieldBytes(1, 2, payload),
            fieldBytes(2, 2, new TextEncoder().encode(topic)),
            fieldBytes(3, 0, BigInt(version)),
            fieldBytes(10, 0, zigzag),
            fieldBytes(11, 2, meta),
            fieldBytes(21, 2, proof),
            fieldBytes(31, 0, 1n)
          ]
          const size = messageSizeBytes({
            payload: new Uint8Array(payload),
            contentTopic: topic,
            version,
            timestamp,
            meta: new Uint8Array(meta),
            rateLimitProof: new Uint8Array(proof),
            ephemeral: true
          })
          expect(size).to.equal(encoded.reduce((sum, { length }) => sum + length, 0))
        }
      ),
      { numRuns: 50, seed: 11 }
    )
  })
})

describe('assertMessage', () => {
  it('accepts a message with every field at its bounds', () => {
    for (const timestamp of [-(2n ** 63n), 0n, 2n ** 63n - 1n]) {
      assertMessage({
        ...message,
        timestamp,
        version: 0xffffffff,
        meta: new Uint8Array(MAX_META_BYTES),
        rateLimitProof: new Uint8Array(1),
        ephemeral: false
      })
    }
    assertMessage({ payload: new Uint8Array(), contentTopic: '/é/😀/b/c', version: 0 })
  })

  const wrong: readonly [string, object][] = [
    ['message.payload', { payload: undefined }],
    ['message.payload', { payload: 'text' }],
    ['message.payload', { payload: [1, 2] }],
    ['message.payload', { payload: new Uint16Array(1) }],
    ['message.payload', { payload: new ArrayBuffer(1) }],
    ['message.contentTopic', { contentTopic: undefined }],
    ['message.contentTopic', { contentTopic: '' }],
    ['message.contentTopic', { contentTopic: 5 }],
    ['message.contentTopic', { contentTopic: '/a/1/\ud83d/proto' }],
    ['message.version', { version: -1 }],
    ['message.version', { version: 1.5 }],
    ['message.version', { version: 2 ** 32 }],
    ['message.version', { version: Number.NaN }],
    ['message.version', { version: 1n }],
    ['message.timestamp', { timestamp: 5 }],
    ['message.timestamp', { timestamp: new Date(0) }],
    ['message.timestamp', { timestamp: 2n ** 63n }],
    ['message.timestamp', { timestamp: -(2n ** 63n) - 1n }],
    ['message.meta', { meta: 'text' }],
    ['message.meta', { meta: new Uint8Array(65) }],
    ['message.rateLimitProof', { rateLimitProof: 'text' }],
    ['message.ephemeral', { ephemeral: 1 }],
    ['message.ephemeral', { ephemeral: null }]
  ]
  for (const [parameter, fields] of wrong) {
    const shown = JSON.stringify(fields, (_, value) =>
      typeof value === 'bigint' ? `${value}n` : (value ?? `${value}`)
    )
    it(`names ${parameter} for ${shown}`, () => {
      expect(() => assertMessage({ ...message, ...fields }))
        .to.throw(InvalidArgumentError)
        .with.property('parameter', parameter)
    })
  }

  it('names the message where it is no object', () => {
    for (const value of [undefined, null, 'text', 5]) {
      expect(() => assertMessage(value as never))
        .to.throw(InvalidArgumentError)
        .with.property('parameter', 'message')
    }
  })

  it('accepts a message of the limit and rejects one more byte with size and limit', () => {
    const sized = (sizeBytes: number) => ({ ...message, payload: new Uint8Array(sizeBytes - 38) })
    assertMessage(sized(DEFAULT_MAX_MESSAGE_BYTES))
    expect(() => assertMessage(sized(DEFAULT_MAX_MESSAGE_BYTES + 1)))
      .to.throw(MessageTooLargeError)
      .that.includes({ sizeBytes: 152_577, limitBytes: 152_576 })
    assertMessage(sized(153_600), 153_600)
    expect(() => assertMessage(message, 10)).to.throw(MessageTooLargeError)
  })
})

describe('encodeWakuMessage', () => {
  it('writes a content topic as the bytes that are hashed', () => {
    const topic = '/é/1/😀/\u0000'
    const encoded = encodeWakuMessage({ payload: new Uint8Array(), contentTopic: topic })
    expect([...encoded.subarray(4)]).to.deep.equal([...new TextEncoder().encode(topic)])
  })
})
