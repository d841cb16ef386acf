import { hasErrorCode } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import { type PauseSettings, Pauses } from '../lib/pauses.ts'
import { until } from '../lib/until.ts'
import type { ManagedServicePeers } from './peers-options.ts'

/** A connection that lasted that long, in milliseconds, was a good one: that it ends is routine. */
const STABLE_MS = 3_000

/** How to build {@link Keeper}. */
export interface KeeperInit extends PauseSettings {
  readonly peers: Pick<ManagedServicePeers, 'connect' | 'isSettled' | 'refusals' | 'onChange'>
  /** Called when {@link Keeper.lastError} or {@link Keeper.nextRetryAtMs} changes. */
  readonly onChange: () => void
  /** The current time, in milliseconds since the Unix epoch. */
  readonly now: () => number
}

/**
 * Keeps one service node connected: dials when none is, and again after pauses that grow, from the beginning when it is woken,
 * as the network may be back.
 */
export class Keeper extends Pauses {
  /** Why no node is connected. */
  lastError: Error | undefined
  /** When the next try begins, in milliseconds since the Unix epoch; undefined while there is none to wait for. */
  nextRetryAtMs: number | undefined
  readonly #init: KeeperInit

  constructor(init: KeeperInit) {
    super(init)
    this.#init = init
  }

  /**
   * Waits before the next try; less if it is woken, or what is wanted comes.
   *
   * @param isThere - looked at after each change: who fails with it there has to wait as well
   * @param waking - as it was before the last try, so that a call while that was under way is not lost
   * @returns true if it was cut short
   * @throws the signal's own reason
   */
  async pause(
    ms: number,
    isThere: () => boolean,
    waking: AbortSignal,
    signal: AbortSignal
  ): Promise<boolean> {
    const end = this.#init.peers.onChange(() => isThere() && this.wake())
    try {
      return await this.wait(ms, waking, signal)
    } finally {
      end()
    }
  }

  /** Works until the signal is aborted, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    const { peers, now } = this.#init
    let earlyEnds = 0
    for (let failures = 0; ; ) {
      const { waking } = this
      try {
        await withSignals([signal, waking], (either) => peers.connect(either))
        this.#tell(undefined, undefined)
        const sinceMs = now()
        await until(peers, () => !peers.isSettled, signal)
        earlyEnds = now() - sinceMs < STABLE_MS ? earlyEnds + 1 : 0
        failures = earlyEnds
      } catch (error) {
        signal.throwIfAborted()
        if (waking.aborted) {
          failures = 0
          continue
        }
        this.#tell(error as Error, undefined)
        if (hasErrorCode(error, 'ERR_CLUSTER_MISMATCH')) {
          continue // that node is left for good; the next one has done nothing yet
        }
        failures++
      }
      // with nothing but nodes that are out of the question there is nothing to try, until one of them is not
      await until(peers, () => peers.refusals === undefined, signal)
      const pauseMs = this.backoffMs(Math.max(0, failures - 1))
      this.#tell(this.lastError, now() + pauseMs)
      // a call may dial a node meanwhile
      if (await this.pause(pauseMs, () => peers.isSettled, this.waking, signal)) {
        failures = 0
      }
      this.#tell(this.lastError, undefined)
    }
  }

  #tell(error: Error | undefined, nextRetryAtMs: number | undefined): void {
    this.lastError = error
    this.nextRetryAtMs = nextRetryAtMs
    this.#init.onChange()
  }
}
