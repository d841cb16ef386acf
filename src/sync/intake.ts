import { toHex } from '../lib/bytes.ts'
import { Pauses } from '../lib/pauses.ts'
import type { WakuMessage } from '../message/message.ts'
import { messageHash } from '../message/message-hash.ts'
import type { StoredMessage } from '../store/page.ts'
import { assertLimit } from '../wire/sync-bytes.ts'
import type { SyncId } from '../wire/sync-payload.ts'
import type { Holdings } from './holdings.ts'
import type { SyncSettings } from './init.ts'
import type { SyncRejection, Tell } from './progress.ts'
import { type SyncTopics, toTest } from './topic-table.ts'
import type { SyncWindow } from './window.ts'

/** How a message comes: the peer transfers it, or a store is asked for it. */
export type Way = 'transfer' | 'store'

/** How {@link Intake} is made. */
export interface IntakeInit {
  readonly settings: SyncSettings
  readonly holdings: Pick<Holdings, 'add'>
  readonly peerId: string
  readonly window: SyncWindow
  readonly tell: Tell
}

/**
 * What one session takes in. While it is still finding out what is missing, that is what its topics and its window allow;
 * after that, only what it found missing.
 */
export class Intake {
  readonly peerId: string
  readonly window: SyncWindow
  /** Tells what happens in the session. */
  readonly tell: IntakeInit['tell']
  /** When it takes no more, in milliseconds: some time after the session has ended. Undefined while that goes on. */
  untilMs: number | undefined
  /** How many messages were new. */
  received = 0
  /** What was judged well and is not stored yet. */
  readonly #judged: Record<Way, StoredMessage[]> = { transfer: [], store: [] }
  readonly #init: IntakeInit
  readonly #allows: (topics: SyncTopics) => boolean
  readonly #pauses: Pauses
  readonly #missing = new Map<string, Uint8Array>()
  readonly #taken = new Set<string>()
  #isStrict = false
  #sizeBytes = 0

  constructor(init: IntakeInit) {
    const { settings, peerId, window, tell } = init
    this.peerId = peerId
    this.window = window
    this.tell = tell
    this.#init = init
    this.#allows = toTest(settings)
    this.#pauses = new Pauses(settings)
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
    const { timeStart, timeEnd } = this.window
    this.#isStrict = isComplete
    for (const { timestamp, hash } of toFetch) {
      const key = toHex(hash)
      if (timestamp >= timeStart && timestamp < timeEnd && !this.#taken.has(key)) {
        this.#missing.set(key, hash)
      }
    }
  }

  /**
   * Judges a message, whose hash is computed here, and keeps it for {@link Intake.store} unless it is dropped.
   *
   * @returns why it is dropped
   * @throws {@link LimitExceededError} if the session takes no more
   */
  judge(
    pubsubTopic: string,
    message: WakuMessage,
    sizeBytes: number,
    by: Way
  ): SyncRejection | undefined {
    const { timeStart, timeEnd } = this.window
    const { settings } = this.#init
    const { contentTopic, timestamp = 0n, ephemeral } = message
    if (contentTopic === '' || ephemeral === true) {
      return 'invalid'
    }
    if (
      timestamp < timeStart ||
      timestamp >= timeEnd ||
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
    assertLimit(this.#taken.size + 1, settings.maxMessages, 'messages')
    assertLimit(this.#sizeBytes, settings.maxMessageBytes, 'bytes')
    this.#taken.add(key)
    this.#judged[by].push({ ...message, pubsubTopic, messageHash: hash })
    return undefined
  }

  /**
   * Puts what was judged well into archive and index.
   *
   * @returns how many messages that were
   */
  async store(by: Way): Promise<number> {
    const messages = this.#judged[by]
    this.#judged[by] = []
    if (messages.length > 0) {
      const { settings, holdings, peerId } = this.#init
      const { length: count } = await settings.archive.putMany(messages)
      // the archive tells of them as well, maybe later
      holdings.add(messages)
      this.received += count
      this.tell({ type: 'sync:received', detail: { peerId, count, by } })
      for (const { messageHash: hash } of messages) {
        this.#missing.delete(toHex(hash))
      }
      this.#pauses.wake()
    }
    return messages.length
  }

  /** Waits until nothing is missing, or nothing came for a while. */
  async wait(signal: AbortSignal): Promise<void> {
    const { transferIdleMs } = this.#init.settings
    for (let isIdle = false; this.#missing.size > 0 && !isIdle; ) {
      isIdle = !(await this.#pauses.wait(transferIdleMs, this.#pauses.waking, signal))
    }
  }
}

/** The sessions that go on, and those that ended a short time ago. */
export class Intakes {
  readonly #now: () => number
  #intakes: readonly Intake[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  /** A session begins. */
  add(intake: Intake): void {
    this.#intakes = [intake, ...this.#current()]
  }

  /** Those of a peer, the newest first. */
  of(peerId: string): readonly Intake[] {
    return this.#current().filter((intake) => intake.peerId === peerId)
  }

  #current(): readonly Intake[] {
    const nowMs = this.#now()
    return this.#intakes.filter(({ untilMs = Infinity }) => untilMs > nowMs)
  }
}
