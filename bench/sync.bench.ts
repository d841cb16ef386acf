// What a session of two engines costs, without a network: round trips, bytes both ways, and
// the time of both sides together; beside it a list of all hashes, and negentropy. COUNTS=1000,10000 for other sizes.
import { SyncIndex, SyncSession, type SyncSessionOptions } from 'waku-light/sync'
import type { SyncId } from 'waku-light/wire'
import { loadNegentropy, type Measured, PUBLISHED } from './lib/negentropy.ts'
import { keepResults, printTable, type Row } from './lib/results.ts'

const START = 1_700_000_000_000_000_000n
const HOUR = 3_600_000_000_000n
const TOPICS = { pubsubTopic: '/waku/2/rs/16/0', contentTopic: '/bench/1/a/proto' }
const WINDOW = { timeStart: START, timeEnd: START + HOUR }
const FILTER = { pubsubTopics: [TOPICS.pubsubTopic], contentTopics: [] }
/** A hash, the time since the one before it, and little else. */
const LISTED_BYTES = 36

const counts = (process.env['COUNTS'] ?? '1000,10000,100000').split(',').map(Number)
const negentropy = await loadNegentropy(START)
if (negentropy === undefined) {
  console.log('negentropy is not installed: its figures are those that were measured once')
}
const rows: Row[] = []
for (const count of counts) {
  const ids = Array.from({ length: count }, (_, index) => idOf(index, count))
  const sorted = ids.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
  inserts(sorted, 'inserts in order')
  inserts(ids, 'inserts in no order')
  for (const differences of [0, 1, 10, 1_000]) {
    const [a, b] = differ(ids, differences)
    const keep = (side: string, { differences: found, ...measured }: Measured): void => {
      if (found !== differences) {
        throw new Error(`${side} found ${found} of ${differences} differences`)
      }
      rows.push({ side, entries: count, differences, ...measured })
    }
    keep('waku-light', reconcile(a, b))
    keep('waku-light, 64 at first', reconcile(a, b, { firstParts: 64 }))
    rows.push({ side: 'all hashes', entries: count, differences, bytes: count * LISTED_BYTES })
    if (negentropy !== undefined) {
      keep('negentropy', negentropy(a, b))
    } else if (PUBLISHED[`${count}/${differences}`] !== undefined) {
      const published = PUBLISHED[`${count}/${differences}`]
      rows.push({ side: 'negentropy, as published', entries: count, differences, published })
    }
  }
}
printTable(rows)
keepResults('sync', {}, rows)

/** An entry anywhere in the hour, the same for the same number. */
function idOf(index: number, count: number): SyncId {
  const hash = new Uint8Array(32)
  const view = new DataView(hash.buffer)
  let state = (index + 1) ^ 0x9e3779b9
  for (let word = 0; word < 8; word++) {
    state = Math.imul(state ^ (state >>> 16), 0x85ebca6b) + word + 1
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35) ^ index
    view.setUint32(4 * word, state ^ (state >>> 16))
  }
  const slot = HOUR / BigInt(count)
  const place = (BigInt(index) * 7_919n) % BigInt(count)
  return { timestamp: START + place * slot + (BigInt(view.getUint32(0)) * slot) / 2n ** 32n, hash }
}

/** Two sets with so many differences, half on either side, spread. */
function differ(ids: readonly SyncId[], differences: number): [SyncId[], SyncId[]] {
  const step = Math.max(1, Math.floor(ids.length / Math.max(1, differences)))
  const sides: [SyncId[], SyncId[]] = [[], []]
  for (const [index, id] of ids.entries()) {
    const number = index % step === 0 ? index / step : differences
    if (number >= differences || number % 2 === 0) {
      sides[0].push(id)
    }
    if (number >= differences || number % 2 === 1) {
      sides[1].push(id)
    }
  }
  return sides
}

function indexOf(ids: readonly SyncId[]): SyncIndex {
  const index = new SyncIndex({ maxEntries: 2_000_000 })
  for (const id of ids) {
    index.insert(id, TOPICS)
  }
  return index
}

function inserts(ids: readonly SyncId[], side: string): void {
  const startMs = performance.now()
  const index = indexOf(ids)
  const perSecond = (index.size / (performance.now() - startMs)) * 1_000
  rows.push({ side, entries: ids.length, perSecond })
}

function reconcile(
  a: readonly SyncId[],
  b: readonly SyncId[],
  options: Partial<SyncSessionOptions> = {}
): Measured {
  const init = { filter: FILTER, window: WINDOW, options }
  const sides = [a, b].map((ids) => new SyncSession({ ...init, index: indexOf(ids) }))
  const found = new Set<bigint>()
  const startMs = performance.now()
  let payload: Uint8Array | undefined = sides[0]?.open()
  let bytes = 0
  let rounds = 0
  for (let turn = 1; payload !== undefined; turn++) {
    bytes += payload.length + lengthBytes(payload.length)
    const { reply, toSend, toFetch } = sides[turn % 2]!.process(payload)
    rounds += turn % 2 === 1 && reply !== undefined ? 1 : 0
    for (const { timestamp } of turn % 2 === 0 ? [...toSend, ...toFetch] : []) {
      found.add(timestamp)
    }
    payload = reply
  }
  const ms = performance.now() - startMs
  return { rounds, bytes, differences: found.size, ms }
}

function lengthBytes(length: number): number {
  return Math.max(1, Math.ceil(Math.log2(length + 1) / 7))
}
