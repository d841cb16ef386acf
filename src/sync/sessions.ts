import { hasErrorCode, ProtocolViolationError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import { fromMilliseconds } from '../lib/time.ts'
import { RECONCILIATION_PROTOCOL } from '../wire/sync.ts'
import type { SyncContext } from './context.ts'
import { type Reconciliation, readPayload, reconcile } from './driver.ts'
import { createFrames, type Frames } from './frames.ts'
import type { SyncSettings } from './init.ts'
import { Intake } from './intake.ts'
import { fetchMessages, sendMessages } from './moving.ts'
import { isReference, openStream } from './peers.ts'
import type { SyncResult, SyncRole, Tell } from './progress.ts'
import { type SyncLayout, toScope } from './scope.ts'
import {
  REFERENCE_NODE_OPTIONS,
  SYNC_SESSION_DEFAULTS,
  SyncSession,
  type SyncSessionOptions
} from './sync-session.ts'
import { type SyncWindow, servedWindow } from './window.ts'

/** The signal and deadline of a session, and who is told what happens in it. */
export interface SessionCall {
  readonly signal: AbortSignal
  readonly timeoutMs?: number
  readonly tell: Tell
}

/** How far ahead of ours a clock may be whose peer asks for a session. */
const AHEAD_MS = 60_000

/**
 * Opens a session; once more in the older layout with a peer that does not answer to the newer.
 *
 * @throws {@link UnsupportedError}, {@link ConnectionError}, {@link TimeoutError}, {@link ProtocolViolationError},
 * {@link InvalidMessageError}, {@link LimitExceededError}, or the signal's own reason
 */
export async function initiate(
  context: SyncContext,
  peerId: string,
  window: SyncWindow,
  call: SessionCall
): Promise<SyncResult> {
  const { node, settings } = context
  return await run(context, 'initiator', peerId, window, call, async function* (signal) {
    for (const layout of ['topics', 'shards'] as const) {
      if (toScope(settings, layout) !== undefined) {
        const stream = await openStream(node, peerId, RECONCILIATION_PROTOCOL, signal)
        yield { frames: createFrames(stream, toOptions(settings).maxPayloadBytes), layout }
      }
    }
  })
}

/** Answers a session that a peer opened, unless there are too many. Never rejects. */
export async function respond(context: SyncContext, frames: Frames, peerId: string): Promise<void> {
  const { settings, served, signal } = context
  if (served.has(peerId) || served.size >= settings.maxServedSessions) {
    return
  }
  served.add(peerId)
  try {
    const opening = await readPayload(frames, settings, signal)
    if (opening !== undefined) {
      const nowMs = settings.now()
      const all = {
        timeStart: fromMilliseconds(nowMs - settings.servedRangeMs),
        timeEnd: fromMilliseconds(nowMs + AHEAD_MS)
      }
      const window = servedWindow(opening, all, toOptions(settings))
      await run(context, 'responder', peerId, window, context, () => [{ frames, opening }])
    }
  } catch (error) {
    await leave(frames, error, signal)
  } finally {
    served.delete(peerId)
  }
}

/** A stream to reconcile on: with what the peer opened it, or the layout in which we open it. */
interface Talk {
  readonly frames: Frames
  readonly opening?: Uint8Array
  readonly layout?: SyncLayout
}

/** Runs a session on the first stream on which the peer says something. */
async function run(
  context: SyncContext,
  role: SyncRole,
  peerId: string,
  window: SyncWindow,
  call: SessionCall,
  talks: (signal: AbortSignal) => AsyncIterable<Talk> | Iterable<Talk>
): Promise<SyncResult> {
  const { settings, holdings, node, intakes } = context
  const { tell } = call
  const intake = new Intake({ settings, holdings, peerId, window, tell })
  intakes.add(intake)
  try {
    return await withDeadline('sync', call, settings.timeoutMs, async (signal) => {
      tell({ type: 'sync:start', detail: { peerId, role, window } })
      const options = toOptions(settings, await isReference(node, peerId))
      const index = await holdings.select(window, signal)
      let [sentBytes, receivedBytes] = [0, 0]
      let found: Reconciliation | undefined
      for await (const { frames, opening, layout } of talks(signal)) {
        const session = new SyncSession({ index, filter: settings, window, layout, options })
        const onRound = (rounds: number): void =>
          tell({ type: 'sync:round', detail: { peerId, rounds } })
        try {
          found = await reconcile(frames, session, opening, settings, onRound, signal)
          intake.settle(found.toFetch, found.outcome !== undefined)
          await frames.close(signal)
        } catch (error) {
          await leave(frames, error, signal)
          throw error
        } finally {
          sentBytes += frames.sentBytes
          receivedBytes += frames.receivedBytes
        }
        if (found.rounds > 0) {
          break
        }
      }
      if (!found?.rounds) {
        throw new ProtocolViolationError('no-answer', 'the peer gave no answer', peerId)
      }
      const { toSend, rounds, outcome } = found
      const [sent] = await Promise.all([
        sendMessages(context, peerId, toSend, signal),
        intake.wait(signal)
      ])
      await fetchMessages(context, intake, signal)
      const [missing, unsent] = [intake.missing.length, toSend.length - sent]
      const result: SyncResult = {
        peerId,
        role,
        window,
        outcome: outcome === undefined || missing + unsent > 0 ? 'partial' : outcome,
        rounds,
        sentBytes,
        receivedBytes,
        received: intake.received,
        sent,
        missing,
        unsent
      }
      tell({ type: 'sync:end', detail: result })
      return result
    })
  } catch (error) {
    tell({ type: 'sync:failed', detail: { peerId, error } })
    throw error
  } finally {
    intake.isActive = false
    intake.untilMs = settings.now() + settings.lateTransferMs
  }
}

/** Ends a stream: without an answer where the peer breaks the rules, as it knows no other sign. */
async function leave(frames: Frames, error: unknown, signal: AbortSignal): Promise<void> {
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
