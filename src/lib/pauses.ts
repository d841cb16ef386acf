import { type Backoff, backoffMs } from './backoff.ts'
import { withSignals } from './deadline.ts'

/** How long to wait, and how. */
export interface PauseSettings extends Backoff {
  /** Waits for a number of milliseconds, or rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Waiting, that {@link Pauses.wake} may cut short. */
export class Pauses {
  readonly #settings: PauseSettings
  #waking = new AbortController()

  constructor(settings: PauseSettings) {
    this.#settings = settings
  }

  /** After a number of failures in a row: {@link backoffMs}. */
  backoffMs(failures: number): number {
    return backoffMs(this.#settings, failures)
  }

  /** Aborted by the next {@link Pauses.wake}. Taken before a try, so that a call while that is under way is not lost. */
  get waking(): AbortSignal {
    return this.#waking.signal
  }

  /**
   * Waits.
   *
   * @param waking - cuts it short
   * @returns true if it was woken
   * @throws the signal's own reason
   */
  async wait(ms: number, waking: AbortSignal | undefined, signal: AbortSignal): Promise<boolean> {
    try {
      await withSignals([signal, waking], (inner) => this.#settings.sleep(ms, inner))
      return false
    } catch (error) {
      signal.throwIfAborted()
      if (waking?.aborted !== true) {
        throw error
      }
      return true
    }
  }

  /** Ends all pauses that can be cut short. */
  wake(): void {
    this.#waking.abort()
    this.#waking = new AbortController()
  }
}
