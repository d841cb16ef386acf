import type { Connection } from '@libp2p/interface'
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
  /** When the timer is due. All times are on the clock of `performance.now`. */
  dueAtMs: number
  /** When a request has left the last time. */
  requestedAtMs: number
  /** Bytes of requests since something came the last time: a slow link may still be busy with them. */
  requestedBytes: number
  /** When it was asked the last time, or opened. */
  askedAtMs: number
  /** True while a ping is under way. */
  isAsked: boolean
}

/** A request that is not answered in that time makes the link a suspect, in milliseconds. */
const IMPATIENT_MS = 1_000

/** What the slowest link that is waited for takes in a millisecond. */
const BYTES_PER_MS = 16

/**
 * Notices connections that call themselves open while nobody is there any more. Whatever comes on a connection proves that it
 * lives; where nothing comes for long, or no answer to a request, it is pinged. One that then says nothing at all is aborted, which
 * its requests notice at once.
 */
export class Liveness {
  readonly #init: LivenessInit
  readonly #watched = new Map<Connection, Watched>()

  constructor(init: LivenessInit) {
    this.#init = init
  }

  /** Watches a connection until it ends. */
  watch(connection: Connection): void {
    const watched: Watched = {
      dueAtMs: Infinity,
      requestedAtMs: 0,
      requestedBytes: 0,
      askedAtMs: performance.now(),
      isAsked: false
    }
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

  /** To be called when a request of some bytes has left on a connection. */
  requested(connection: Connection, bytes: number): void {
    const watched = this.#watched.get(connection)
    if (watched !== undefined) {
      const isAnswered = this.#init.heardAtMs(connection) > watched.requestedAtMs
      watched.requestedBytes = bytes + (isAnswered ? 0 : watched.requestedBytes)
      watched.requestedAtMs = performance.now()
      this.#schedule(connection, watched)
    }
  }

  /** When a connection is to be asked, if nothing comes until then. */
  #dueAtMs(connection: Connection, watched: Watched): number {
    const { requestedAtMs, requestedBytes, askedAtMs } = watched
    const { intervalMs, heardAtMs } = this.#init
    const lastMs = Math.max(heardAtMs(connection), askedAtMs)
    return requestedAtMs >= lastMs
      ? requestedAtMs + Math.min(IMPATIENT_MS + requestedBytes / BYTES_PER_MS, intervalMs)
      : lastMs + intervalMs
  }

  #schedule(connection: Connection, watched: Watched): void {
    const dueAtMs = this.#dueAtMs(connection, watched)
    if (this.#init.intervalMs === Infinity || watched.isAsked || watched.dueAtMs <= dueAtMs) {
      return // a timer that is due sooner looks again
    }
    clearTimeout(watched.timer)
    watched.dueAtMs = dueAtMs
    watched.timer = setTimeout(
      () => {
        watched.dueAtMs = Infinity
        if (performance.now() < this.#dueAtMs(connection, watched)) {
          this.#schedule(connection, watched)
        } else {
          this.#ask(connection, watched)
        }
      },
      Math.max(0, dueAtMs - performance.now())
    )
  }

  #ask(connection: Connection, watched: Watched): void {
    if (watched.isAsked) {
      return
    }
    watched.isAsked = true
    watched.askedAtMs = performance.now()
    const { timeoutMs, ping, heardAtMs } = this.#init
    const heardBefore = heardAtMs(connection)
    withDeadline('ping', {}, timeoutMs, (signal) => ping(connection, signal))
      .catch((error: Error) => {
        // behind a large answer a ping may be late: what comes shows that the link is alive
        if (heardAtMs(connection) <= heardBefore) {
          connection.abort(error)
        }
      })
      .finally(() => {
        watched.isAsked = false
        if (this.#watched.has(connection)) {
          this.#schedule(connection, watched)
        }
      })
  }
}
