import {
  isWakuLightError,
  StorageError,
  type StorageFailure,
  StorageFullError,
  type WakuLightError
} from '../errors.ts'

/** What becomes of what the platform throws where a database is opened: private windows and sandboxes have none. */
export function toOpenError(error: unknown): WakuLightError {
  return error instanceof Error && ['SecurityError', 'InvalidStateError'].includes(error.name)
    ? new StorageError('unavailable', 'IndexedDB is not allowed here', { cause: error })
    : toStorageError(error)
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
