import { hasErrorCode } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import { type PauseSettings, Pauses } from '../lib/pauses.ts'
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

/** Keeps one service node connected: dials when none is, and again after pauses that grow, from the beginning when it is woken. */
export class Keeper {
  /** Why no node is connected. */
  lastError: Error | undefined
  /** When the next try begins, in milliseconds since the Unix epoch; undefined while there is none to wait for. */
  nextRetryAtMs: number | undefined
  readonly #init: KeeperInit
  readonly #pauses: Pauses

  constructor(init: KeeperInit) {
    this.#init = init
    this.#pauses = new Pauses(init)
  }

  /** The network may be back: what is under way begins anew, and without a pause. */
  wake(): void {
    this.#pauses.wake()
  }

  /** Aborted by the next {@link Keeper.wake}. */
  get waking(): AbortSignal {
    return this.#pauses.waking
  }

  /**
   * Waits for the next try, whose length depends on the failures so far; less if it is woken, or what is wanted is there.
   *
   * @param waking - as it was before the last try, so that a call while that was under way is not lost
   * @throws the signal's own reason
   */
  async pause(
    failures: number,
    isThere: () => boolean,
    waking: AbortSignal,
    signal: AbortSignal
  ): Promise<void> {
    const there = new AbortController()
    const check = (): void => {
      if (isThere()) {
        there.abort()
      }
    }
    const end = this.#init.peers.onChange(check)
    try {
      check()
      await withSignals([signal, waking, there.signal], (inner) =>
        this.#init.sleep(this.#pauses.backoffMs(failures), inner)
      )
    } catch (error) {
      signal.throwIfAborted()
      if (!waking.aborted && !there.signal.aborted) {
        throw error
      }
    } finally {
      end()
    }
  }

  /** Works until the signal is aborted, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    const { peers, now } = this.#init
    let earlyEnds = 0
    for (let failures = 0; ; ) {
      const { waking } = this.#pauses
      try {
        await withSignals([signal, waking], (either) => peers.connect(either))
        this.#tell(undefined, undefined)
        const sinceMs = now()
        await this.#until(() => !peers.isSettled, signal)
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
      await this.#until(() => peers.refusals === undefined, signal)
      const pauseMs = this.#pauses.backoffMs(Math.max(0, failures - 1))
      this.#tell(this.lastError, now() + pauseMs)
      // a call may have dialed a node meanwhile
      const end = peers.onChange(() => peers.isSettled && this.#pauses.wake())
      try {
        if (await this.#pauses.wait(pauseMs, this.#pauses.waking, signal)) {
          failures = 0
        }
      } finally {
        end()
      }
      this.#tell(this.lastError, undefined)
    }
  }

  #tell(error: Error | undefined, nextRetryAtMs: number | undefined): void {
    this.lastError = error
    this.nextRetryAtMs = nextRetryAtMs
    this.#init.onChange()
  }

  async #until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = (): void => {
      if (condition()) {
        resolve()
      }
    }
    const end = this.#init.peers.onChange(check)
    try {
      check()
      await withSignals([signal], () => promise)
    } finally {
      end()
    }
  }
}
