import { backoffMs } from '../lib/backoff.ts'
import type { PushSettings } from './options.ts'

/** Nodes that said that there were too many requests, and for how long each is left alone. Shared by the pushes of a client. */
export class Rests {
  readonly #settings: PushSettings
  readonly #rests = new Map<string, { untilMs: number; count: number }>()

  constructor(settings: PushSettings) {
    this.#settings = settings
  }

  /** How long a node rests from now on, in milliseconds. */
  remainingMs(peerId: string): number {
    const { now, maxBackoffMs } = this.#settings
    const { untilMs = 0 } = this.#rests.get(peerId) ?? {}
    return Math.max(0, Math.min(maxBackoffMs, untilMs - now())) // a clock may be set back
  }

  /** Lets a node rest, longer each time in a row; or, `isOver`, no more. What many pushes hear at once is one time. */
  set(peerId: string, isOver: boolean): void {
    if (isOver) {
      this.#rests.delete(peerId)
    } else if (this.remainingMs(peerId) === 0) {
      const count = (this.#rests.get(peerId)?.count ?? 0) + 1
      const untilMs = this.#settings.now() + backoffMs(this.#settings, count)
      this.#rests.set(peerId, { untilMs, count })
    }
  }
}
