import { change, resultOf } from '../lib/indexed-db.ts'
import type { StoredMessage } from '../store/page.ts'
import { type Chunk, fromChunk, toChunks } from './chunk.ts'

/**
 * Adds messages and sets marks, in one transaction.
 *
 * @param messages - each hash once
 * @returns the chunks that were added: what was there already is not in them
 */
export async function addMessages(
  database: IDBDatabase,
  messages: readonly StoredMessage[],
  marks: readonly (readonly [string, unknown])[]
): Promise<Chunk[]> {
  return await change(database, ['chunks', 'marks'], async (chunks, store) => {
    for (const [key, value] of marks) {
      if (value === undefined) {
        store.delete(key)
      } else {
        store.put(value, key)
      }
    }
    const added = await Promise.all(toChunks(messages).map((chunk) => addNew(chunks, chunk)))
    return added.flat()
  })
}

/** A look-up costs as much as a write, so that one is made only for the messages of a chunk that is refused. */
async function addNew(store: IDBObjectStore, chunk: Chunk): Promise<Chunk[]> {
  if (await tryAdd(store, chunk)) {
    return [chunk]
  }
  const hashes = store.index('hashes')
  const found = await Promise.all(chunk.hashes.map((hash) => resultOf(hashes.getKey(hash))))
  const rest = toChunks(fromChunk(chunk).filter((_, index) => found[index] === undefined))
  for (const part of rest) {
    store.add(part)
  }
  return rest
}

/** False if a message of the chunk is there already; the transaction goes on. */
async function tryAdd(store: IDBObjectStore, chunk: Chunk): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const request = store.add(chunk)
  request.onsuccess = () => resolve(true)
  request.onerror = (event) => {
    if (request.error?.name !== 'ConstraintError') {
      reject(request.error)
      return
    }
    event.preventDefault()
    event.stopPropagation()
    resolve(false)
  }
  return await promise
}
