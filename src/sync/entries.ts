/** Words of time and hash. */
export const KEY_WORDS = 10
/** Words of an entry. */
export const ENTRY_WORDS = 11
/** Words of a hash or a fingerprint. */
export const HASH_WORDS = 8
/** Where the hash starts in an entry, after the time. */
export const HASH_OFFSET = 2

const LEAF_ENTRIES = 128
const GROUP_LEAVES = 128
/** Where the entries of a leaf start: after the sum of their hashes. */
const FIRST_ENTRY = HASH_WORDS

/** The sum of the hashes of some entries, and how many they are. */
interface Sum {
  readonly words: Uint32Array
  count: number
}

/**
 * Some entries that follow on each other, after their sum in the same words. All leaves but the first, which may be empty, and
 * the last are at least half full.
 */
type Leaf = Sum

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
 * They lie in leaves, one after the other, and those in groups, which are summed up when somebody asks. An insertion changes
 * the sum of its group; where a leaf is split or removed, all that follow it move, so that their groups are summed up anew: a
 * million entries are about ten thousand leaves, which takes a quarter of a millisecond.
 */
export class Entries {
  /** How many there are. */
  count = 0
  readonly #leaves: Leaf[] = [createLeaf()]
  /** Of so many leaves each, from the first one on, as far as they have been summed up. */
  readonly #groups: Sum[] = []

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
    for (const sum of [leaf, this.#groups[Math.floor(at / GROUP_LEAVES)]]) {
      if (sum !== undefined) {
        addHash(sum.words, entry, HASH_OFFSET)
        sum.count++
      }
    }
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
    const leaf = this.#leaf(at)
    const index = lowerBound(leaf, key)
    const before = { words: sum, count: index }
    addHashes(sum, leaf.words, index)
    const group = Math.floor(at / GROUP_LEAVES)
    for (let each = 0; each < group; each++) {
      addSum(before, this.#group(each))
    }
    for (let each = group * GROUP_LEAVES; each < at; each++) {
      addSum(before, this.#leaf(each))
    }
    return before.count
  }

  /** Where the entries from a rank on are, before another one, which must not exceed the count. */
  *places(from: number, to: number): Generator<Place, void, undefined> {
    let at = 0
    /** How many entries are before the leaf. */
    let before = 0
    for (; at + GROUP_LEAVES < this.#leaves.length; at += GROUP_LEAVES) {
      const { count } = this.#group(at / GROUP_LEAVES)
      if (before + count > from) {
        break
      }
      before += count
    }
    for (let rank = from; rank < to; at++) {
      const leaf = this.#leaf(at)
      for (const end = Math.min(to, before + leaf.count); rank < end; rank++) {
        yield { words: leaf.words, offset: offsetOf(rank - before) }
      }
      before += leaf.count
    }
  }

  /** Removes the entries before a key. */
  pruneBefore(key: Uint32Array): void {
    for (const { count } of this.#leaves.splice(0, this.#leafOf(key))) {
      this.count -= count
    }
    const leaf = this.#leaf(0)
    const index = lowerBound(leaf, key)
    moveEntries(leaf, index, leaf)
    this.count -= index
    this.#groups.length = 0
  }

  /** Moves entries to a new leaf: of the last one only few, so that those which come in order fill their leaves. */
  #split(at: number): void {
    const isLast = at === this.#leaves.length - 1
    const next = createLeaf()
    moveEntries(this.#leaf(at), LEAF_ENTRIES - (LEAF_ENTRIES >> (isLast ? 3 : 1)), next)
    this.#leaves.splice(at + 1, 0, next)
    this.#groups.splice(Math.floor(at / GROUP_LEAVES))
  }

  /** The sum of a group; those before it have been asked for already. */
  #group(at: number): Sum {
    let sum = this.#groups[at]
    if (sum === undefined) {
      sum = { words: new Uint32Array(HASH_WORDS), count: 0 }
      for (const leaf of this.#leaves.slice(at * GROUP_LEAVES, (at + 1) * GROUP_LEAVES)) {
        addSum(sum, leaf)
      }
      this.#groups.push(sum)
    }
    return sum
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
  return { words, count: 0 }
}

/** Moves the entries from an index on to another leaf, or to the start of the same, in place of what is there. */
function moveEntries(from: Leaf, index: number, to: Leaf): void {
  const moved = from.words.subarray(offsetOf(index), offsetOf(from.count))
  const count = from.count - index
  from.count = index
  to.words.set(moved, FIRST_ENTRY)
  to.count = count
  for (const { words, count } of [from, to]) {
    words.fill(0, 0, HASH_WORDS)
    addHashes(words, words, count)
  }
}

/** Adds a sum to another. */
function addSum(sum: Sum, { words, count }: Sum): void {
  addHash(sum.words, words, 0)
  sum.count += count
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
