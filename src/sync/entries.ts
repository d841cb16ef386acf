/** Words of time and hash. */
export const KEY_WORDS = 10
/** Words of an entry. */
export const ENTRY_WORDS = 11
/** Words of a hash or a fingerprint. */
export const HASH_WORDS = 8
/** Where the hash starts in an entry, after the time. */
export const HASH_OFFSET = 2

const LEAF_ENTRIES = 128
/** Where the sum of all leaves before one starts in it: after that of its own entries. */
const BEFORE = HASH_WORDS
/** Where the entries of a leaf start: after the two sums. */
const FIRST_ENTRY = 2 * HASH_WORDS

/**
 * Some entries that follow on each other, after the sum of their hashes and that of all leaves before, in the same words. All
 * leaves but the first, which may be empty, and the last are at least half full.
 */
interface Leaf {
  readonly words: Uint32Array
  /** Its entries. */
  count: number
  /** Those of all leaves before it. */
  countBefore: number
}

/** Where an entry is: its words start at `offset`. */
export interface Place {
  readonly words: Uint32Array
  readonly offset: number
}

/**
 * Entries in order, with count and sum, which is the exclusive or, of the hashes before any of them. An entry is eleven 32-bit
 * words, time (2), hash (8) and topic id (1), each of four bytes in big-endian order, so that comparing the first ten as
 * numbers orders entries by time, then by hash.
 *
 * They lie in leaves, one after the other. What is before a leaf is summed up when somebody asks, and anew after an insertion
 * before it: a million entries are about ten thousand leaves, which takes a quarter of a millisecond.
 */
export class Entries {
  /** How many there are. */
  count = 0
  readonly #leaves: Leaf[] = [createLeaf()]
  /** The last leaf that knows what is before it. */
  #summed = 0

  /**
   * Inserts an entry.
   *
   * @returns false if its key is there already
   */
  insert(entry: Uint32Array): boolean {
    const at = this.#leafOf(entry)
    const leaf = this.#leaf(at)
    const index = lowerBound(leaf, entry)
    if (isAt(leaf, index, entry)) {
      return false
    }
    this.#summed = Math.min(this.#summed, at)
    if (leaf.count === LEAF_ENTRIES) {
      this.#split(at)
      return this.insert(entry)
    }
    const offset = offsetOf(index)
    leaf.words.copyWithin(offset + ENTRY_WORDS, offset, offsetOf(leaf.count))
    leaf.words.set(entry, offset)
    addHash(leaf.words, entry, HASH_OFFSET)
    leaf.count++
    this.count++
    return true
  }

  /** Whether a key is there. */
  has(key: Uint32Array): boolean {
    const leaf = this.#leaf(this.#leafOf(key))
    return isAt(leaf, lowerBound(leaf, key), key)
  }

  /** Counts the entries before a key, and adds their hashes to `sum`. */
  sumBefore(key: Uint32Array, sum: Uint32Array): number {
    const at = this.#leafOf(key)
    this.#sumUp(at)
    const leaf = this.#leaf(at)
    const index = lowerBound(leaf, key)
    addHash(sum, leaf.words, BEFORE)
    addHashes(sum, leaf.words, index)
    return leaf.countBefore + index
  }

  /** Where the entries from a rank on are, before another one, which must not exceed the count. */
  *places(from: number, to: number): Generator<Place, void, undefined> {
    this.#sumUp(this.#leaves.length - 1)
    let at = this.#lastLeaf(({ countBefore }) => countBefore <= from)
    for (let rank = from; rank < to; at++) {
      const { words, count, countBefore } = this.#leaf(at)
      for (const end = Math.min(to, countBefore + count); rank < end; rank++) {
        yield { words, offset: offsetOf(rank - countBefore) }
      }
    }
  }

  /** Removes the entries before a key. */
  pruneBefore(key: Uint32Array): void {
    const at = this.#leafOf(key)
    this.#sumUp(at)
    const leaf = this.#leaf(at)
    const index = lowerBound(leaf, key)
    this.count -= leaf.countBefore + index
    this.#leaves.splice(0, at + 1, cut(leaf, index))
    this.#summed = 0
  }

  /** Moves entries to a new leaf: of the last one only few, so that those which come in order fill their leaves. */
  #split(at: number): void {
    const isLast = at === this.#leaves.length - 1
    const kept = LEAF_ENTRIES - (LEAF_ENTRIES >> (isLast ? 3 : 1))
    this.#leaves.splice(at + 1, 0, cut(this.#leaf(at), kept))
  }

  /** Has all leaves up to one know what is before them. */
  #sumUp(last: number): void {
    for (; this.#summed < last; this.#summed++) {
      const { words, count, countBefore } = this.#leaf(this.#summed)
      const next = this.#leaf(this.#summed + 1)
      next.countBefore = countBefore + count
      for (let word = 0; word < HASH_WORDS; word++) {
        next.words[BEFORE + word] = (words[BEFORE + word] as number) ^ (words[word] as number)
      }
    }
  }

  #leaf(at: number): Leaf {
    return this.#leaves[at] as Leaf
  }

  /** The last leaf that starts at a key or before it; the first if none does. */
  #leafOf(key: Uint32Array): number {
    return this.#lastLeaf(({ words }) => compareKeys(words, FIRST_ENTRY, key) <= 0)
  }

  /** The last leaf of which something holds that holds of all before it; the first if it holds of none. */
  #lastLeaf(holds: (leaf: Leaf) => boolean): number {
    return partition(1, this.#leaves.length, (at) => holds(this.#leaf(at))) - 1
  }
}

function createLeaf(): Leaf {
  const words = new Uint32Array(FIRST_ENTRY + LEAF_ENTRIES * ENTRY_WORDS)
  return { words, count: 0, countBefore: 0 }
}

/** Moves the entries from an index on to a new leaf. */
function cut(leaf: Leaf, index: number): Leaf {
  const next = createLeaf()
  next.words.set(leaf.words.subarray(offsetOf(index), offsetOf(leaf.count)), FIRST_ENTRY)
  next.count = leaf.count - index
  leaf.count = index
  addHashes(next.words, next.words, next.count)
  // what is added twice is not in the sum
  addHash(leaf.words, next.words, 0)
  return next
}

/** Adds a hash to a sum. */
function addHash(sum: Uint32Array, words: Uint32Array, offset: number): void {
  for (let word = 0; word < HASH_WORDS; word++) {
    sum[word] = (sum[word] as number) ^ (words[offset + word] as number)
  }
}

/** Adds the hashes of the first entries of a leaf to a sum. */
function addHashes(sum: Uint32Array, words: Uint32Array, count: number): void {
  for (let index = 0; index < count; index++) {
    addHash(sum, words, offsetOf(index) + HASH_OFFSET)
  }
}

function offsetOf(index: number): number {
  return FIRST_ENTRY + index * ENTRY_WORDS
}

/** The first entry of a leaf that is not before a key. */
function lowerBound({ words, count }: Leaf, key: Uint32Array): number {
  return partition(0, count, (index) => compareKeys(words, offsetOf(index), key) < 0)
}

/** The first number from `low` on of which something does not hold any more; `high` if it holds of all before that. */
function partition(low: number, high: number, holds: (at: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >> 1
    if (holds(middle)) {
      from = middle + 1
    } else {
      to = middle
    }
  }
  return from
}

function isAt({ words, count }: Leaf, index: number, key: Uint32Array): boolean {
  return index < count && compareKeys(words, offsetOf(index), key) === 0
}

/** Negative, zero or positive as the key at `offset` sorts before, with, or after `key`. */
function compareKeys(words: Uint32Array, offset: number, key: Uint32Array): number {
  for (let word = 0; word < KEY_WORDS; word++) {
    const difference = (words[offset + word] as number) - (key[word] as number)
    if (difference !== 0) {
      return difference
    }
  }
  return 0
}
