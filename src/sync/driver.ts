import { hasErrorCode, ProtocolViolationError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import { RECONCILIATION_PROTOCOL } from '../wire/sync.ts'
import type { SyncId } from '../wire/sync-payload.ts'
import type { SyncContext } from './context.ts'
import type { Frames } from './frames.ts'
import type { SyncSettings } from './init.ts'
import type { Intake } from './intake.ts'
import { isReference, openFrames } from './peers.ts'
import type { SyncResult } from './progress.ts'
import { toScope } from './scope.ts'
import {
  REFERENCE_NODE_OPTIONS,
  SYNC_SESSION_DEFAULTS,
  type SyncOutcome,
  SyncSession,
  type SyncSessionOptions
} from './sync-session.ts'

/** The stream that a peer opened, and what it said on it. */
export interface Opened {
  readonly frames: Frames
  readonly opening: Uint8Array
}

/** What the sides found out, and what it took. */
export interface Reconciliation extends Pick<SyncResult, 'rounds' | 'sentBytes' | 'receivedBytes'> {
  /** Absent if the peer closed the stream before the end, or enough differences were found. */
  readonly outcome: SyncOutcome | undefined
  readonly toSend: readonly SyncId[]
}

/**
 * Reads a payload; undefined if the peer closed the stream.
 *
 * @throws {@link TimeoutError} if it takes too long, what the stream throws, or the signal's own reason
 */
export async function readPayload(
  frames: Frames,
  { replyTimeoutMs }: SyncSettings,
  signal: AbortSignal
): Promise<Uint8Array | undefined> {
  return await withDeadline('sync reply', { signal }, replyTimeoutMs, (within) =>
    frames.read(within)
  )
}

/**
 * Talks until a session is over, and tells the intake what is missing: on the stream that the peer opened, or on ours, once more
 * in the older layout with a peer that does not answer to the newer. It ends early after `maxMessages` differences: who lists
 * the same ones again and again must not fill our memory.
 *
 * @throws {@link ProtocolViolationError} with the detail `no-answer`, as {@link readPayload}, {@link openFrames} and
 * {@link SyncSession.process}, or what the archive throws
 */
export async function reconcile(
  { settings, holdings, node }: SyncContext,
  intake: Intake,
  opened: Opened | undefined,
  signal: AbortSignal
): Promise<Reconciliation> {
  const { peerId, window, tell } = intake
  const options = toOptions(settings, await isReference(node, peerId))
  const index = await holdings.select(window, signal)
  let toSend: readonly SyncId[] = []
  let toFetch: readonly SyncId[] = []
  let [rounds, sentBytes, receivedBytes] = [0, 0, 0]
  for (const layout of ['topics', 'shards'] as const) {
    if (toScope(settings, layout) === undefined) {
      break
    }
    const session = new SyncSession({ index, filter: settings, window, layout, options })
    const { maxPayloadBytes } = options
    const frames =
      opened?.frames ??
      (await openFrames(node, peerId, RECONCILIATION_PROTOCOL, maxPayloadBytes, signal))
    let outcome: SyncOutcome | undefined
    try {
      if (opened === undefined) {
        await frames.write(session.open(), signal)
      }
      let payload = opened?.opening ?? (await readPayload(frames, settings, signal))
      while (payload !== undefined) {
        const step = session.process(payload)
        tell({ type: 'sync:round', detail: { peerId, rounds: ++rounds } })
        toSend = [...toSend, ...step.toSend]
        toFetch = [...toFetch, ...step.toFetch]
        if (step.reply !== undefined) {
          await frames.write(step.reply, signal)
        }
        outcome = step.outcome
        const isOver =
          outcome !== undefined || toSend.length + toFetch.length >= settings.maxMessages
        payload = isOver ? undefined : await readPayload(frames, settings, signal)
      }
      intake.settle(toFetch, outcome !== undefined)
      await frames.close(signal)
    } catch (error) {
      await leave(frames, error, signal)
      throw error
    }
    sentBytes += frames.sentBytes
    receivedBytes += frames.receivedBytes
    if (rounds > 0) {
      return { outcome, rounds, sentBytes, receivedBytes, toSend }
    }
  }
  throw new ProtocolViolationError('no-answer', 'no answer', peerId)
}

/** Ends a stream: without an answer where the peer breaks the rules, as it knows no other sign. */
export async function leave(frames: Frames, error: unknown, signal: AbortSignal): Promise<void> {
  if (hasErrorCode(error, 'ERR_INVALID_MESSAGE', 'ERR_PROTOCOL_VIOLATION', 'ERR_LIMIT_EXCEEDED')) {
    await frames.close(signal)
  } else {
    frames.abort()
  }
}

/** How a session goes about it, by what the peer is. */
export function toOptions({ session }: SyncSettings, isReferenceNode = false): SyncSessionOptions {
  return {
    ...SYNC_SESSION_DEFAULTS,
    ...(isReferenceNode ? REFERENCE_NODE_OPTIONS : undefined),
    ...session
  }
}
