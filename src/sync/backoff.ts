import { hasErrorCode } from '../errors.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { SyncSettings } from './init.ts'

/** Which peers to leave alone for now, since they failed. */
export class Backoff {
  readonly #settings: Pick<SyncSettings, 'now' | 'minBackoffMs' | 'maxBackoffMs'>
  readonly #failures = new Map<string, { count: number; untilMs: number; pauseMs: number }>()

  constructor(settings: Pick<SyncSettings, 'now' | 'minBackoffMs' | 'maxBackoffMs'>) {
    this.#settings = settings
  }

  /** Whether a peer may be tried. */
  allows(peerId: string): boolean {
    const { untilMs = 0, pauseMs = 0 } = this.#failures.get(peerId) ?? {}
    const leftMs = untilMs - this.#settings.now()
    return leftMs <= 0 || leftMs > pauseMs // a clock may be set back
  }

  /** It failed: the pause doubles each time; one that lacks the protocol gets the longest at once. */
  failed(peerId: string, error: unknown): void {
    const { count = 0 } = this.#failures.get(peerId) ?? {}
    const growth = { ...this.#settings, random: () => 1 } // as it is, without jitter
    const pauseMs = backoffMs(growth, hasErrorCode(error, 'ERR_UNSUPPORTED') ? Infinity : count)
    const untilMs = this.#settings.now() + pauseMs
    this.#failures.set(peerId, { count: count + 1, untilMs, pauseMs })
  }

  /** All is well with it, or it may have changed. */
  forget(peerId: string): void {
    this.#failures.delete(peerId)
  }
}
