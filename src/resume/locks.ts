import { withSignals } from '../lib/deadline.ts'

/** The part of the platform's `LockManager` that is used. */
export interface ResumeLocks {
  /** Runs the callback once the lock is held, as the Web Locks API does. */
  request<T>(
    name: string,
    options: { readonly signal?: AbortSignal; readonly ifAvailable?: boolean },
    callback: (lock: unknown) => Promise<T>
  ): Promise<T>
}

type Options = Parameters<ResumeLocks['request']>[1]

interface Holder {
  /** Aborted: it is about to let go. */
  readonly signal: AbortSignal
  readonly settled: Promise<unknown>
}

/** One at a time: in this object, and, with a lock manager of the platform behind it, over all tabs. */
export class LocalLocks {
  readonly #shared: ResumeLocks | undefined
  readonly #held = new Map<string, Holder>()

  constructor(shared: ResumeLocks | undefined) {
    this.#shared = shared
  }

  /**
   * As a `LockManager` does it, but that a call which was aborted and has not ended yet is waited for. The signal ends
   * the wait, and says that the holder is about to let go.
   */
  async request<T>(
    name: string,
    { isPatient, signal }: { readonly isPatient: boolean; readonly signal: AbortSignal },
    callback: (lock: unknown) => Promise<T>
  ): Promise<T> {
    const before = this.#held.get(name)
    if (before !== undefined && !isPatient && !before.signal.aborted) {
      return await callback(null)
    }
    const turn = this.#take(before?.settled, name, isPatient, signal, callback)
    const holder = { signal, settled: Promise.allSettled([before?.settled, turn]) }
    this.#held.set(name, holder)
    try {
      return await turn
    } finally {
      if (this.#held.get(name) === holder) {
        this.#held.delete(name)
      }
    }
  }

  async #take<T>(
    before: Promise<unknown> | undefined,
    name: string,
    isPatient: boolean,
    signal: AbortSignal,
    callback: (lock: unknown) => Promise<T>
  ): Promise<T> {
    await withSignals([signal], async () => await before)
    const options: Options = isPatient ? { signal } : { ifAvailable: true }
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
