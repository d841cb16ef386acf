import { isSyncTime } from '../wire/sync-bytes.ts'
import type { SyncArchive, SyncKey } from './components.ts'
import { SyncIndex } from './sync-index.ts'
import type { SyncWindow } from './window.ts'

/** The index of what an archive holds: filled from it, kept up with it, pruned. */
export interface Holdings {
  readonly index: SyncIndex
  /** Adds what is not too old. Where the index is full, its oldest eighth goes first. */
  add(keys: readonly SyncKey[]): void
  /** Forgets what is older than a time. */
  prune(before: bigint): void
  /**
   * An index of a window: the one that is kept, or, for a window that begins before it, one made for it.
   *
   * @throws {@link LimitExceededError} if the window holds more than fits
   */
  select(window: SyncWindow, signal: AbortSignal): Promise<SyncIndex>
  /** Lets go of the archive. */
  close(): void
}

/** Reads an archive from a time on. What comes in meanwhile is in the index as well. */
export async function openHoldings(
  { archive, maxEntries }: { readonly archive: SyncArchive; readonly maxEntries: number },
  timeStart: bigint
): Promise<Holdings> {
  const index = new SyncIndex({ maxEntries })
  /** From here on the index has all that the archive has. */
  let since = timeStart

  const prune = (before: bigint): void => {
    if (before > since) {
      since = before
      index.prune(before)
    }
  }
  const add = (keys: readonly SyncKey[]): void => {
    for (const key of keys) {
      if (index.size >= maxEntries) {
        prune(index.timeAt(Math.ceil(index.size / 8) - 1) + 1n)
      }
      if ((key.timestamp ?? 0n) >= since) {
        insert(index, key)
      }
    }
  }
  const close = archive.subscribe(add)
  try {
    for await (const key of archive.walkKeys({ timeStart }, {})) {
      add([key])
    }
  } catch (error) {
    close()
    throw error
  }
  return {
    index,
    add,
    prune,
    close,
    async select(window, signal) {
      if (window.timeStart >= since) {
        return index
      }
      const older = new SyncIndex({ maxEntries })
      for await (const key of archive.walkKeys(window, { signal })) {
        insert(older, key)
      }
      return older
    }
  }
}

/** Inserts a message, unless its time, before 1970 or after 2262, is one that the protocol has no form for. */
function insert(index: SyncIndex, { timestamp = 0n, messageHash: hash, ...topics }: SyncKey): void {
  if (isSyncTime(timestamp)) {
    index.insert({ timestamp, hash }, topics)
  }
}
