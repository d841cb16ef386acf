import { hasErrorCode } from '../errors.ts'
import type { SyncArchive, SyncKey } from './components.ts'
import { SyncIndex } from './sync-index.ts'
import type { SyncWindow } from './sync-session.ts'

/** How {@link Holdings} is made. */
export interface HoldingsInit {
  readonly archive: SyncArchive
  readonly maxEntries: number
}

/** The index of what an archive holds: filled from it, kept up with it, pruned. */
export class Holdings {
  readonly #init: HoldingsInit
  readonly #index: SyncIndex
  readonly #unsubscribe: () => void
  /** From here on the index has all that the archive has. */
  #since: bigint

  private constructor(init: HoldingsInit, since: bigint) {
    this.#init = init
    this.#since = since
    this.#index = new SyncIndex(init)
    this.#unsubscribe = init.archive.subscribe((keys) => this.add(keys))
  }

  /** Reads the archive from a time on. What comes in meanwhile is in the index as well. */
  static async open(init: HoldingsInit, since: bigint): Promise<Holdings> {
    const holdings = new Holdings(init, since)
    try {
      for await (const key of init.archive.walkKeys({ timeStart: since }, {})) {
        holdings.add([key])
      }
    } catch (error) {
      holdings.close()
      throw error
    }
    return holdings
  }

  /** How many entries the index has. */
  get size(): number {
    return this.#index.size
  }

  /** Adds what is not too old. Where the index is full, its oldest eighth goes first. */
  add(keys: readonly SyncKey[]): void {
    const index = this.#index
    for (const key of keys) {
      if (index.size >= this.#init.maxEntries) {
        this.prune(index.timeAt(Math.ceil(index.size / 8) - 1) + 1n)
      }
      if ((key.timestamp ?? 0n) >= this.#since) {
        insert(index, key)
      }
    }
  }

  /** Forgets what is older than a time. */
  prune(before: bigint): void {
    if (before > this.#since) {
      this.#since = before
      this.#index.prune(before)
    }
  }

  /**
   * An index of a window: the one that is kept, or, for a window that begins before it, one made for it.
   *
   * @throws {@link LimitExceededError} if the window holds more than fits
   */
  async select({ timeStart, timeEnd }: SyncWindow, signal: AbortSignal): Promise<SyncIndex> {
    if (timeStart >= this.#since) {
      return this.#index
    }
    const index = new SyncIndex(this.#init)
    const { archive } = this.#init
    for await (const key of archive.walkKeys({ timeStart, timeEnd }, { signal })) {
      insert(index, key)
    }
    return index
  }

  /** Lets go of the archive. */
  close(): void {
    this.#unsubscribe()
  }
}

function insert(index: SyncIndex, { timestamp = 0n, messageHash: hash, ...topics }: SyncKey): void {
  try {
    index.insert({ timestamp, hash }, topics)
  } catch (error) {
    // a time before 1970 or after 2262 is one that the protocol has no form for
    if (!hasErrorCode(error, 'ERR_INVALID_ARGUMENT')) {
      throw error
    }
  }
}
