import { compareBytes, toHex } from '../lib/bytes.ts'
import { resultOf, storeOf } from '../lib/indexed-db.ts'
import type { StoredMessage } from '../store/page.ts'
import { CHUNK_SPAN, type Chunk, fromChunk } from './chunk.ts'
import { compareOrder } from './entries.ts'
import { invertKey, toTimeKey } from './keys.ts'
import type { Selection } from './selection.ts'

/** Chunks in one read: few at first, for those who want a screenful. */
const FIRST_READ = 4
/** Chunks in one read at most. */
export const LARGEST_READ = 32

/** Runs a read, with whatever ends the call. */
export type Reader = <T>(read: (database: IDBDatabase) => Promise<T>) => Promise<T>

/** Messages that match, in order. What it holds is one read, and as much as chunks overlap. */
export async function* walkChunks(
  reader: Reader,
  { forward, from, to, matches }: Selection
): AsyncGenerator<StoredMessage> {
  const order: typeof compareOrder = forward ? compareOrder : (a, b) => compareOrder(b, a)
  const upper = forward ? toTimeKey(to) : invertKey(toTimeKey(from - 1n))
  let lower = forward ? toTimeKey(from - CHUNK_SPAN) : invertKey(toTimeKey(to + CHUNK_SPAN + 1n))
  let pending: StoredMessage[] = []
  let last: StoredMessage | undefined
  for (let limit = FIRST_READ, isFirst = true; ; limit = Math.min(2 * limit, LARGEST_READ)) {
    const chunks =
      compareBytes(lower, upper) < 0
        ? await reader((database) => readChunks(database, forward, lower, !isFirst, upper, limit))
        : []
    isFirst = false
    let edge: StoredMessage | undefined
    for (const chunk of chunks) {
      const messages = fromChunk(chunk)
      pending.push(...messages.filter(matches))
      lower = chunk[forward ? 'start' : 'end']
      // What is not read yet begins after the beginning of the chunk read last.
      edge = chunks.length < limit ? undefined : messages.at(forward ? 0 : -1)
    }
    pending.sort(order)
    const ready = edge === undefined ? pending : pending.filter((entry) => order(entry, edge) <= 0)
    pending = pending.slice(ready.length)
    for (const entry of ready) {
      // A chunk that is rewritten meanwhile comes twice.
      if (last === undefined || order(entry, last) > 0) {
        last = entry
        yield entry
      }
    }
    if (edge === undefined) {
      return
    }
  }
}

/** Messages by hash, at the same indices. */
export async function readMessages(
  database: IDBDatabase,
  hashes: readonly Uint8Array<ArrayBuffer>[]
): Promise<(StoredMessage | undefined)[]> {
  const keys = await readKeys(database, hashes)
  const unique = new Map(keys.filter((key) => key !== undefined).map((key) => [toHex(key), key]))
  const messages = (await readChunksAt(database, [...unique.values()])).flatMap(fromChunk)
  const byHash = new Map(messages.map((message) => [toHex(message.messageHash), message]))
  return hashes.map((hash) => byHash.get(toHex(hash)))
}

/** How many messages there are. */
export async function countMessages(database: IDBDatabase): Promise<number> {
  return await resultOf(storeOf(database, 'chunks').index('hashes').count())
}

/** In which chunk each hash is. */
export async function readKeys(
  database: IDBDatabase,
  hashes: readonly Uint8Array<ArrayBuffer>[]
): Promise<(Uint8Array<ArrayBuffer> | undefined)[]> {
  const index = storeOf(database, 'chunks').index('hashes')
  return await Promise.all(
    hashes.map(async (hash) => {
      const key = await resultOf<ArrayBuffer | undefined>(index.getKey(hash))
      return key && new Uint8Array(key)
    })
  )
}

/** Chunks by their keys; those that are gone are left out. */
export async function readChunksAt(
  database: IDBDatabase,
  keys: readonly Uint8Array<ArrayBuffer>[]
): Promise<Chunk[]> {
  const store = storeOf(database, 'chunks')
  const chunks = await Promise.all(keys.map((key) => resultOf<Chunk | undefined>(store.get(key))))
  return chunks.filter((chunk) => chunk !== undefined)
}

async function readChunks(
  database: IDBDatabase,
  forward: boolean,
  lower: Uint8Array<ArrayBuffer>,
  isOpen: boolean,
  upper: Uint8Array<ArrayBuffer>,
  limit: number
): Promise<Chunk[]> {
  const range = IDBKeyRange.bound(lower, upper, isOpen, true)
  const store = storeOf(database, 'chunks')
  return await resultOf((forward ? store : store.index('end')).getAll(range, limit))
}
