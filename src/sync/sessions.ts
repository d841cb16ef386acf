import { withDeadline } from '../lib/deadline.ts'
import { fromMilliseconds } from '../lib/time.ts'
import type { SyncContext } from './context.ts'
import { leave, type Opened, readPayload, reconcile, toOptions } from './driver.ts'
import type { Frames } from './frames.ts'
import { Intake } from './intake.ts'
import { fetchMessages, sendMessages } from './moving.ts'
import type { SyncResult, Tell } from './progress.ts'
import { type SyncWindow, servedWindow } from './window.ts'

/** The signal and deadline of a session, and who is told what happens in it. */
export interface SessionCall {
  readonly signal: AbortSignal
  readonly timeoutMs?: number
  readonly tell: Tell
}

/** How far ahead of ours a clock may be whose peer asks for a session. */
const AHEAD_MS = 60_000

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
      await runSession(context, peerId, window, context, { frames, opening })
    }
  } catch (error) {
    await leave(frames, error, signal)
  } finally {
    served.delete(peerId)
  }
}

/**
 * Runs a session, which a peer opened or else we open.
 *
 * @throws {@link UnsupportedError}, {@link ConnectionError}, {@link TimeoutError}, {@link ProtocolViolationError},
 * {@link InvalidMessageError}, {@link LimitExceededError}, what the archive throws, or the signal's own reason
 */
export async function runSession(
  context: SyncContext,
  peerId: string,
  window: SyncWindow,
  call: SessionCall,
  opened?: Opened
): Promise<SyncResult> {
  const { settings, holdings, intakes } = context
  const { tell } = call
  const role = opened === undefined ? 'initiator' : 'responder'
  const intake = new Intake({ settings, holdings, peerId, window, tell })
  intakes.add(intake)
  try {
    return await withDeadline('sync', call, settings.timeoutMs, async (signal) => {
      tell({ type: 'sync:start', detail: { peerId, role, window } })
      const { toSend, outcome, ...costs } = await reconcile(context, intake, opened, signal)
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
        ...costs,
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
    intake.untilMs = settings.now() + settings.lateTransferMs
  }
}
