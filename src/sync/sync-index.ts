import { assertInteger } from '../lib/checks.ts'
import { assertHash, assertLimit, assertSyncTime, HASH_BYTES } from '../wire/sync-bytes.ts'
import type { SyncId } from '../wire/sync-payload.ts'
import { ENTRY_WORDS, Entries, HASH_OFFSET, HASH_WORDS, KEY_WORDS, type Place } from './entries.ts'
import { type SyncFilter, type SyncTopics, TopicTable } from './topic-table.ts'

/** From (`lower`, hash 0) inclusive to (`upper`, `upperHash` or hash 0) exclusive. */
export interface SyncBounds {
  readonly lower: bigint
  readonly upper: bigint
  readonly upperHash?: Uint8Array | undefined
}

/** What an index says of a range. */
export interface SyncSummary {
  readonly count: number
  /** Exclusive or of the hashes, 32 bytes. */
  readonly fingerprint: Uint8Array<ArrayBuffer>
}

/** How {@link SyncIndex} is made. */
export interface SyncIndexInit {
  /**
   * How many entries fit.
   *
   * @default 1_000_000
   */
  readonly maxEntries?: number
}

/** The one that sorts before all others. */
const NO_HASH = /* @__PURE__ */ new Uint8Array(HASH_BYTES)

/**
 * What an archive holds, as far as Waku Sync has to know: times, hashes and topics of its messages, in order.
 *
 * Insertion takes logarithmic time, a question about a range some hundred steps for a million entries. Where entries come in
 * no order, the next question takes a step for each hundred entries besides; so it does after pruning. An entry
 * takes 53 bytes where entries come in order, 64 where they come in no order, at most 95; each pair of topics in use is kept
 * once besides.
 *
 * @example
 * ```ts
 * const index = new SyncIndex()
 * index.insert({ timestamp, hash }, { pubsubTopic, contentTopic })
 * index.prune(now - 3_900_000_000_000n)
 * ```
 */
export class SyncIndex {
  readonly #maxEntries: number
  readonly #topics = new TopicTable()
  readonly #entries = new Entries()
  /** The entry that is being looked for, and the bytes of its time and hash. */
  readonly #entry = new Uint32Array(ENTRY_WORDS)
  readonly #key = new DataView(new ArrayBuffer(4 * KEY_WORDS))

  constructor({ maxEntries = 1_000_000 }: SyncIndexInit = {}) {
    assertInteger('maxEntries', maxEntries, 1)
    this.#maxEntries = maxEntries
  }

  /** How many entries there are. */
  get size(): number {
    return this.#entries.count
  }

  /**
   * Adds a message. Ephemeral ones do not belong here.
   *
   * @returns false if it was there already
   * @throws {@link InvalidArgumentError} for a time that is negative or exceeds 63 bits, or a hash of another length than 32
   * @throws {@link LimitExceededError} if the index is full; pruning makes room
   */
  insert(id: SyncId, topics: SyncTopics): boolean {
    const entry = this.#toKey(id.timestamp, id.hash)
    if (this.size >= this.#maxEntries && !this.#entries.has(entry)) {
      assertLimit(this.size + 1, this.#maxEntries, 'entries')
    }
    const topicId = this.#topics.acquire(topics)
    entry[KEY_WORDS] = topicId
    const isNew = this.#entries.insert(entry)
    if (!isNew) {
      this.#topics.release(topicId)
    }
    return isNew
  }

  /** Whether a message is there. */
  has({ timestamp, hash }: SyncId): boolean {
    return this.#entries.has(this.#toKey(timestamp, hash))
  }

  /**
   * Removes what is older than a time.
   *
   * @returns how many entries went
   */
  prune(before: bigint): number {
    const count = this.rank(before)
    for (const { words, offset } of this.#entries.places(0, count)) {
      this.#topics.release(words[offset + KEY_WORDS] as number)
    }
    this.#entries.pruneBefore(this.#toKey(before))
    return count
  }

  /** How many entries are older than a time. */
  rank(timestamp: bigint): number {
    return this.#sumBefore(timestamp)
  }

  /** The time of the entry at a rank, from 0 to the size, exclusive. */
  timeAt(rank: number): bigint {
    const [place] = this.#entries.places(rank, rank + 1)
    return toTime(place as Place)
  }

  /** Count and fingerprint of a range. */
  summarize({ lower, upper, upperHash }: SyncBounds): SyncSummary {
    const sum = new Uint32Array(HASH_WORDS)
    const before = this.#sumBefore(lower, undefined, sum)
    const count = this.#sumBefore(upper, upperHash, sum) - before
    return { count, fingerprint: toBytes(sum, 0) }
  }

  /** The entries of a range, in order. Nothing may be inserted or pruned meanwhile. */
  *entries({ lower, upper, upperHash }: SyncBounds): Generator<SyncId, void, undefined> {
    const to = this.#sumBefore(upper, upperHash)
    for (const place of this.#entries.places(this.rank(lower), to)) {
      yield { timestamp: toTime(place), hash: toBytes(place.words, place.offset + HASH_OFFSET) }
    }
  }

  /**
   * The part of the index that a filter allows. Where it allows all that is there, that is the index itself and costs
   * nothing; else a copy of the entries of the range, which takes linear time once.
   */
  select(filter: SyncFilter, { lower, upper }: SyncBounds): SyncIndex {
    const allowed = this.#topics.select(filter)
    if (allowed === undefined) {
      return this
    }
    const selected = new SyncIndex({ maxEntries: this.#maxEntries })
    for (const { words, offset } of this.#entries.places(this.rank(lower), this.rank(upper))) {
      if (allowed.has(words[offset + KEY_WORDS] as number)) {
        selected.#entries.insert(words.subarray(offset, offset + ENTRY_WORDS))
      }
    }
    return selected
  }

  /** Counts the entries before a time and a hash, and adds their hashes to a sum. */
  #sumBefore(timestamp: bigint, hash?: Uint8Array, sum = new Uint32Array(HASH_WORDS)): number {
    return this.#entries.sumBefore(this.#toKey(timestamp, hash), sum)
  }

  /** The words of a time and a hash; the same array every time. */
  #toKey(timestamp: bigint, hash: Uint8Array = NO_HASH): Uint32Array {
    assertSyncTime(timestamp)
    assertHash(hash)
    this.#key.setBigUint64(0, timestamp)
    new Uint8Array(this.#key.buffer).set(hash, 4 * HASH_OFFSET)
    for (let word = 0; word < KEY_WORDS; word++) {
      this.#entry[word] = this.#key.getUint32(4 * word)
    }
    return this.#entry
  }
}

function toTime({ words, offset }: Place): bigint {
  return (BigInt(words[offset] as number) << 32n) | BigInt(words[offset + 1] as number)
}

function toBytes(words: Uint32Array, offset: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(HASH_BYTES))
  for (let word = 0; word < HASH_WORDS; word++) {
    view.setUint32(4 * word, words[offset + word] as number)
  }
  return new Uint8Array(view.buffer)
}
