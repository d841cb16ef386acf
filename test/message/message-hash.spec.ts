import { expect } from 'chai'
import {
  fromHex,
  MESSAGE_HASH_BYTES,
  messageHash,
  toHex,
  type WakuMessage
} from 'waku-light/message'
import vectors from '../vectors/message-hash.json' with { type: 'json' }

const message: WakuMessage = {
  payload: fromHex('0102'),
  contentTopic: '/a/1/b/proto',
  timestamp: 1700000001000000000n
}
const hashOf = (fields: Partial<WakuMessage>) =>
  toHex(messageHash('/waku/2/rs/1/0', { ...message, ...fields }))

describe('messageHash', () => {
  for (const { source, pubsubTopic, contentTopic, timestamp, payload, meta, hash } of vectors) {
    it(`is ${hash.slice(0, 8)}… in ${source}`, () => {
      const value = {
        payload: fromHex(payload),
        contentTopic,
        timestamp: BigInt(timestamp),
        meta: meta === undefined ? undefined : fromHex(meta)
      }
      expect(toHex(messageHash(pubsubTopic, value))).to.equal(hash)
    })
  }

  it('is 32 bytes in a buffer of their own', () => {
    expect(messageHash('', message).buffer.byteLength).to.equal(MESSAGE_HASH_BYTES)
  })

  it('takes an absent timestamp for zero, and empty meta for none', () => {
    expect(hashOf({ timestamp: undefined })).to.equal(hashOf({ timestamp: 0n }))
    expect(hashOf({ meta: new Uint8Array() })).to.equal(hashOf({}))
  })

  it('tells a negative timestamp from a positive one, and every topic and payload apart', () => {
    const hashes = [
      hashOf({}),
      hashOf({ timestamp: -1n }),
      hashOf({ timestamp: 1n }),
      hashOf({ payload: fromHex('01') }),
      hashOf({ contentTopic: '/a/1/c/proto' }),
      hashOf({ meta: fromHex('00') }),
      toHex(messageHash('/waku/2/rs/1/1', message))
    ]
    expect(new Set(hashes).size).to.equal(hashes.length)
  })

  it('leaves out version, ephemeral and the proof', () => {
    expect(hashOf({ version: 2, ephemeral: true, rateLimitProof: fromHex('01') })).to.equal(
      hashOf({})
    )
  })
})
