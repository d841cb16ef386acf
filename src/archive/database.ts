import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import { hasErrorCode, StorageError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { Chunk } from './chunk.ts'
import { toOpenError } from './failures.ts'

/** The object stores. */
export interface ArchiveSchema extends DBSchema {
  chunks: {
    key: Uint8Array<ArrayBuffer>
    value: Chunk
    indexes: { hashes: Uint8Array<ArrayBuffer>; end: Uint8Array<ArrayBuffer> }
  }
  marks: { key: string; value: unknown }
}

/** The database, open. */
export type Database = IDBPDatabase<ArchiveSchema>

const SCHEMA_VERSION = 2

/** How {@link openDatabase} goes about it. */
export interface OpenInit {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** The database is to be upgraded or deleted by another tab, or was closed by the browser. */
  readonly onLost: (error: StorageError) => void
}

/**
 * Opens a database, makes it, or brings it to the schema of today.
 *
 * @throws {@link StorageError} if there is no database here, another tab does not let go of it, or it is newer than this code
 * @throws {@link TimeoutError} if nothing came of it in time, and the signal's own reason
 */
export async function openDatabase(
  name: string,
  { timeoutMs, signal, onLost }: OpenInit
): Promise<Database> {
  let isBlocked = false
  try {
    return await withDeadline('open', { timeoutMs, signal }, timeoutMs, async (ended) => {
      if (globalThis.indexedDB === undefined) {
        throw new StorageError('unavailable', 'there is no IndexedDB here')
      }
      const database = await openDB<ArchiveSchema>(name, SCHEMA_VERSION, {
        upgrade(opened, oldVersion, _newVersion, transaction) {
          if (oldVersion < 1) {
            const chunks = opened.createObjectStore('chunks', { keyPath: 'start' })
            chunks.createIndex('hashes', 'hashes', { unique: true, multiEntry: true })
          }
          if (oldVersion < 2) {
            transaction.objectStore('chunks').createIndex('end', 'end', { unique: true })
            opened.createObjectStore('marks')
          }
        },
        blocked: () => {
          isBlocked = true
        },
        blocking: (_oldVersion, newVersion, event) => {
          // Whoever waits for us is let through; what was begun still ends.
          ;(event.target as IDBDatabase).close()
          const what = newVersion === null ? 'deleted' : 'upgraded by another version'
          onLost(new StorageError('lost', `the database was ${what}`))
        },
        terminated: () => onLost(new StorageError('lost', 'the browser closed the database'))
      })
      if (ended.aborted) {
        database.close()
      }
      return database
    })
  } catch (error) {
    if (isBlocked && hasErrorCode(error, 'ERR_TIMEOUT')) {
      throw new StorageError('blocked', 'another tab holds an older version of the database', {
        cause: error
      })
    }
    if (signal?.aborted) {
      throw error
    }
    throw toOpenError(error)
  }
}
