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

interface Holder {
  /** Aborted: it is about to let go. */
  readonly signal: AbortSignal
  readonly settled: Promise<unknown>
}

/**
 * Runs a callback with a lock, as a `LockManager` does it, but that a call which was aborted and has not ended yet is waited
 * for. The signal ends the wait, and says that the holder is about to let go.
 *
 * @param isPatient - false: the callback gets `null` where the lock is held
 */
export type WithLock = <T>(
  name: string,
  isPatient: boolean,
  signal: AbortSignal,
  callback: (lock: unknown) => Promise<T>
) => Promise<T>

/** One at a time: by what this returns, and, with a lock manager of the platform behind it, over all tabs. */
export function createLocks(shared: ResumeLocks | undefined): WithLock {
  const held = new Map<string, Holder>()
  return async (name, isPatient, signal, callback) => {
    const before = held.get(name)
    if (before !== undefined && !isPatient && !before.signal.aborted) {
      return await callback(null)
    }
    const take = async (): ReturnType<typeof callback> => {
      await withSignals([signal], async () => await before?.settled)
      return await request(shared, name, isPatient ? { signal } : { ifAvailable: true }, callback)
    }
    const turn = take()
    const holder = { signal, settled: Promise.allSettled([before?.settled, turn]) }
    held.set(name, holder)
    try {
      return await turn
    } finally {
      if (held.get(name) === holder) {
        held.delete(name)
      }
    }
  }
}

async function request<T>(
  shared: ResumeLocks | undefined,
  name: string,
  options: Parameters<ResumeLocks['request']>[1],
  callback: (lock: unknown) => Promise<T>
): Promise<T> {
  let isTaken = false
  try {
    return shared === undefined
      ? await callback(name)
      : await shared.request(name, options, async (lock) => {
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
