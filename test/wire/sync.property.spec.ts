import { expect } from 'chai'
import fc from 'fast-check'
import { isWakuLightError } from 'waku-light/errors'
import { decodeSyncPayload, encodeSyncPayload } from '../../src/wire/sync.ts'
import {
  compareSyncIds,
  type EmptySyncPayload,
  SYNC_PAYLOAD_LIMITS,
  type SyncPayload,
  type SyncRange
} from '../../src/wire/sync-payload.ts'
import { check, seed } from '../sync/seed.ts'

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const topic = fc
  .oneof(
    fc.constantFrom('/waku/2/rs/16/0', '/a/1/b/proto', 'nonsense'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  )
  .filter((text) => !/\p{Cc}/u.test(text))
const step = fc.oneof(
  fc.bigInt({ min: 1n, max: 9n }),
  fc.bigInt({ min: 1n, max: 2n ** 40n }),
  fc.constantFrom(127n, 128n, 2n ** 28n - 1n, 2n ** 28n, 2n ** 35n)
)
const content = fc.oneof(
  fc.constant({ type: 'skip' as const }),
  bytes32.map((fingerprint) => ({ type: 'fingerprint' as const, fingerprint })),
  fc.record({
    type: fc.constant('item-set' as const),
    reconciled: fc.boolean(),
    items: fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), hash: bytes32 }), {
      maxLength: 5
    })
  })
)

const scope: fc.Arbitrary<SyncPayload['scope']> = fc.oneof(
  fc.record({
    layout: fc.constant('topics' as const),
    pubsubTopics: fc.array(topic, { maxLength: 3 }),
    contentTopics: fc.array(topic, { maxLength: 3 })
  }),
  fc.record({
    layout: fc.constant('shards' as const),
    clusterId: fc.integer({ min: 1, max: 0xffff }),
    shards: fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 })
  })
)

/** Payloads as they may travel, with real times. */
const payloads: fc.Arbitrary<SyncPayload> = fc
  .tuple(
    scope,
    fc.bigInt({ min: 2n ** 60n, max: 2n ** 62n }),
    fc.array(fc.tuple(step, fc.option(bytes32, { freq: 5 }), content), {
      minLength: 1,
      maxLength: 6
    })
  )
  .map(([header, base, parts]) => {
    let lower = base
    const ranges = parts.map(([width, hash, body]): SyncRange => {
      const zero = hash !== null && hash.some((byte) => byte !== 0)
      const bounds = zero
        ? { lower, upper: lower, upperHash: hash }
        : { lower, upper: lower + width }
      lower = bounds.upper
      if (body.type !== 'item-set') {
        return { ...bounds, ...body }
      }
      const items = body.items
        .map(({ at, hash: itemHash }) => ({
          timestamp: bounds.lower + BigInt(Math.floor(at * Number(width - 1n))),
          hash: itemHash
        }))
        .filter(({ timestamp }) => timestamp < bounds.upper)
        .sort(compareSyncIds)
        .filter((item, index, all) => index === 0 || compareSyncIds(all[index - 1]!, item) < 0)
      return { ...bounds, ...body, items }
    })
    return { scope: header, ranges }
  })

/** The decoded payload, or undefined for a typed refusal; anything else that is thrown passes through. */
function attempt(bytes: Uint8Array): SyncPayload | EmptySyncPayload | undefined {
  try {
    return decodeSyncPayload(bytes)
  } catch (error) {
    if (!isWakuLightError(error)) {
      throw error
    }
    return undefined
  }
}

describe(`decodeSyncPayload (seed ${seed})`, () => {
  it('returns what was encoded', () => {
    check(
      fc.property(payloads, (payload) => {
        const bytes = encodeSyncPayload(payload)
        const { layout } = payload.scope
        expect(decodeSyncPayload(bytes, SYNC_PAYLOAD_LIMITS, layout)).to.deep.equal(payload)
        expect(decodeSyncPayload(bytes)).to.deep.equal(payload)
      }),
      300
    )
  })

  it('refuses every truncation but those that end after a range', () => {
    check(
      fc.property(payloads, ({ scope: header, ranges }) => {
        const bytes = encodeSyncPayload({ scope: header, ranges })
        const ends = new Set(
          ranges.map(
            (_, index) =>
              encodeSyncPayload({ scope: header, ranges: ranges.slice(0, index + 1) }).length
          )
        )
        const [first] = ranges as [SyncRange]
        const beforeRanges = encodeSyncPayload({
          scope: header,
          ranges: [{ lower: first.lower, upper: first.lower + 1n, type: 'skip' }]
        }).length
        ends.add(beforeRanges - 2)
        for (let length = 2; length < bytes.length; length++) {
          const decoded = (() => {
            try {
              return decodeSyncPayload(
                bytes.subarray(0, length),
                SYNC_PAYLOAD_LIMITS,
                header.layout
              )
            } catch (error) {
              expect(isWakuLightError(error)).to.equal(true)
              return undefined
            }
          })()
          expect(decoded !== undefined, `length ${length}`).to.equal(ends.has(length))
        }
      }),
      60
    )
  })

  it('accepts of mutated bytes only what encodes to the same, and throws typed errors', () => {
    const mutation = fc.tuple(
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.oneof(
        fc.uint8Array({ maxLength: 4 }).map((bytes) => [...bytes]),
        fc.constantFrom([0], [0x80], [0xff], [2], [1], Array<number>(9).fill(0x80))
      )
    )
    let accepted = 0
    check(
      fc.property(
        payloads,
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        (payload, changes) => {
          let bytes = [...encodeSyncPayload(payload)]
          for (const [at, cut, put] of changes) {
            bytes = bytes.toSpliced(at % (bytes.length + 1), cut, ...put)
          }
          const decoded = attempt(Uint8Array.from(bytes))
          if (decoded === undefined || typeof decoded === 'string' || decoded.ranges.length === 0) {
            return
          }
          accepted++
          const again = encodeSyncPayload(decoded)
          expect(decodeSyncPayload(again, SYNC_PAYLOAD_LIMITS, decoded.scope.layout)).to.deep.equal(
            decoded
          )
          // zeros at the end of an upper hash are the one thing that can be written in two ways
          if (decoded.ranges.every(({ upperHash }) => upperHash === undefined)) {
            expect([...again]).to.deep.equal(bytes)
          }
        }
      ),
      1500
    )
    expect(accepted).to.be.greaterThan(20)
  })

  it('throws nothing but typed errors on any bytes', () => {
    check(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        attempt(bytes)
      }),
      1000
    )
  })
})
