import { hasErrorCode, StorageError, type WakuLightError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import { openDatabase, toStorageError } from '../lib/indexed-db.ts'

const SCHEMA_VERSION = 2

/** How {@link openArchive} goes about it. */
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
export async function openArchive(
  name: string,
  { timeoutMs, signal, onLost }: OpenInit
): Promise<IDBDatabase> {
  let isBlocked = false
  try {
    return await withDeadline('open', { timeoutMs, signal }, timeoutMs, async (ended) => {
      const database = await openDatabase(name, {
        version: SCHEMA_VERSION,
        upgrade,
        onBlocked: () => {
          isBlocked = true
        },
        onLost: (newVersion) => onLost(toLostError(newVersion))
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

/**
 * The object stores: `chunks`, each a {@link Chunk} under the key of its first message, to be found by the hashes of its
 * messages and by its inverted end; and `marks`.
 */
function upgrade({ result, transaction }: IDBOpenDBRequest, oldVersion: number): void {
  if (oldVersion < 1) {
    const chunks = result.createObjectStore('chunks', { keyPath: 'start' })
    chunks.createIndex('hashes', 'hashes', { unique: true, multiEntry: true })
  }
  if (oldVersion < 2) {
    transaction?.objectStore('chunks').createIndex('end', 'end', { unique: true })
    result.createObjectStore('marks')
  }
}

function toLostError(newVersion: number | null | undefined): StorageError {
  const what = newVersion === null ? 'deleted' : 'upgraded by another version'
  return new StorageError(
    'lost',
    `the database was ${newVersion === undefined ? 'closed by the browser' : what}`
  )
}

/** What becomes of what the platform throws where a database is opened: private windows and sandboxes have none. */
function toOpenError(error: unknown): WakuLightError {
  return error instanceof Error && ['SecurityError', 'InvalidStateError'].includes(error.name)
    ? new StorageError('unavailable', 'IndexedDB is not allowed here', { cause: error })
    : toStorageError(error)
}
