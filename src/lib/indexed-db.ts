import {
  isWakuLightError,
  StorageError,
  type StorageFailure,
  StorageFullError,
  type WakuLightError
} from '../errors.ts'

/** How {@link openDatabase} goes about it. */
export interface DatabaseInit {
  readonly version: number
  /** Makes the object stores, or brings those of an older version up to date; 0: there is no older one. */
  readonly upgrade: (open: IDBOpenDBRequest, oldVersion: number) => void
  /** Another connection holds an older version, and does not let go. */
  readonly onBlocked?: () => void
  /** The connection is closed: for one that wants this version, for one that deletes (null), or by the browser. */
  readonly onLost: (newVersion?: number | null) => void
}

/**
 * Opens a database. It is let go where another connection wants to delete or upgrade it; what was begun still ends.
 *
 * @throws {@link StorageError} if there is no IndexedDB here, and what the platform throws
 */
export async function openDatabase(
  name: string,
  { version, upgrade, onBlocked, onLost }: DatabaseInit
): Promise<IDBDatabase> {
  if (globalThis.indexedDB === undefined) {
    throw new StorageError('unavailable', 'there is no IndexedDB here')
  }
  const request = indexedDB.open(name, version)
  request.onupgradeneeded = ({ oldVersion }) => upgrade(request, oldVersion)
  request.onblocked = onBlocked ?? null
  const database = await resultOf<IDBDatabase>(request)
  database.onversionchange = ({ newVersion }) => {
    database.close()
    onLost(newVersion)
  }
  database.onclose = () => onLost()
  return database
}

/**
 * What a request comes to.
 *
 * @throws its error
 */
export async function resultOf<T>(request: IDBRequest): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  request.onsuccess = () => resolve(request.result as T)
  request.onerror = () => reject(request.error)
  return await promise
}

/** An object store, to read from in a transaction of its own. */
export function storeOf(database: IDBDatabase, name: string): IDBObjectStore {
  return database.transaction(name).objectStore(name)
}

/**
 * Runs something in one transaction that changes the database. A request that fails is not the whole story: a full disk shows
 * when the transaction is committed.
 *
 * @param names - of the object stores that `run` gets
 * @returns what `run` does, once it is durable
 * @throws what the transaction failed with, else what `run` threw; nothing is stored then
 */
export async function change<T>(
  database: IDBDatabase,
  names: readonly string[],
  run: (...stores: IDBObjectStore[]) => Promise<T>,
  options?: IDBTransactionOptions
): Promise<T> {
  const transaction = database.transaction(names, 'readwrite', options)
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  transaction.oncomplete = () => resolve()
  transaction.onabort = () => reject(transaction.error)
  try {
    const [result] = await Promise.all([
      run(...names.map((name) => transaction.objectStore(name))),
      done
    ])
    return result
  } catch (error) {
    try {
      transaction.abort()
    } catch {
      // It has ended already.
    }
    throw transaction.error ?? error
  }
}

/** What becomes of what the platform throws. */
export function toStorageError(error: unknown): WakuLightError {
  if (isWakuLightError(error)) {
    return error
  }
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) }
  if (name === 'QuotaExceededError') {
    return new StorageFullError({ cause: error })
  }
  // Nobody here aborts a transaction without an error of its own.
  const [reason, problem]: [StorageFailure, string] =
    name === 'VersionError'
      ? ['newer-schema', 'the database is of a newer version of this package']
      : name === 'AbortError' || name === 'InvalidStateError'
        ? ['lost', 'the database was closed under the call']
        : ['failed', `the database failed: ${message}`]
  return new StorageError(reason, problem, { cause: error })
}
