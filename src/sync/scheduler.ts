import { hasErrorCode } from '../errors.ts'
import { delay, withSignals } from '../lib/deadline.ts'
import type { Pauses } from '../lib/pauses.ts'
import type { SyncSettings, SyncVisibility } from './init.ts'

/**
 * Syncs now and then: at the start, at once after a pause was cut short, and in between at an interval. With locks it waits
 * for its turn first.
 *
 * @param run - syncs once
 * @throws the signal's own reason
 */
export async function keepSyncing(
  { locks, lockName, visibility, pauseWhileHidden, intervalMs }: SyncSettings,
  pauses: Pauses,
  run: () => Promise<void>,
  signal: AbortSignal
): Promise<void> {
  const loop = async (): Promise<void> => {
    // whoever created this has listeners to add
    await delay(0, signal)
    for (;;) {
      // whatever woke us meanwhile, there is one sync when the page is seen again
      while (pauseWhileHidden && visibility?.visibilityState === 'hidden') {
        await change(visibility, signal)
      }
      const { waking } = pauses
      await run()
      await pauses.wait(intervalMs, waking, signal)
    }
  }
  await (locks === null ? loop() : locks.request(lockName, { signal }, loop))
}

async function change(visibility: SyncVisibility, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const onChange = (): void => resolve()
  visibility.addEventListener('visibilitychange', onChange)
  try {
    await withSignals([signal], () => promise)
  } finally {
    visibility.removeEventListener('visibilitychange', onChange)
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
    const { count = 0 } = this.#failures.get(peerId) ?? {}
    const pauseMs = hasErrorCode(error, 'ERR_UNSUPPORTED') ? Infinity : intervalMs * 2 ** count
    const untilMs = now() + Math.min(pauseMs, maxBackoffMs)
    this.#failures.set(peerId, { count: count + 1, untilMs })
  }

  /** All is well with it, or it may have changed. */
  forget(peerId: string): void {
    this.#failures.delete(peerId)
  }
}
