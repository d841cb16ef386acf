import type { Pauses } from '../lib/pauses.ts'
import { NANOSECONDS_PER_MS } from '../lib/time.ts'
import type { OutboxStore } from './components.ts'
import { isFinished, type OutboxEntry, type OutboxReason } from './entry.ts'
import type { OutboxSettings } from './init.ts'
import type { Slots } from './lanes.ts'
import type { Ledger } from './ledger.ts'
import {
  ABSENCE_COUNT,
  ABSENCE_PAUSE_MS,
  FRESH_MS,
  NO_WAIT,
  PRESENCE_PAUSE_MS,
  pause,
  type Wait
} from './pace.ts'
import type { Sender } from './sender.ts'
import type { EntryView } from './view.ts'

/** For one look-up, in milliseconds. */
const LOOKUP_TIMEOUT_MS = 15_000

/** What a store node may be off by that looks messages up by their time, in nanoseconds. */
const TIME_SLACK = 30_000n * NANOSECONDS_PER_MS

/** What {@link Delivery} works with. */
export interface DeliveryInit {
  readonly settings: OutboxSettings
  readonly store: OutboxStore | undefined
  readonly view: EntryView
  readonly pauses: Pauses
  readonly slots: Slots
  readonly ledger: Ledger
  readonly sender: Sender
  /** Ends everything. */
  readonly signal: AbortSignal
}

/** What one delivery remembers between its steps. */
interface Progress {
  /** In a row, of whatever kind: they make the pauses longer. */
  failures: number
  /** How often a store node said no when it should have said yes. */
  absences: number
}

/** Brings entries to their end, each step by step; what has to survive is in the entry, not here. */
export class Delivery {
  readonly #init: DeliveryInit

  constructor(init: DeliveryInit) {
    this.#init = init
  }

  /**
   * Does what it takes until the entry is finished.
   *
   * @param goOn - called as soon as this entry will not be sent again, so that the next one of its topic may be
   * @throws the signal's reason
   */
  async deliver(id: string, goOn: () => void): Promise<void> {
    const { view, slots, pauses, signal } = this.#init
    const progress: Progress = { failures: 0, absences: 0 }
    for (;;) {
      signal.throwIfAborted()
      const entry = view.get(id)
      if (entry === undefined || isFinished(entry)) {
        return
      }
      if (this.#isOver(entry)) {
        goOn()
      }
      const { waking } = pauses
      let wait: Wait
      try {
        wait = await slots.run(signal, () => this.#step(entry, progress))
      } catch {
        signal.throwIfAborted()
        wait = this.#backoff(progress) // the storage; each step begins from what is written down
      }
      if (
        wait.ms > 0 &&
        (await pauses.wait(wait.ms, wait.isWakeable ? waking : undefined, signal))
      ) {
        progress.failures = 0
      }
    }
  }

  async #step(entry: OutboxEntry, progress: Progress): Promise<Wait> {
    const { settings, store, ledger, sender } = this.#init
    const isTooOld = settings.now() - entry.enqueuedAtMs > settings.maxAgeMs
    const asked = entry.ephemeral ? undefined : store
    if (asked !== undefined && entry.sent.length > 0) {
      let isPresent: boolean
      try {
        isPresent = await this.#isPresent(asked, entry)
      } catch {
        return isTooOld ? await this.#expire(entry, 'too-old') : this.#backoff(progress)
      }
      if (isPresent) {
        await ledger.finish(entry, { state: 'stored' })
        return NO_WAIT
      }
    }
    if (entry.state === 'queued') {
      return isTooOld
        ? await this.#expire(entry, 'too-old')
        : await sender.send(entry, () => this.#backoff(progress))
    }
    if (this.#isFresh(entry)) {
      return entry.state === 'published'
        ? pause(PRESENCE_PAUSE_MS)
        : await sender.send(entry, () => this.#backoff(progress))
    }
    if (asked === undefined) {
      return await this.#expire(entry, 'unconfirmed')
    }
    progress.absences++
    if (progress.absences < ABSENCE_COUNT) {
      return pause(ABSENCE_PAUSE_MS)
    }
    if (!entry.restamp || isTooOld) {
      return await this.#expire(entry, 'absent')
    }
    progress.absences = 0
    await ledger.commit(entry, { state: 'queued', reason: 'absent' })
    return NO_WAIT
  }

  /** True once the message will not be sent again, under whatever hash. */
  #isOver(entry: OutboxEntry): boolean {
    return (
      entry.state !== 'queued' &&
      !entry.restamp &&
      (entry.state === 'published' || !this.#isFresh(entry))
    )
  }

  #isFresh(entry: OutboxEntry): boolean {
    const timestamp = entry.sent.at(-1)?.timestamp ?? 0n
    return Math.abs(this.#init.settings.now() - Number(timestamp / NANOSECONDS_PER_MS)) < FRESH_MS
  }

  async #isPresent(store: OutboxStore, { sent, contentTopic }: OutboxEntry): Promise<boolean> {
    const times = sent.map(({ timestamp }) => timestamp).sort((a, b) => (a < b ? -1 : 1))
    const [first = 0n] = times
    const within = {
      contentTopics: [contentTopic],
      pubsubTopic: sent.at(-1)?.pubsubTopic,
      timeStart: first - TIME_SLACK,
      timeEnd: (times.at(-1) ?? first) + TIME_SLACK
    }
    const { signal } = this.#init
    const hashes = sent.map(({ messageHash }) => messageHash)
    const answers = await store.has(hashes, { within, signal, timeoutMs: LOOKUP_TIMEOUT_MS })
    return answers.some((answer) => answer)
  }

  async #expire(entry: OutboxEntry, reason: OutboxReason): Promise<Wait> {
    await this.#init.ledger.finish(entry, { state: 'expired', reason })
    return NO_WAIT
  }

  #backoff(progress: Progress): Wait {
    return { ms: this.#init.pauses.backoffMs(progress.failures++), isWakeable: true }
  }
}
