import { hasErrorCode } from '../errors.ts'
import { delay, withSignals } from '../lib/deadline.ts'
import { Pauses } from '../lib/pauses.ts'
import type { SyncSettings } from './init.ts'

/** How {@link Scheduler} is made. */
export interface SchedulerInit {
  readonly settings: SyncSettings
  /** Syncs once. A peer that has just come is preferred. */
  readonly run: (peerId: string | undefined, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

/** Syncs now and then: at the start, at once after a peer has come, and in between at an interval. */
export class Scheduler {
  readonly #init: SchedulerInit
  readonly #pauses: Pauses
  #peerId: string | undefined

  constructor(init: SchedulerInit) {
    const { settings } = init
    this.#init = init
    this.#pauses = new Pauses({ ...settings, minBackoffMs: settings.intervalMs })
  }

  /** A peer has come: do not wait any longer. */
  wake(peerId?: string): void {
    this.#peerId = peerId ?? this.#peerId
    this.#pauses.wake()
  }

  /** Goes on until the signal is aborted, then rejects with its reason. With locks it waits for its turn first. */
  async work(): Promise<void> {
    const { settings, signal } = this.#init
    const { locks, lockName } = settings
    if (locks === null) {
      await this.#loop()
    } else {
      await locks.request(lockName, { signal }, () => this.#loop())
    }
  }

  async #loop(): Promise<void> {
    const { settings, run, signal } = this.#init
    const { visibility, pauseWhileHidden, intervalMs } = settings
    // whoever created this has listeners to add
    await delay(0, signal)
    for (;;) {
      signal.throwIfAborted()
      if (pauseWhileHidden && visibility?.visibilityState === 'hidden') {
        // whatever woke us meanwhile, there is one sync when the page is seen again
        await this.#visible()
      }
      const { waking } = this.#pauses
      const peerId = this.#peerId
      this.#peerId = undefined
      await run(peerId, signal)
      await this.#pauses.wait(intervalMs, waking, signal)
    }
  }

  async #visible(): Promise<void> {
    const { settings, signal } = this.#init
    const { visibility } = settings
    const { promise, resolve } = Promise.withResolvers<void>()
    const onChange = (): void => {
      if (visibility?.visibilityState !== 'hidden') {
        resolve()
      }
    }
    visibility?.addEventListener('visibilitychange', onChange)
    try {
      await withSignals([signal], () => promise)
    } finally {
      visibility?.removeEventListener('visibilitychange', onChange)
    }
  }
}

/** Which peers to leave alone for now, since they failed. */
export class Backoff {
  readonly #settings: Pick<SyncSettings, 'now' | 'intervalMs' | 'maxBackoffMs'>
  readonly #failures = new Map<string, { readonly count: number; readonly untilMs: number }>()

  constructor(settings: Pick<SyncSettings, 'now' | 'intervalMs' | 'maxBackoffMs'>) {
    this.#settings = settings
  }

  /** Whether a peer may be tried. */
  allows(peerId: string): boolean {
    return (this.#failures.get(peerId)?.untilMs ?? 0) <= this.#settings.now()
  }

  /** It failed: the pause doubles each time; one that lacks the protocol gets the longest at once. */
  failed(peerId: string, error: unknown): void {
    const { now, intervalMs, maxBackoffMs } = this.#settings
    const count = (this.#failures.get(peerId)?.count ?? 0) + 1
    const pauseMs = hasErrorCode(error, 'ERR_UNSUPPORTED')
      ? Infinity
      : intervalMs * 2 ** (count - 1)
    const untilMs = now() + Math.min(pauseMs, maxBackoffMs)
    this.#failures.set(peerId, { count, untilMs })
  }

  /** All is well with it, or it may have changed. */
  forget(peerId: string): void {
    this.#failures.delete(peerId)
  }
}
