import { LimitExceededError } from '../errors.ts'
import { withSignals } from './deadline.ts'

/** Lets a bounded number of tasks run at a time; the others wait in line, first come first served. */
export class Turnstile {
  readonly #limit: number
  readonly #maxWaiting: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  /** Lets `limit` tasks run at a time, and `maxWaiting` wait. */
  constructor(limit: number, maxWaiting: number) {
    this.#limit = limit
    this.#maxWaiting = maxWaiting
  }

  /** Tasks that run now. */
  get running(): number {
    return this.#running
  }

  /** Tasks that wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Runs a task once there is room for it.
   *
   * @throws the signal's reason if it is aborted while the task waits, {@link LimitExceededError} if the line is full, or what
   * the task throws
   */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal)
    try {
      return await task()
    } finally {
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#running < this.#limit) {
      this.#running++
      return
    }
    if (this.#waiting.size >= this.#maxWaiting) {
      throw new LimitExceededError('too many tasks wait', this.#maxWaiting)
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    try {
      await withSignals([signal], () => promise)
    } catch (error) {
      // Whoever was let in and aborted in the same turn hands its place on.
      if (!this.#waiting.delete(resolve)) {
        this.#leave()
      }
      throw error
    }
  }

  /** The place of one that leaves goes to the first in line, so that nobody comes in between. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#running--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
