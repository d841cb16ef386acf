import { setTimeout as delay } from 'node:timers/promises'
import { errorMessage } from './errors.ts'
import type { Logger } from './logger.ts'

/** What a {@link PeerKeeper} works with. */
export interface PeerKeeperInit {
  readonly logger: Logger
  /** Connects; resolves with what resolves when the peer is gone. */
  connect(address: string, signal: AbortSignal): Promise<{ gone: Promise<void> }>
}

const MIN_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 30_000
const STABLE_MS = 10_000

/** Stays connected to peers: dials again when they are gone, with growing, jittered pauses. */
export class PeerKeeper {
  readonly #init: PeerKeeperInit
  readonly #stop = new AbortController()
  #loops: Promise<void>[] = []

  constructor(init: PeerKeeperInit) {
    this.#init = init
  }

  /** Starts to keep a peer. */
  keep(address: string): void {
    this.#loops.push(this.#loop(address))
  }

  /** Stops dialing; resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#loops)
    this.#loops = []
  }

  async #loop(address: string): Promise<void> {
    const { signal } = this.#stop
    const stopped = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true })
    )
    for (let failures = 0; !signal.aborted; ) {
      const startedAtMs = performance.now()
      try {
        const { gone } = await this.#init.connect(address, signal)
        this.#init.logger.info({ address }, 'peer connected')
        await Promise.race([gone, stopped])
      } catch (error) {
        this.#init.logger.warn({ address, reason: errorMessage(error) }, 'peer not connected')
      }
      failures = performance.now() - startedAtMs > STABLE_MS ? 0 : failures + 1
      await delay(backoffMs(failures), undefined, { signal }).catch(() => undefined)
    }
  }
}

function backoffMs(failures: number): number {
  const fullMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failures)
  return fullMs * (0.5 + Math.random() / 2)
}
