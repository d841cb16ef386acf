// The reference node's side of a session, written as section 9.3 of the wire facts tells it: slow, and with its quirks. It
// looks ranges up with both bounds included, decides by counts that ignore the filter, splits time into eight, drops what it
// cannot split, lets a list of topics that it never heard of filter nothing, and learns nothing of what it lacks.
import { toHex } from 'waku-light/message'
import { decodeSyncPayload, encodeSyncPayload } from '../../src/wire/sync.ts'
import {
  compareSyncIds,
  type RangeBounds,
  type SyncId,
  type SyncPayload,
  type SyncRange
} from '../../src/wire/sync-payload.ts'
import type { Entry } from './twin.ts'

const ZERO = new Uint8Array(32)
const HIGHEST = new Uint8Array(32).fill(0xff)

export interface ReferenceStep {
  readonly reply?: Uint8Array
  readonly toSend: readonly SyncId[]
  readonly end: boolean
}

interface Slice {
  readonly entries: readonly Entry[]
  readonly isOutside: boolean
}

export class ReferenceNode {
  readonly threshold: number = 100
  readonly partitions: bigint = 8n
  readonly #entries: readonly Entry[]

  constructor(
    entries: Iterable<Entry>,
    readonly pubsubTopics: readonly string[] = [],
    readonly contentTopics: readonly string[] = []
  ) {
    this.#entries = [...entries].sort(compareSyncIds)
  }

  open(lower: bigint, upper: bigint): Uint8Array {
    const { entries } = this.#lookUp({ lower, upper, upperHash: HIGHEST })
    const fingerprint = this.#fingerprint(entries.filter(this.#filter(this)))
    return this.#encode([{ type: 'fingerprint', lower, upper, fingerprint }])
  }

  process(bytes: Uint8Array): ReferenceStep {
    const payload = decodeSyncPayload(bytes)
    if (typeof payload === 'string' || payload.ranges.every(({ type }) => type === 'skip')) {
      return { toSend: [], end: true }
    }
    const { scope } = payload
    if (scope.layout !== 'topics') {
      return { toSend: [], end: true }
    }
    const pubsubTopics = narrow(this.pubsubTopics, scope.pubsubTopics)
    const contentTopics = narrow(this.contentTopics, scope.contentTopics)
    if (pubsubTopics === undefined || contentTopics === undefined) {
      return { reply: encodeSyncPayload('mismatch'), toSend: [], end: true }
    }
    const filter = this.#filter({ pubsubTopics, contentTopics })
    const toSend: SyncId[] = []
    const output = payload.ranges.flatMap((range) => this.#answer(range, filter, toSend))
    const merged = mergeSkips(output)
    if (merged.every(({ type }) => type === 'skip')) {
      return { reply: encodeSyncPayload('no-ranges'), toSend, end: true }
    }
    return { reply: this.#encode(merged), toSend, end: false }
  }

  #answer(range: SyncRange, filter: (entry: Entry) => boolean, toSend: SyncId[]): SyncRange[] {
    const { lower, upper, upperHash } = range
    const bounds = upperHash === undefined ? { lower, upper } : { lower, upper, upperHash }
    const skip: SyncRange = { ...bounds, type: 'skip' }
    if (range.type === 'skip') {
      return [skip]
    }
    const { entries, isOutside } = this.#lookUp(bounds)
    const mine = entries.filter(filter)
    if (range.type === 'fingerprint') {
      if (toHex(this.#fingerprint(mine)) === toHex(range.fingerprint)) {
        return [skip]
      }
      return isOutside || entries.length <= this.threshold
        ? [itemSet(bounds, isOutside ? [] : mine, isOutside)]
        : this.#split(bounds, filter)
    }
    if (isOutside) {
      return range.reconciled ? [skip] : [itemSet(bounds, [], true)]
    }
    const theirs = new Set(range.items.map(({ hash }) => toHex(hash)))
    toSend.push(...mine.filter(({ hash }) => !theirs.has(toHex(hash))))
    return [range.reconciled ? skip : itemSet(bounds, mine, true)]
  }

  #split({ lower, upper }: RangeBounds, filter: (entry: Entry) => boolean): SyncRange[] {
    const span = upper - lower
    if (span < this.partitions) {
      return []
    }
    const size = span / this.partitions
    const remainder = span % this.partitions
    const ranges: SyncRange[] = []
    let start = lower
    for (let part = 0n; part < this.partitions; part++) {
      const bounds = { lower: start, upper: start + size + (part < remainder ? 1n : 0n) }
      const { entries, isOutside } = this.#lookUp(bounds)
      const mine = entries.filter(filter)
      ranges.push(
        isOutside || entries.length <= this.threshold
          ? itemSet(bounds, isOutside ? [] : mine, isOutside)
          : { ...bounds, type: 'fingerprint', fingerprint: this.#fingerprint(mine) }
      )
      start = bounds.upper
    }
    return ranges
  }

  #lookUp({ lower, upper, upperHash = ZERO }: RangeBounds): Slice {
    const from = { timestamp: lower, hash: ZERO }
    const to = { timestamp: upper, hash: upperHash }
    const first = this.#entries[0]
    const last = this.#entries.at(-1)
    const start = this.#search((entry) => compareSyncIds(entry, from) >= 0)
    const end = this.#search((entry) => compareSyncIds(entry, to) > 0)
    return {
      entries: this.#entries.slice(start, end),
      isOutside:
        first === undefined ||
        last === undefined ||
        compareSyncIds(to, first) < 0 ||
        compareSyncIds(from, last) > 0
    }
  }

  #search(isAtOrAfter: (entry: Entry) => boolean): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (isAtOrAfter(this.#entries[middle] as Entry)) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    return low
  }

  #filter(lists: {
    pubsubTopics: readonly string[]
    contentTopics: readonly string[]
  }): (entry: Entry) => boolean {
    const known = (topics: readonly string[], name: 'pubsubTopic' | 'contentTopic') =>
      topics.filter((topic) => this.#entries.some((entry) => entry[name] === topic))
    const pubsub = known(lists.pubsubTopics, 'pubsubTopic')
    const content = known(lists.contentTopics, 'contentTopic')
    return ({ pubsubTopic, contentTopic }) =>
      (pubsub.length === 0 || pubsub.includes(pubsubTopic)) &&
      (content.length === 0 || content.includes(contentTopic))
  }

  #fingerprint(entries: readonly SyncId[]): Uint8Array {
    const sum = new Uint8Array(32)
    for (const { hash } of entries) {
      for (let index = 0; index < 32; index++) {
        sum[index] = (sum[index] ?? 0) ^ (hash[index] ?? 0)
      }
    }
    return sum
  }

  /**
   * Its encoder writes upper bounds only: where a range is missing, the next one grows over the gap. Of an upper hash it
   * writes the zeros at its start and one byte more.
   */
  #encode(ranges: readonly SyncRange[]): Uint8Array {
    const { pubsubTopics, contentTopics } = this
    const scope: SyncPayload['scope'] = { layout: 'topics', pubsubTopics, contentTopics }
    let previous = ranges[0]?.lower ?? 0n
    const contiguous = ranges.map((range) => {
      const { upperHash } = range
      const end = upperHash === undefined ? 0 : upperHash.findIndex((byte) => byte !== 0) + 1
      const cut = upperHash?.map((byte, index) => (index < end ? byte : 0))
      const bounds = cut === undefined ? {} : { upperHash: cut }
      const grown = { ...range, ...bounds, lower: previous }
      previous = range.upper
      return grown
    })
    return encodeSyncPayload({ scope, ranges: contiguous })
  }
}

function itemSet(bounds: RangeBounds, items: readonly Entry[], reconciled: boolean): SyncRange {
  return {
    ...bounds,
    type: 'item-set',
    items: items.map(({ timestamp, hash }) => ({ timestamp, hash })),
    reconciled
  }
}

function mergeSkips(ranges: readonly SyncRange[]): SyncRange[] {
  const merged: SyncRange[] = []
  for (const range of ranges) {
    const last = merged.at(-1)
    if (last?.type === 'skip' && range.type === 'skip') {
      merged[merged.length - 1] = { type: 'skip', lower: last.lower, upper: range.upper }
    } else {
      merged.push(range)
    }
  }
  return merged
}

function narrow(own: readonly string[], theirs: readonly string[]): readonly string[] | undefined {
  if (own.length === 0 || theirs.length === 0) {
    return own.length === 0 ? theirs : own
  }
  const both = own.filter((topic) => theirs.includes(topic))
  return both.length === 0 ? undefined : both
}
