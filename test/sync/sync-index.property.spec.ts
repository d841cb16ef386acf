import { expect } from 'chai'
import fc from 'fast-check'
import { toHex } from 'waku-light/message'
import { SyncIndex } from '../../src/sync/index.ts'
import { check, seed } from './seed.ts'
import { difference, type Entry, fingerprint, PUBSUB_TOPIC, toHash, toKey, toKeys } from './twin.ts'

const time = fc.oneof(
  fc.bigInt({ min: 0n, max: 40n }),
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  fc.integer({ min: -3, max: 3 }).map((step) => 2n ** 32n + BigInt(step)),
  fc.integer({ min: 0, max: 5000 }).map((step) => 1_700_000_000_000_000_000n + BigInt(step))
)
const hash = fc.oneof(
  fc.nat().map(toHash),
  fc.nat({ max: 3 }).map(toHash),
  fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(255))
)
const entry: fc.Arbitrary<Entry> = fc.record({
  timestamp: time,
  hash,
  pubsubTopic: fc.constantFrom(PUBSUB_TOPIC, '/waku/2/rs/16/1'),
  contentTopic: fc.constantFrom('/a/1/a/proto', '/a/1/b/proto', '/a/1/c/proto')
})

/** Up to 2000 entries, in any order, in order, or backwards. */
const entries = fc
  .tuple(
    fc.oneof(
      fc.array(entry, { maxLength: 30 }),
      fc.array(entry, { minLength: 200, maxLength: 2000, size: 'max' })
    ),
    fc.constantFrom('as they come', 'ascending', 'descending')
  )
  .map(([list, order]) => {
    if (order === 'as they come') {
      return list
    }
    const sorted = list.toSorted((a, b) => (toKey(a) < toKey(b) ? -1 : 1))
    return order === 'ascending' ? sorted : sorted.reverse()
  })

/** A twin that keeps the topics of the first of equal entries, as the index does. */
function unique(list: readonly Entry[]): Entry[] {
  const found = new Map<string, Entry>()
  for (const item of list) {
    if (!found.has(toKey(item))) {
      found.set(toKey(item), item)
    }
  }
  return [...found.values()]
}

function fill(list: readonly Entry[]): SyncIndex {
  const index = new SyncIndex()
  const seen = new Set<string>()
  for (const item of list) {
    const isNew = !seen.has(toKey(item))
    if (index.insert(item, item) !== isNew) {
      throw new Error('insert() disagrees about what is new')
    }
    seen.add(toKey(item))
  }
  return index
}

const ALL = { lower: 0n, upper: 2n ** 63n - 1n }

describe(`SyncIndex (seed ${seed})`, () => {
  it('holds what a sorted set holds, in its order', () => {
    check(
      fc.property(entries, entry, (list, other) => {
        const index = fill(list)
        const keys = toKeys(list)
        const inAll = list.filter(({ timestamp }) => timestamp < ALL.upper)
        expect(index.size).to.equal(keys.length)
        expect([...index.entries(ALL)].map(toKey)).to.deep.equal(toKeys(inAll))
        expect(index.has(other)).to.equal(keys.includes(toKey(other)))
        const middle = keys.length >> 1
        if (middle > 0) {
          expect(index.timeAt(middle)).to.equal(BigInt(keys[middle]?.split(' ')[0] ?? ''))
        }
      }),
      40
    )
  })

  it('summarizes ranges as adding up what is in them does', () => {
    check(
      fc.property(
        entries,
        fc.array(fc.tuple(time, time, fc.option(hash, { nil: undefined })), { minLength: 1 }),
        (list, ranges) => {
          const index = fill(list)
          for (const [a, b, upperHash] of ranges) {
            const bounds = { lower: a < b ? a : b, upper: a < b ? b : a, upperHash }
            const upper = { timestamp: bounds.upper, hash: upperHash ?? new Uint8Array(32) }
            const inside = unique(list).filter(
              (item) => item.timestamp >= bounds.lower && toKey(item) < toKey(upper)
            )
            const { count, fingerprint: sum } = index.summarize(bounds)
            expect({ count, sum: toHex(sum) }).to.deep.equal({
              count: inside.length,
              sum: fingerprint(inside)
            })
            expect([...index.entries(bounds)].map(toKey)).to.deep.equal(toKeys(inside))
          }
        }
      ),
      40
    )
  })

  it('forgets what is pruned, and goes on', () => {
    check(
      fc.property(entries, fc.array(fc.tuple(time, entries), { maxLength: 3 }), (list, steps) => {
        const index = fill(list)
        let twin = unique(list)
        for (const [before, more] of steps) {
          const kept = twin.filter(({ timestamp }) => timestamp >= before)
          expect(index.prune(before)).to.equal(twin.length - kept.length)
          for (const item of more) {
            index.insert(item, item)
          }
          twin = unique([...kept, ...more])
          expect(index.size).to.equal(twin.length)
          expect(toHex(index.summarize({ lower: 0n, upper: before }).fingerprint)).to.equal(
            fingerprint(twin.filter(({ timestamp }) => timestamp < before))
          )
          expect([...index.entries(ALL)].map(toKey)).to.deep.equal(
            toKeys(twin.filter(({ timestamp }) => timestamp < ALL.upper))
          )
        }
      }),
      40
    )
  })

  it('selects what a filter lets through', () => {
    check(
      fc.property(
        entries,
        time,
        fc.subarray([PUBSUB_TOPIC, '/waku/2/rs/16/1', '/waku/2/rs/16/2']),
        fc.subarray(['/a/1/a/proto', '/a/1/b/proto', '/none/1/x/proto']),
        (list, before, pubsubTopics, contentTopics) => {
          const index = fill(list)
          index.prune(before)
          const selected = index.select({ pubsubTopics, contentTopics }, ALL)
          const expected = unique(list).filter(
            (item) =>
              item.timestamp >= before &&
              item.timestamp < ALL.upper &&
              (pubsubTopics.length === 0 || pubsubTopics.includes(item.pubsubTopic)) &&
              (contentTopics.length === 0 || contentTopics.includes(item.contentTopic))
          )
          expect(difference(selected.entries(ALL), expected)).to.deep.equal([])
          expect(difference(expected, selected.entries(ALL))).to.deep.equal([])
        }
      ),
      40
    )
  })
})
