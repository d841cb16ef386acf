import { type IDBPObjectStore, type IDBPTransaction, unwrap } from 'idb'
import type { StoredMessage } from '../store/page.ts'
import { type Chunk, fromChunk, toChunks } from './chunk.ts'
import type { ArchiveSchema, Database } from './database.ts'

type ChunkStore = IDBPObjectStore<ArchiveSchema, ['chunks', 'marks'], 'chunks', 'readwrite'>
type Write = IDBPTransaction<ArchiveSchema, ['chunks', 'marks'], 'readwrite'>

/**
 * Runs something in one transaction that changes the database. A request that fails is not the whole story: a full disk shows
 * when the transaction is committed.
 *
 * @throws what the transaction failed with, else what `run` threw; nothing is stored then
 */
export async function write<T>(database: Database, run: (write: Write) => Promise<T>): Promise<T> {
  const transaction = database.transaction(['chunks', 'marks'], 'readwrite')
  const done = transaction.done.then(
    () => undefined,
    (error: unknown) => ({ error })
  )
  try {
    const result = await run(transaction)
    const failed = await done
    if (failed !== undefined) {
      throw failed.error
    }
    return result
  } catch (error) {
    abort(transaction)
    await done
    throw unwrap(transaction).error ?? error
  }
}

/**
 * Adds messages and sets marks, in one transaction.
 *
 * @param messages - each hash once
 * @returns the chunks that were added: what was there already is not in them
 */
export async function addMessages(
  database: Database,
  messages: readonly StoredMessage[],
  marks: readonly (readonly [string, unknown])[]
): Promise<Chunk[]> {
  return await write(database, async (transaction) => {
    const chunks = transaction.objectStore('chunks')
    const marked = marks.map(([key, value]) => {
      const store = transaction.objectStore('marks')
      return value === undefined ? store.delete(key) : store.put(value, key)
    })
    const added = await Promise.all(toChunks(messages).map((chunk) => addNew(chunks, chunk)))
    await Promise.all(marked)
    return added.flat()
  })
}

/** A look-up costs as much as a write, so that one is made only for the messages of a chunk that is refused. */
async function addNew(store: ChunkStore, chunk: Chunk): Promise<Chunk[]> {
  if (await tryAdd(store, chunk)) {
    return [chunk]
  }
  const hashes = store.index('hashes')
  const found = await Promise.all(chunk.hashes.map((hash) => hashes.getKey(hash)))
  const rest = toChunks(fromChunk(chunk).filter((_, index) => found[index] === undefined))
  await Promise.all(rest.map((part) => store.add(part)))
  return rest
}

/** False if a message of the chunk is there already; the transaction goes on. */
async function tryAdd(store: ChunkStore, chunk: Chunk): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const request = unwrap(store).add(chunk)
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

function abort(transaction: Write): void {
  try {
    transaction.abort()
  } catch {
    // It has ended already.
  }
}
