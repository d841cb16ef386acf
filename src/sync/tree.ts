/**
 * A B+ tree of entries that knows count and exclusive or of every subtree. An entry is eleven 32-bit words, time (2), hash
 * (8) and topic id (1), each of four bytes in big-endian order, so that comparing the first ten as numbers orders entries by
 * time, then by hash.
 */

/** Words of time and hash. */
export const KEY_WORDS = 10
/** Words of an entry. */
export const ENTRY_WORDS = 11
/** Words of a hash or a fingerprint. */
export const HASH_WORDS = 8
/** Where the hash starts in an entry, after the time. */
export const HASH_OFFSET = 2

const LEAF_ENTRIES = 128
const MAX_CHILDREN = 32

/** `words`: the exclusive or of all hashes, then the entries. */
interface Leaf {
  readonly words: Uint32Array
  count: number
  readonly children?: undefined
}

/**
 * `words`: the exclusive or of all hashes, then the key of the first entry; at the left edge, where nobody asks for it, one
 * may have come in before it.
 */
interface Inner {
  readonly words: Uint32Array
  count: number
  readonly children: Node[]
}

/** A subtree. All but those at the left edge, which pruning thins out, and the right edge are at least half full. */
export type Node = Leaf | Inner

/** Where an entry is: its words start at `offset`. */
export interface Place {
  readonly words: Uint32Array
  readonly offset: number
  /** How many entries follow in the same words, this one included. */
  readonly length: number
}

/** An empty tree. */
export function createLeaf(): Node {
  return { words: new Uint32Array(HASH_WORDS + LEAF_ENTRIES * ENTRY_WORDS), count: 0 }
}

/**
 * Inserts an entry.
 *
 * @param rightmost - whether nothing follows this subtree: there a split leaves more on its left, so that entries which come
 * in order fill their leaves
 * @returns false if the key is there already; else true, or the right half if the node was split
 */
export function insertEntry(node: Node, entry: Uint32Array, rightmost = true): Node | boolean {
  return node.children === undefined
    ? insertIntoLeaf(node, entry, rightmost)
    : insertIntoInner(node, entry, rightmost)
}

/** The parent of two nodes, where a root was split. */
export function joinNodes(left: Node, right: Node): Node {
  return createInner([left, right])
}

/** Counts the entries before a key, and adds their hashes to `xor`. */
export function summarizeBefore(root: Node, key: Uint32Array, xor: Uint32Array): number {
  let before = 0
  let node = root
  while (node.children !== undefined) {
    const index = childIndex(node, key)
    for (const child of node.children.slice(0, index)) {
      before += child.count
      xorInto(xor, child.words, 0)
    }
    node = node.children[index] as Node
  }
  const index = lowerBound(node, key)
  for (let entry = 0; entry < index; entry++) {
    xorInto(xor, node.words, offsetOf(entry) + HASH_OFFSET)
  }
  return before + index
}

/** Where the entry of a rank is; the rank must be less than the count. */
export function placeAt(root: Node, rank: number): Place {
  let node = root
  let rest = rank
  while (node.children !== undefined) {
    let index = 0
    let child = node.children[index] as Node
    while (rest >= child.count) {
      rest -= child.count
      child = node.children[++index] as Node
    }
    node = child
  }
  return { words: node.words, offset: offsetOf(rest), length: node.count - rest }
}

/** Whether a key is in the tree. */
export function hasKey(root: Node, key: Uint32Array): boolean {
  let node = root
  while (node.children !== undefined) {
    node = node.children[childIndex(node, key)] as Node
  }
  const index = lowerBound(node, key)
  return index < node.count && compareKeys(node.words, offsetOf(index), key) === 0
}

/** Removes what is before a key; the root to go on with. */
export function pruneBefore(root: Node, key: Uint32Array): Node {
  if (root.children === undefined) {
    const index = lowerBound(root, key)
    root.words.copyWithin(HASH_WORDS, offsetOf(index), offsetOf(root.count))
    root.count -= index
    summarizeLeaf(root)
    return root
  }
  const index = childIndex(root, key)
  root.children.splice(0, index)
  const first = pruneBefore(root.children[0] as Node, key)
  if (first.count === 0) {
    root.children.shift()
  } else {
    root.children[0] = first
  }
  const [only] = root.children
  if (only === undefined) {
    return createLeaf()
  }
  if (root.children.length === 1) {
    return only
  }
  summarizeInner(root)
  return root
}

/** Adds a hash to a fingerprint. */
function xorInto(xor: Uint32Array, words: Uint32Array, offset: number): void {
  for (let word = 0; word < HASH_WORDS; word++) {
    xor[word] = (xor[word] as number) ^ (words[offset + word] as number)
  }
}

function insertIntoLeaf(leaf: Leaf, entry: Uint32Array, rightmost: boolean): Node | boolean {
  const index = lowerBound(leaf, entry)
  const offset = offsetOf(index)
  if (index < leaf.count && compareKeys(leaf.words, offset, entry) === 0) {
    return false
  }
  if (leaf.count === LEAF_ENTRIES) {
    const right = splitLeaf(leaf, splitPoint(LEAF_ENTRIES, rightmost))
    insertIntoLeaf(index <= leaf.count ? leaf : right, entry, rightmost)
    return right
  }
  leaf.words.copyWithin(offset + ENTRY_WORDS, offset, offsetOf(leaf.count))
  leaf.words.set(entry, offset)
  leaf.count++
  xorInto(leaf.words, entry, HASH_OFFSET)
  return true
}

function insertIntoInner(inner: Inner, entry: Uint32Array, rightmost: boolean): Node | boolean {
  const { children, words } = inner
  const index = childIndex(inner, entry)
  const child = children[index] as Node
  const inserted = insertEntry(child, entry, rightmost && index === children.length - 1)
  if (inserted === false) {
    return false
  }
  inner.count++
  xorInto(words, entry, HASH_OFFSET)
  if (inserted === true) {
    return true
  }
  children.splice(index + 1, 0, inserted)
  if (children.length <= MAX_CHILDREN) {
    return true
  }
  const right = createInner(children.splice(splitPoint(children.length, rightmost)))
  summarizeInner(inner)
  return right
}

function splitPoint(length: number, rightmost: boolean): number {
  return rightmost ? length - (length >> 3) : length >> 1
}

function splitLeaf(leaf: Leaf, at: number): Leaf {
  const right = createLeaf() as Leaf
  right.words.set(leaf.words.subarray(offsetOf(at), offsetOf(leaf.count)), HASH_WORDS)
  right.count = leaf.count - at
  leaf.count = at
  summarizeLeaf(leaf)
  summarizeLeaf(right)
  return right
}

function createInner(children: Node[]): Inner {
  const inner = { words: new Uint32Array(HASH_WORDS + KEY_WORDS), count: 0, children }
  summarizeInner(inner)
  return inner
}

function summarizeLeaf(leaf: Leaf): void {
  leaf.words.fill(0, 0, HASH_WORDS)
  for (let entry = 0; entry < leaf.count; entry++) {
    xorInto(leaf.words, leaf.words, offsetOf(entry) + HASH_OFFSET)
  }
}

function summarizeInner(inner: Inner): void {
  inner.words.fill(0, 0, HASH_WORDS)
  inner.count = 0
  for (const child of inner.children) {
    inner.count += child.count
    xorInto(inner.words, child.words, 0)
  }
  const [first] = inner.children
  const key = (first as Node).words.subarray(HASH_WORDS, HASH_WORDS + KEY_WORDS)
  inner.words.set(key, HASH_WORDS)
}

function offsetOf(entry: number): number {
  return HASH_WORDS + entry * ENTRY_WORDS
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

/** The first entry that is not before the key. */
function lowerBound(leaf: Leaf, key: Uint32Array): number {
  let low = 0
  let high = leaf.count
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareKeys(leaf.words, offsetOf(middle), key) < 0) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}

/** The last child that starts at the key or before it; the first if none does. */
function childIndex({ children }: Inner, key: Uint32Array): number {
  let low = 1
  let high = children.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareKeys((children[middle] as Node).words, HASH_WORDS, key) <= 0) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low - 1
}
