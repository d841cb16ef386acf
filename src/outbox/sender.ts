import { hasErrorCode, StorageError } from '../errors.ts'
import { compareBytes } from '../lib/bytes.ts'
import { fromMilliseconds, NANOSECONDS_PER_MS } from '../lib/time.ts'
import type { PushVerdict } from '../light-push/outcome.ts'
import type { WakuMessage } from '../message/message.ts'
import { messageHash } from '../message/message-hash.ts'
import type { OutboxLightPush } from './components.ts'
import type { OutboxEntry, OutboxMessage, SentMessage } from './entry.ts'
import type { OutboxSettings } from './init.ts'
import type { EntryChange, Ledger } from './ledger.ts'
import { FRESH_MS, NO_WAIT, PRESENCE_PAUSE_MS, pause, type Wait } from './pace.ts'

/** Codes with which a node refuses a message for good. */
const PERMANENT: readonly (number | undefined)[] = [400, 413, 420, 421, undefined]

/** A message that is older than almost {@link FRESH_MS} gets this long, in milliseconds. */
const MIN_PUSH_MS = 1_000

/** How far back a clock may go before it is believed, in nanoseconds. */
const MAX_STAMP_LEAD = 1_000n * NANOSECONDS_PER_MS

/** What {@link Sender} works with. */
export interface SenderInit {
  readonly settings: OutboxSettings
  readonly lightPush: OutboxLightPush
  readonly ledger: Ledger
  /** Ends everything. */
  readonly signal: AbortSignal
}

type Result = Awaited<ReturnType<OutboxLightPush['push']>>

/** Pushes an entry once: the message as it is sent is written down before its first byte leaves. */
export class Sender {
  readonly #init: SenderInit
  #lastStamp = 0n

  constructor(init: SenderInit) {
    this.#init = init
  }

  /**
   * Pushes an entry: a new message where it is `queued`, else identical bytes.
   *
   * @param backoff - told once if there is to be a next time
   * @throws what the storage throws where nothing was sent, and the signal's reason
   */
  async send(entry: OutboxEntry, backoff: () => Wait): Promise<Wait> {
    const { settings, ledger } = this.#init
    const message = await settings.storage.message(entry.id)
    if (message === undefined) {
      await ledger.finish(entry, { state: 'expired', reason: 'lost' })
      return NO_WAIT
    }
    const { result, current } = await this.#push(entry, message)
    if (result.status === 'published') {
      if (current.confirm === 'published') {
        await ledger.finish(current, { state: 'published' })
        return NO_WAIT
      }
      await ledger.commit(current, { state: 'published' })
      return pause(PRESENCE_PAUSE_MS)
    }
    const isResend = entry.state !== 'queued'
    if (!isResend && result.status === 'failed' && result.isPermanent) {
      await ledger.finish(current, { ...result.why, state: 'rejected', sent: entry.sent })
      return NO_WAIT
    }
    const wait = backoff()
    const change = { ...result.why, nextAttemptAtMs: settings.now() + wait.ms }
    if (!isResend && result.status === 'failed') {
      await ledger.commit(current, { ...change, state: 'queued', sent: entry.sent })
      return wait
    }
    await ledger.commit(current, { ...change, state: 'unknown' })
    return pause(wait.ms) // not before the answer can have become another one
  }

  async #push(
    entry: OutboxEntry,
    message: OutboxMessage
  ): Promise<{ result: Outcome; current: OutboxEntry }> {
    const { settings, lightPush, ledger, signal } = this.#init
    const last = entry.state === 'queued' ? undefined : entry.sent.at(-1)
    const timestamp = last?.timestamp ?? this.#stamp()
    let current = entry
    let isOver = false
    let sealing: Promise<OutboxEntry> | undefined

    const seal = async (sealed: WakuMessage, pubsubTopic: string): Promise<Uint8Array> => {
      const proof =
        last?.proof ?? (await settings.proof?.(sealed, pubsubTopic)) ?? new Uint8Array(0)
      const sent = { messageHash: messageHash(pubsubTopic, sealed), timestamp, pubsubTopic, proof }
      if (isOver || signal.aborted || (last !== undefined && !isSame(last, sent))) {
        throw new StorageError('failed', 'what was sent before is not what is to be sent now')
      }
      sealing = ledger.write(entry, {
        state: 'sending',
        attempts: entry.attempts + 1,
        sent: last === undefined ? [...entry.sent, sent] : entry.sent
      })
      current = await sealing
      return proof
    }

    const ageMs = settings.now() - Number(timestamp / NANOSECONDS_PER_MS)
    try {
      const result = await lightPush.push(
        { ...message, timestamp },
        {
          pubsubTopic: last?.pubsubTopic ?? entry.pubsubTopic,
          proof: seal,
          signal,
          timeoutMs: Math.max(MIN_PUSH_MS, FRESH_MS - Math.max(0, ageMs))
        }
      )
      return { result: toOutcome(result), current: await settle() }
    } catch (error) {
      signal.throwIfAborted()
      return { result: toFailure(error), current: await settle() }
    }

    /** A write under way is waited for, so that the next one comes after it; one that has not begun does not begin. */
    async function settle(): Promise<OutboxEntry> {
      isOver = true
      await sealing?.catch(() => {})
      return current
    }
  }

  /** Now, but each message of its own: the same content twice in a millisecond is two messages. */
  #stamp(): bigint {
    const now = fromMilliseconds(this.#init.settings.now())
    const lead = this.#lastStamp - now
    this.#lastStamp = lead >= 0n && lead < MAX_STAMP_LEAD ? this.#lastStamp + 1n : now
    return this.#lastStamp
  }
}

interface Outcome {
  readonly status: Result['status']
  /** Whether a failure would come again. */
  readonly isPermanent: boolean
  readonly why: Pick<EntryChange, 'reason' | 'statusCode' | 'detail'>
}

function toOutcome({ status, attempts, error }: Result): Outcome {
  const told = attempts.findLast((attempt) => attempt.status === status)
  return {
    status,
    isPermanent: attempts.length > 0 && attempts.every(isRefusal),
    why: {
      reason: told?.reason ?? 'not-sent',
      ...(told?.statusCode === undefined ? undefined : { statusCode: told.statusCode }),
      ...toDetail(told?.statusDesc ?? error)
    }
  }
}

function toFailure(error: unknown): Outcome {
  const isPermanent =
    hasErrorCode(error, 'ERR_INVALID_ARGUMENT') || hasErrorCode(error, 'ERR_MESSAGE_TOO_LARGE')
  return {
    status: 'failed',
    isPermanent,
    why: { reason: isPermanent ? 'invalid' : 'not-sent', ...toDetail(error) }
  }
}

/** A refusal of the older protocol has no code, and is one by its text. */
function isRefusal({ reason, statusCode }: Pick<PushVerdict, 'reason' | 'statusCode'>): boolean {
  return reason === 'refused' && PERMANENT.includes(statusCode)
}

function toDetail(told: unknown): { detail?: string } {
  const text = told instanceof Error ? told.message : told
  return typeof text === 'string' ? { detail: text.slice(0, MAX_DETAIL) } : {}
}

/** Longest text of a node that is kept, in characters. */
const MAX_DETAIL = 500

function isSame(a: SentMessage, b: SentMessage): boolean {
  return a.pubsubTopic === b.pubsubTopic && compareBytes(a.messageHash, b.messageHash) === 0
}
