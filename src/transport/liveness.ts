import type { Connection } from '@libp2p/interface'
import { ConnectionError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'

/** How to build {@link Liveness}. */
export interface LivenessInit {
  /** After that long without a byte a connection is pinged, in milliseconds; `Infinity` for never. */
  readonly intervalMs: number
  /** For the answer, in milliseconds. */
  readonly timeoutMs: number
  /** Asks for a sign of life; rejects if there is none. */
  readonly ping: (connection: Connection, signal: AbortSignal) => Promise<void>
  /** When something came on a connection the last time, on the clock of `performance.now`; 0 where nobody knows. */
  readonly heardAtMs: (connection: Connection) => number
}

interface Watched {
  timer?: ReturnType<typeof setTimeout>
  isAsked: boolean
}

/**
 * Notices connections that call themselves open while nobody is there any more. Whatever comes on a connection proves that it
 * lives; where nothing comes, it is pinged. One that then says nothing at all is aborted, which its requests notice at once.
 */
export class Liveness {
  readonly #init: LivenessInit
  readonly #watched = new Map<Connection, Watched>()

  constructor(init: LivenessInit) {
    this.#init = init
  }

  /** Watches a connection until it ends. */
  watch(connection: Connection): void {
    const watched: Watched = { isAsked: false }
    this.#watched.set(connection, watched)
    connection.addEventListener('close', () => {
      clearTimeout(watched.timer)
      this.#watched.delete(connection)
    })
    this.#schedule(connection, watched)
  }

  /** Asks all connections now: after a sleep, or where the network changed. */
  check(): void {
    for (const [connection, watched] of this.#watched) {
      this.#ask(connection, watched)
    }
  }

  #schedule(connection: Connection, watched: Watched): void {
    const { intervalMs, heardAtMs } = this.#init
    if (intervalMs === Infinity || !this.#watched.has(connection)) {
      return
    }
    const silenceMs = Math.max(0, performance.now() - heardAtMs(connection))
    const dueMs = silenceMs < intervalMs ? intervalMs - silenceMs : intervalMs
    watched.timer = setTimeout(() => {
      if (performance.now() - heardAtMs(connection) < intervalMs) {
        this.#schedule(connection, watched)
      } else {
        this.#ask(connection, watched)
      }
    }, dueMs)
  }

  #ask(connection: Connection, watched: Watched): void {
    clearTimeout(watched.timer)
    if (watched.isAsked) {
      return
    }
    watched.isAsked = true
    const { timeoutMs, ping, heardAtMs } = this.#init
    const heardBefore = heardAtMs(connection)
    withDeadline('ping', {}, timeoutMs, (signal) => ping(connection, signal))
      .catch((cause: unknown) => {
        // behind a large answer a ping may be late: what comes shows that the link is alive
        if (heardAtMs(connection) <= heardBefore) {
          connection.abort(new ConnectionError('the link is dead', { cause }))
        }
      })
      .finally(() => {
        watched.isAsked = false
        this.#schedule(connection, watched)
      })
  }
}
