/** Words of time and hash. */
export const KEY_WORDS = 10
/** Words of an entry. */
export const ENTRY_WORDS = 11
/** Words of a hash or a fingerprint. */
export const HASH_WORDS = 8
/** Where the hash starts in an entry, after the time. */
export const HASH_OFFSET = 2

const LEAF_ENTRIES = 128
/** Where a leaf has the sum of its own hashes: after the sum of all before it. */
const OWN_SUM = HASH_WORDS
/** Where the entries of a leaf start. */
const FIRST_ENTRY = 2 * HASH_WORDS

/** Some entries that follow on each other. All leaves but the first, which may be empty, and the last are at least half full. */
interface Leaf {
  /** Two sums of hashes, then the entries. */
  readonly words: Uint32Array
  count: number
  /** How many entries are before it. */
  rank: number
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
 * They lie in leaves, one after the other. What is before a leaf is summed up when somebody asks, for the leaves that follow a
 * change: a million entries are about ten thousand leaves, which takes a quarter of a millisecond.
 */
export class Entries {
  /** How many there are. */
  count = 0
  readonly #leaves: Leaf[] = [createLeaf()]
  /** So many leaves know what is before them. */
  #summed = 1

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
    if (leaf.count === LEAF_ENTRIES) {
      this.#split(at)
      return this.insert(entry)
    }
    const offset = offsetOf(index)
    leaf.words.copyWithin(offset + ENTRY_WORDS, offset, offsetOf(leaf.count))
    leaf.words.set(entry, offset)
    addHash(leaf.words, OWN_SUM, entry, HASH_OFFSET)
    leaf.count++
    this.count++
    this.#summed = Math.min(this.#summed, at + 1)
    return true
  }

  /** Whether a key is there. */
  has(key: Uint32Array): boolean {
    const leaf = this.#leaf(this.#leafOf(key))
    return isAt(leaf, lowerBound(leaf, key), key)
  }

  /** Counts the entries before a key, and adds their hashes to `sum`. */
  sumBefore(key: Uint32Array, sum: Uint32Array): number {
    this.#sumUp()
    const leaf = this.#leaf(this.#leafOf(key))
    const index = lowerBound(leaf, key)
    addHash(sum, 0, leaf.words, 0)
    addHashes(sum, 0, leaf.words, index)
    return leaf.rank + index
  }

  /** Where the entries from a rank on are, before another one, which must not exceed the count. */
  *places(from: number, to: number): Generator<Place, void, undefined> {
    this.#sumUp()
    let rank = from
    let at = 0
    for (let end = this.#leaves.length; end - at > 1; ) {
      const middle = (at + end) >> 1
      if (this.#leaf(middle).rank <= from) {
        at = middle
      } else {
        end = middle
      }
    }
    for (; rank < to; at++) {
      const leaf = this.#leaf(at)
      for (const end = Math.min(to, leaf.rank + leaf.count); rank < end; rank++) {
        yield { words: leaf.words, offset: offsetOf(rank - leaf.rank) }
      }
    }
  }

  /** Removes the entries before a key. */
  pruneBefore(key: Uint32Array): void {
    this.#leaves.splice(0, this.#leafOf(key))
    const leaf = this.#leaf(0)
    moveEntries(leaf, lowerBound(leaf, key), leaf)
    this.#summed = 0
    this.#sumUp()
    const { rank, count } = this.#leaf(this.#leaves.length - 1)
    this.count = rank + count
  }

  /** Moves entries to a new leaf: of the last one only few, so that those which come in order fill their leaves. */
  #split(at: number): void {
    const isLast = at === this.#leaves.length - 1
    const next = createLeaf()
    moveEntries(this.#leaf(at), LEAF_ENTRIES - (LEAF_ENTRIES >> (isLast ? 3 : 1)), next)
    this.#leaves.splice(at + 1, 0, next)
    this.#summed = Math.min(this.#summed, at + 1)
  }

  #sumUp(): void {
    for (; this.#summed < this.#leaves.length; this.#summed++) {
      const leaf = this.#leaf(this.#summed)
      const before = this.#leaves[this.#summed - 1]
      leaf.rank = 0
      leaf.words.fill(0, 0, OWN_SUM)
      if (before !== undefined) {
        leaf.rank = before.rank + before.count
        addHash(leaf.words, 0, before.words, 0)
        addHash(leaf.words, 0, before.words, OWN_SUM)
      }
    }
  }

  #leaf(at: number): Leaf {
    return this.#leaves[at] as Leaf
  }

  /** The last leaf that starts at a key or before it; the first if none does. */
  #leafOf(key: Uint32Array): number {
    let low = 0
    let high = this.#leaves.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (compareKeys(this.#leaf(middle).words, FIRST_ENTRY, key) <= 0) {
        low = middle
      } else {
        high = middle
      }
    }
    return low
  }
}

function createLeaf(): Leaf {
  const words = new Uint32Array(FIRST_ENTRY + LEAF_ENTRIES * ENTRY_WORDS)
  return { words, count: 0, rank: 0 }
}

/** Moves the entries from an index on to another leaf, or to the start of the same, in place of what is there. */
function moveEntries(from: Leaf, index: number, to: Leaf): void {
  const moved = from.words.subarray(offsetOf(index), offsetOf(from.count))
  const count = from.count - index
  from.count = index
  to.words.set(moved, FIRST_ENTRY)
  to.count = count
  for (const { words, count } of [from, to]) {
    words.fill(0, OWN_SUM, FIRST_ENTRY)
    addHashes(words, OWN_SUM, words, count)
  }
}

/** Adds a hash to a sum. */
function addHash(sum: Uint32Array, at: number, words: Uint32Array, offset: number): void {
  for (let word = 0; word < HASH_WORDS; word++) {
    sum[at + word] = (sum[at + word] as number) ^ (words[offset + word] as number)
  }
}

/** Adds the hashes of the first entries of a leaf to a sum. */
function addHashes(sum: Uint32Array, at: number, words: Uint32Array, count: number): void {
  for (let index = 0; index < count; index++) {
    addHash(sum, at, words, offsetOf(index) + HASH_OFFSET)
  }
}

function offsetOf(index: number): number {
  return FIRST_ENTRY + index * ENTRY_WORDS
}

/** The first entry of a leaf that is not before a key. */
function lowerBound({ words, count }: Leaf, key: Uint32Array): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareKeys(words, offsetOf(middle), key) < 0) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
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
