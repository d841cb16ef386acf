import { expect } from 'chai'
import { hasErrorCode, isWakuLightError } from 'waku-light/errors'
import { fromHex, toHex } from 'waku-light/message'
import { SyncIndex } from '../../src/sync/index.ts'
import { fingerprint, toEntry, toHash } from './twin.ts'

function failure(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}

describe('SyncIndex', () => {
  it('refuses times and hashes that cannot travel', () => {
    const index = new SyncIndex()
    const entry = toEntry(1n, 1)
    for (const bad of [
      { ...entry, timestamp: -1n },
      { ...entry, timestamp: 2n ** 63n },
      { ...entry, timestamp: 1 as unknown as bigint },
      { ...entry, hash: toHash(1).subarray(1) }
    ]) {
      expect(
        hasErrorCode(
          failure(() => index.insert(bad, entry)),
          'ERR_INVALID_ARGUMENT'
        )
      ).to.equal(true)
    }
    expect(index.size).to.equal(0)
    expect(index.insert({ ...entry, timestamp: 2n ** 63n - 1n }, entry)).to.equal(true)
  })

  it('is full with as many entries as allowed, until some are pruned', () => {
    const index = new SyncIndex({ maxEntries: 2 })
    const entries = [1, 2, 3].map((number) => toEntry(BigInt(number), number))
    const insert = (at: number): boolean => index.insert(entries[at]!, entries[at]!)
    expect([insert(0), insert(1), insert(1)]).to.deep.equal([true, true, false])
    const error = failure(() => insert(2))
    expect(hasErrorCode(error, 'ERR_LIMIT_EXCEEDED') && error.limit).to.equal(2)
    expect(index.prune(2n)).to.equal(1)
    expect(insert(2)).to.equal(true)
  })

  it('keeps counts and sums right when it is large, and is pruned bit by bit', () => {
    const size = 12_000
    const entries = Array.from({ length: size }, (_, number) =>
      toEntry(BigInt((number * 7_919) % size), number)
    )
    const index = new SyncIndex()
    for (const entry of entries) {
      index.insert(entry, entry)
    }
    const sorted = entries.toSorted((a, b) => Number(a.timestamp - b.timestamp))
    for (const before of [0, 1, 63, 64, 5_000, 5_001, 9_999, size - 1, size]) {
      index.prune(BigInt(before))
      const left = sorted.slice(before)
      const summary = index.summarize({ lower: 0n, upper: BigInt(size) })
      expect(summary.count).to.equal(left.length)
      expect(index.size).to.equal(left.length)
      expect(toHex(summary.fingerprint)).to.equal(fingerprint(left))
      for (const rank of [0, left.length >> 1, left.length - 1]) {
        const timestamp = left[rank]?.timestamp
        if (timestamp !== undefined) {
          expect(index.timeAt(rank)).to.equal(timestamp)
          expect(index.rank(timestamp)).to.equal(rank)
        }
      }
    }
    expect(index.insert(sorted[0]!, sorted[0]!)).to.equal(true)
    expect(index.size).to.equal(1)
  })

  it('keeps counts and sums right between insertions, when it is large', () => {
    const size = 30_000
    const middle = size / 2
    const index = new SyncIndex()
    const halves = [
      { bounds: { lower: 0n, upper: BigInt(middle) }, count: 0, sum: fingerprint([]) },
      { bounds: { lower: BigInt(middle), upper: BigInt(size) }, count: 0, sum: fingerprint([]) }
    ]
    for (let number = 0; number < size; number++) {
      const entry = toEntry(BigInt((number * 7_919) % size), number)
      index.insert(entry, entry)
      const half = halves[entry.timestamp < middle ? 0 : 1]!
      half.count++
      half.sum = fingerprint([entry, { ...entry, hash: fromHex(half.sum) }])
      for (const { bounds, count, sum } of number % 50 === 0 ? halves : []) {
        const summary = index.summarize(bounds)
        expect([summary.count, toHex(summary.fingerprint)]).to.deep.equal([count, sum])
      }
    }
    expect([0, middle, size - 1].map((rank) => Number(index.timeAt(rank)))).to.deep.equal([
      0,
      middle,
      size - 1
    ])
  })

  it('refuses a size that is none', () => {
    for (const maxEntries of [0, -1, 1.5, Number.NaN]) {
      expect(isWakuLightError(failure(() => new SyncIndex({ maxEntries })))).to.equal(true)
    }
  })

  it('is its own selection where the filter lets all through, and follows pruned topics', () => {
    const index = new SyncIndex()
    const all = { lower: 0n, upper: 100n }
    const a = toEntry(1n, 1, '/a/1/a/proto')
    const b = toEntry(2n, 2, '/a/1/b/proto')
    index.insert(a, a)
    index.insert(b, b)
    index.insert({ ...b, timestamp: 3n }, b)
    const filter = { pubsubTopics: [], contentTopics: ['/a/1/b/proto'] }
    expect(index.select(filter, all).size).to.equal(2)
    expect(index.select({ pubsubTopics: [], contentTopics: [] }, all)).to.equal(index)
    index.prune(2n)
    expect(index.select(filter, all)).to.equal(index)
    index.insert(a, a)
    expect(index.select(filter, all)).not.to.equal(index)
    expect(index.select(filter, { lower: 0n, upper: 3n }).size).to.equal(1)
  })
})
