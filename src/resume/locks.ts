import { withSignals } from '../lib/deadline.ts'

/** The part of the platform's `LockManager` that is used. */
export interface ResumeLocks {
  request<T>(
    name: string,
    options: { readonly signal?: AbortSignal; readonly ifAvailable?: boolean },
    callback: (lock: unknown) => Promise<T>
  ): Promise<T>
}

type Options = Parameters<ResumeLocks['request']>[1]

/** One at a time: in this object, and, with a lock manager of the platform behind it, over all tabs. */
export class LocalLocks implements ResumeLocks {
  readonly #shared: ResumeLocks | undefined
  readonly #held = new Map<string, Promise<unknown>>()

  constructor(shared: ResumeLocks | undefined) {
    this.#shared = shared
  }

  /** As a `LockManager` does it. */
  async request<T>(
    name: string,
    options: Options,
    callback: (lock: unknown) => Promise<T>
  ): Promise<T> {
    const before = this.#held.get(name)
    if (before !== undefined && options.ifAvailable === true) {
      return await callback(null)
    }
    const turn = this.#take(before, name, options, callback)
    const settled = Promise.allSettled([before, turn])
    this.#held.set(name, settled)
    try {
      return await turn
    } finally {
      if (this.#held.get(name) === settled) {
        this.#held.delete(name)
      }
    }
  }

  async #take<T>(
    before: Promise<unknown> | undefined,
    name: string,
    options: Options,
    callback: (lock: unknown) => Promise<T>
  ): Promise<T> {
    if (before !== undefined) {
      await withSignals([options.signal], async () => await before)
    }
    options.signal?.throwIfAborted()
    let isTaken = false
    try {
      return this.#shared === undefined
        ? await callback(name)
        : await this.#shared.request(name, options, async (lock) => {
            isTaken = true
            return await callback(lock)
          })
    } catch (error) {
      // A frame with an origin of its own: there are no locks, and nobody to share an archive with.
      if (isTaken || (error as Partial<Error> | undefined)?.name !== 'SecurityError') {
        throw error
      }
      return await callback(name)
    }
  }
}
