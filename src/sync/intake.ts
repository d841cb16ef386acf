import { LimitExceededError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import { withSignals } from '../lib/deadline.ts'
import { MAX_META_BYTES, type WakuMessage } from '../message/message.ts'
import { messageHash } from '../message/message-hash.ts'
import type { StoredMessage } from '../store/page.ts'
import type { SyncId } from '../wire/sync-payload.ts'
import type { SyncProgress, SyncRejection } from './progress.ts'
import type { SyncWindow } from './sync-session.ts'
import { type SyncFilter, type SyncTopics, toTest } from './topic-table.ts'

/** How {@link Intake} is made. */
export interface IntakeInit {
  readonly peerId: string
  readonly window: SyncWindow
  readonly filter: SyncFilter
  /** How many messages, and bytes of them, the session takes. */
  readonly maxMessages: number
  readonly maxBytes: number
  /** Told what happens in the session. */
  readonly tell: (event: SyncProgress) => void
}

/**
 * What one session takes in. While it is still finding out what is missing, that is what its topics and its window allow;
 * after that, only what it found missing.
 */
export class Intake {
  readonly peerId: string
  /** When the session ended, in milliseconds; undefined while it goes on. */
  endedAtMs: number | undefined
  /** How many messages were new. */
  received = 0
  readonly #init: IntakeInit
  readonly #allows: (topics: SyncTopics) => boolean
  readonly #missing = new Map<string, Uint8Array>()
  readonly #taken = new Set<string>()
  #isStrict = false
  #sizeBytes = 0
  #changed = Promise.withResolvers<void>()

  constructor(init: IntakeInit) {
    this.#init = init
    this.#allows = toTest(init.filter)
    this.peerId = init.peerId
  }

  /** Hashes that are still to come. */
  get missing(): readonly Uint8Array[] {
    return [...this.#missing.values()]
  }

  /**
   * The session has found out what is missing.
   *
   * @param isComplete - whether that is all; else other messages of its topics and window are still taken
   */
  settle(toFetch: readonly SyncId[], isComplete: boolean): void {
    const { timeStart, timeEnd } = this.#init.window
    this.#isStrict = isComplete
    for (const { timestamp, hash } of toFetch) {
      const key = toHex(hash)
      if (timestamp >= timeStart && timestamp < timeEnd && !this.#taken.has(key)) {
        this.#missing.set(key, hash)
      }
    }
  }

  /**
   * Judges a message, whose hash is computed here.
   *
   * @returns what to store, or why not
   * @throws {@link LimitExceededError} if the session takes no more
   */
  judge(
    pubsubTopic: string,
    message: WakuMessage,
    sizeBytes: number
  ): StoredMessage | SyncRejection {
    const { window, maxMessages, maxBytes } = this.#init
    const { contentTopic, timestamp = 0n, meta, ephemeral } = message
    if (contentTopic === '' || ephemeral === true || (meta?.length ?? 0) > MAX_META_BYTES) {
      return 'invalid'
    }
    if (
      timestamp < window.timeStart ||
      timestamp >= window.timeEnd ||
      !this.#allows({ pubsubTopic, contentTopic })
    ) {
      return 'outside'
    }
    const hash = messageHash(pubsubTopic, message)
    const key = toHex(hash)
    if (this.#taken.has(key) || (this.#isStrict && !this.#missing.has(key))) {
      return 'unexpected'
    }
    this.#sizeBytes += sizeBytes
    if (this.#taken.size >= maxMessages || this.#sizeBytes > maxBytes) {
      throw new LimitExceededError('a session takes no more messages', maxMessages)
    }
    this.#taken.add(key)
    return { ...message, pubsubTopic, messageHash: hash }
  }

  /** These are in the archive now, some of them newly. */
  stored(messages: readonly StoredMessage[], newCount: number, by: 'transfer' | 'store'): void {
    const { peerId, tell } = this.#init
    this.received += newCount
    tell({ type: 'sync:received', detail: { peerId, count: newCount, by } })
    for (const { messageHash: hash } of messages) {
      this.#missing.delete(toHex(hash))
    }
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** Waits until nothing is missing, or nothing came for as long as `sleep` takes. */
  async wait(sleep: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let isIdle = false; this.#missing.size > 0 && !isIdle; ) {
      const over = new AbortController()
      const change = this.#changed.promise.then(() => false)
      try {
        isIdle = await withSignals([signal], (linked) => {
          const idle = sleep(AbortSignal.any([linked, over.signal])).then(() => true)
          return Promise.race([change, idle])
        })
      } finally {
        over.abort()
      }
    }
  }
}

/** The sessions that go on, and those that ended a short time ago, by peer. */
export class Intakes {
  readonly #keepMs: number
  readonly #now: () => number
  #intakes: readonly Intake[] = []

  constructor(keepMs: number, now: () => number) {
    this.#keepMs = keepMs
    this.#now = now
  }

  /** A session begins. */
  add(init: IntakeInit): Intake {
    const intake = new Intake(init)
    this.#intakes = [...this.#current(), intake]
    return intake
  }

  /** A session ended; what it still expects may come for a while. */
  end(intake: Intake): void {
    intake.endedAtMs = this.#now()
  }

  /** Those of a peer, the newest first. */
  of(peerId: string): readonly Intake[] {
    return this.#current()
      .filter((intake) => intake.peerId === peerId)
      .reverse()
  }

  /** Whether a session with a peer goes on. */
  isActive(peerId: string): boolean {
    return this.#intakes.some(
      (intake) => intake.peerId === peerId && intake.endedAtMs === undefined
    )
  }

  #current(): Intake[] {
    const since = this.#now() - this.#keepMs
    return this.#intakes.filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs > since)
  }
}
