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
  readonly #watches = new Map<Connection, Watch>()

  constructor(init: LivenessInit) {
    this.#init = init
  }

  /** Watches a connection until it ends. */
  watch(connection: Connection): void {
    const watch = new Watch(connection, this.#init)
    this.#watches.set(connection, watch)
    connection.addEventListener('close', () => {
      this.#watches.delete(connection)
      watch.end()
    })
  }

  /** Asks all connections now: after a sleep, or where the network changed. */
  check(): void {
    for (const watch of this.#watches.values()) {
      watch.ask()
    }
  }

  /** To be called when a request of some bytes has left on a connection. */
  requested(connection: Connection, bytes: number): void {
    this.#watches.get(connection)?.requested(bytes)
  }
}

/** One connection. All times are on the clock of `performance.now`. */
class Watch {
  readonly #connection: Connection
  readonly #init: LivenessInit
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When a request has left the last time. */
  #requestedAtMs = 0
  /** Bytes of requests since something came the last time: a slow link may still be busy with them. */
  #requestedBytes = 0
  /** When it was asked the last time, or opened. */
  #askedAtMs = performance.now()
  /** True while a ping is under way. */
  #isAsked = false
  #isOver = false

  constructor(connection: Connection, init: LivenessInit) {
    this.#connection = connection
    this.#init = init
    this.#schedule()
  }

  requested(bytes: number): void {
    const isAnswered = this.#heardAtMs > this.#requestedAtMs
    this.#requestedBytes = bytes + (isAnswered ? 0 : this.#requestedBytes)
    this.#requestedAtMs = performance.now()
    this.#schedule()
  }

  ask(): void {
    if (this.#isAsked) {
      return
    }
    this.#isAsked = true
    this.#askedAtMs = performance.now()
    const heardBefore = this.#heardAtMs
    withDeadline('ping', {}, this.#init.timeoutMs, (signal) =>
      this.#init.ping(this.#connection, signal)
    )
      .catch((error: Error) => {
        // behind a large answer a ping may be late: what comes shows that the link is alive
        if (this.#heardAtMs <= heardBefore) {
          this.#connection.abort(error)
        }
      })
      .finally(() => {
        this.#isAsked = false
        this.#schedule()
      })
  }

  end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  get #heardAtMs(): number {
    return this.#init.heardAtMs(this.#connection)
  }

  /** In how many milliseconds it is to be asked, if nothing comes until then. */
  get #restMs(): number {
    const { intervalMs } = this.#init
    const lastMs = Math.max(this.#heardAtMs, this.#askedAtMs)
    const patienceMs = Math.min(IMPATIENT_MS + this.#requestedBytes / BYTES_PER_MS, intervalMs)
    const dueAtMs =
      this.#requestedAtMs >= lastMs ? this.#requestedAtMs + patienceMs : lastMs + intervalMs
    return dueAtMs - performance.now()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#init.intervalMs < Infinity && !this.#isAsked && !this.#isOver) {
      const look = (): void => (this.#restMs > 0 ? this.#schedule() : this.ask())
      this.#timer = setTimeout(look, Math.max(0, this.#restMs))
    }
  }
}
