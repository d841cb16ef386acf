import { hasErrorCode, StorageError } from '../errors.ts'
import { compareBytes } from '../lib/bytes.ts'
import { NANOSECONDS_PER_MS } from '../lib/time.ts'
import type { PushVerdict } from '../light-push/outcome.ts'
import type { WakuMessage } from '../message/message.ts'
import { messageHash } from '../message/message-hash.ts'
import type { OutboxLightPush } from './components.ts'
import type { OutboxEntry, OutboxMessage } from './entry.ts'
import { commit, type EntryChange, finish, write } from './ledger.ts'
import { FRESH_MS, PRESENCE_PAUSE_MS, type Wait } from './pace.ts'
import type { OutboxSession } from './session.ts'

/** Codes with which a node refuses a message for good. */
const PERMANENT: readonly (number | undefined)[] = [400, 413, 420, 421, undefined]

/** A message that is older than almost {@link FRESH_MS} gets this long, in milliseconds. */
const MIN_PUSH_MS = 1_000

/** How far back a clock may go before it is believed, in nanoseconds. */

type Result = Awaited<ReturnType<OutboxLightPush['push']>>

/**
 * Pushes an entry once: a new message where it is `queued`, else identical bytes. The message as it is sent is written down
 * before its first byte leaves.
 *
 * @param backoff - told once if there is to be a next time
 * @throws what the storage throws where nothing was sent, and the signal's reason
 */
export async function send(
  session: OutboxSession,
  entry: OutboxEntry,
  backoff: () => Wait
): Promise<Wait | undefined> {
  const { settings, view } = session
  const message = await settings.storage.message(entry.id)
  if (message === undefined) {
    return await finish(session, entry, { state: 'expired', reason: 'lost' })
  }
  const result = await push(session, entry, message)
  const { status } = result
  const current = view.get(entry.id) ?? entry // as it was sealed
  if (status === 'published') {
    if (current.confirm === status) {
      return await finish(session, current, { state: status })
    }
    await commit(session, current, { state: status })
    return { ms: PRESENCE_PAUSE_MS }
  }
  const { isPermanent, why } = toOutcome(result)
  const isUnsent = entry.state === 'queued' && status === 'failed'
  const { sent } = entry
  if (isUnsent && isPermanent) {
    return await finish(session, current, { ...why, state: 'rejected', sent })
  }
  const wait = backoff()
  await commit(session, current, {
    ...why,
    ...(isUnsent ? { state: 'queued', sent } : { state: 'unknown' }),
    nextAttemptAtMs: settings.now() + wait.ms
  })
  // What may be out is not sent again before the answer can have become another one.
  return isUnsent ? wait : { ms: wait.ms }
}

async function push(
  session: OutboxSession,
  entry: OutboxEntry,
  message: OutboxMessage
): Promise<Result> {
  const { settings, components, signal } = session
  const last = entry.state === 'queued' ? undefined : entry.sent.at(-1)
  const timestamp = last?.timestamp ?? session.stamp()
  let isOver = false
  let sealing: Promise<OutboxEntry> | undefined

  const seal = async (sealed: WakuMessage, pubsubTopic: string): Promise<Uint8Array> => {
    const proof = last?.proof ?? (await settings.proof?.(sealed, pubsubTopic)) ?? new Uint8Array(0)
    const sent = { messageHash: messageHash(pubsubTopic, sealed), timestamp, pubsubTopic, proof }
    // The hash covers the pubsub topic, too.
    const isOther = last !== undefined && compareBytes(last.messageHash, sent.messageHash) !== 0
    if (isOver || signal.aborted || isOther) {
      throw new StorageError('failed', 'the message is not the one that was sent before')
    }
    sealing = write(session, entry, {
      state: 'sending',
      attempts: entry.attempts + 1,
      sent: last === undefined ? [...entry.sent, sent] : entry.sent
    })
    await sealing
    return proof
  }

  const ageMs = settings.now() - Number(timestamp / NANOSECONDS_PER_MS)
  let result: Result
  try {
    result = await components.lightPush.push(
      { ...message, timestamp },
      {
        pubsubTopic: last?.pubsubTopic ?? entry.pubsubTopic,
        proof: seal,
        signal,
        timeoutMs: Math.max(MIN_PUSH_MS, FRESH_MS - Math.max(0, ageMs))
      }
    )
  } catch (error) {
    signal.throwIfAborted()
    result = { status: 'failed', attempts: [], error } // it rejects only if nothing left
  }
  // A write under way is waited for, so that the next one comes after it; one that has not begun does not begin.
  isOver = true
  await sealing?.catch(() => {})
  return result
}

interface Outcome {
  /** Whether a failure would come again. */
  readonly isPermanent: boolean
  readonly why: Pick<EntryChange, 'reason' | 'statusCode' | 'detail'>
}

function toOutcome({ status, attempts, error }: Result): Outcome {
  const told = attempts.findLast((attempt) => attempt.status === status)
  const isInvalid =
    hasErrorCode(error, 'ERR_INVALID_ARGUMENT') || hasErrorCode(error, 'ERR_MESSAGE_TOO_LARGE')
  return {
    isPermanent: isInvalid || (attempts.length > 0 && attempts.every(isRefusal)),
    why: {
      reason: told?.reason ?? (isInvalid ? 'invalid' : 'not-sent'),
      statusCode: told?.statusCode,
      detail: toDetail(told?.statusDesc ?? error)
    }
  }
}

/** A refusal of the older protocol has no code, and is one by its text. */
function isRefusal({ reason, statusCode }: Pick<PushVerdict, 'reason' | 'statusCode'>): boolean {
  return reason === 'refused' && PERMANENT.includes(statusCode)
}

function toDetail(told: unknown): string | undefined {
  const text = told instanceof Error ? told.message : told
  return typeof text === 'string' ? text.slice(0, MAX_DETAIL) : undefined
}

/** Longest text of a node that is kept, in characters. */
const MAX_DETAIL = 500
