import { backoffMs } from '../lib/backoff.ts'
import { report } from '../lib/report.ts'
import type { StoreProgress } from './page.ts'

/** Of the pauses where nodes have too many requests and there is no other one. */
const BACKOFF = { minBackoffMs: 1_000, maxBackoffMs: Infinity, random: Math.random }

/** Such pauses in a row. */
const MAX_PAUSES = 3

/** How to build {@link Patience}. */
export interface PatienceInit {
  /** Waits for a number of milliseconds, or rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly onProgress?: ((event: StoreProgress) => void) | undefined
  /** For all of it, in milliseconds from now. @default Infinity */
  readonly pageTimeoutMs?: number
}

/** Waits for nodes that have too many requests, a bounded number of times. */
export class Patience {
  readonly #init: PatienceInit
  readonly #startedAtMs = performance.now()
  #pauses = 0

  constructor(init: PatienceInit) {
    this.#init = init
  }

  /**
   * Waits, longer each time.
   *
   * @param isBusy - whether it would help
   * @throws what it was that failed, if it would not, there is no time or there was enough of it; or the signal's own reason
   */
  async bear(error: unknown, isBusy: boolean, signal: AbortSignal): Promise<void> {
    const { pageTimeoutMs = Infinity } = this.#init
    const pauseMs = backoffMs(BACKOFF, this.#pauses)
    const isLate = performance.now() + pauseMs >= this.#startedAtMs + pageTimeoutMs
    if (!isBusy || isLate || this.#pauses === MAX_PAUSES) {
      throw error
    }
    this.#pauses++
    report(this.#init.onProgress, { type: 'store:pause', detail: { pauseMs } })
    await this.#init.sleep(pauseMs, signal)
  }
}
