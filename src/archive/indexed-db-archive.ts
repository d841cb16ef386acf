import type { StorageError } from '../errors.ts'
import { assertText } from '../lib/checks.ts'
import { report } from '../lib/report.ts'
import type { Archive } from './archive.ts'
import { openArchive } from './database.ts'
import { createDatabaseArchive } from './database-archive.ts'

/** How {@link createIndexedDbArchive} opens its database. */
export interface IndexedDbArchiveInit {
  /**
   * How long to wait for another tab to let go of an older version of the database, in milliseconds.
   *
   * @default {@link INDEXED_DB_DEFAULTS}
   */
  readonly timeoutMs?: number
  /** Ends the wait. */
  readonly signal?: AbortSignal
  /**
   * Told once if the database is deleted, taken over by another version of the app, or closed by the browser. From then on
   * every call rejects with this error.
   */
  readonly onLost?: (error: StorageError) => void
}

/** What is not given. */
export const INDEXED_DB_DEFAULTS = { timeoutMs: 10_000 } as const

/**
 * Opens an archive in IndexedDB: in a page or a worker, and in any number of tabs at once.
 *
 * @param name - of the database; one for each network and account
 * @throws {@link StorageError}, whose `reason` is `unavailable`, `newer-schema`, `blocked` or `failed`
 * @throws {@link TimeoutError} if nothing came of it in time, and the signal's own reason
 *
 * @example
 * ```ts
 * const archive = await createIndexedDbArchive('my-chat')
 * const fresh = await archive.putMany(page.messages, { marks: { lobby: page.position } })
 * archive.subscribe((messages) => messages.forEach(show))
 * ```
 */
export async function createIndexedDbArchive(
  name: string,
  init: IndexedDbArchiveInit = {}
): Promise<Archive> {
  const { timeoutMs = INDEXED_DB_DEFAULTS.timeoutMs, signal, onLost } = init
  assertText('name', name)
  const ended = new AbortController()
  const database = await openArchive(name, {
    timeoutMs,
    signal,
    onLost: (error) => {
      if (!ended.signal.aborted) {
        ended.abort(error)
        report(onLost, error)
      }
    }
  })
  const channel = new BroadcastChannel(`waku-light/archive/${name}`)
  return createDatabaseArchive(database, ended, channel)
}
