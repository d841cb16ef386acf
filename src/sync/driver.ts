import { withDeadline } from '../lib/deadline.ts'
import type { SyncId } from '../wire/sync-payload.ts'
import type { Frames } from './frames.ts'
import type { SyncOutcome, SyncSession } from './sync-session.ts'

/** How {@link reconcile} goes about it. */
export interface ReconcileInit {
  readonly frames: Pick<Frames, 'read' | 'write'>
  readonly session: SyncSession
  /** The first payload of an initiator; absent for a responder. */
  readonly first?: Uint8Array | undefined
  /** The peer's first payload, where it has been read already. */
  readonly opening?: Uint8Array | undefined
  /** For each payload of the peer, in milliseconds. */
  readonly replyTimeoutMs: number
  readonly onRound: (rounds: number) => void
}

/** What the sides found out. */
export interface Reconciliation {
  /** `unanswered`: the peer closed the stream before the end. */
  readonly outcome: SyncOutcome | 'unanswered'
  readonly rounds: number
  readonly toSend: readonly SyncId[]
  readonly toFetch: readonly SyncId[]
}

/**
 * Talks over a stream until a session is over; the stream is the caller's to close.
 *
 * @throws {@link TimeoutError} if a payload takes too long, what {@link SyncSession.process} and the stream throw, or the
 * signal's own reason
 */
export async function reconcile(
  { frames, session, first, opening, replyTimeoutMs, onRound }: ReconcileInit,
  signal: AbortSignal
): Promise<Reconciliation> {
  let toSend: readonly SyncId[] = []
  let toFetch: readonly SyncId[] = []
  let outcome: Reconciliation['outcome'] | undefined
  let [reply, received] = [first, opening]
  for (let rounds = 0; ; ) {
    if (reply !== undefined) {
      await frames.write(reply, signal)
    }
    if (outcome !== undefined) {
      return { outcome, rounds, toSend, toFetch }
    }
    received ??= await withDeadline('sync reply', { signal }, replyTimeoutMs, (within) =>
      frames.read(within)
    )
    if (received === undefined) {
      return { outcome: 'unanswered', rounds, toSend, toFetch }
    }
    const step = session.process(received)
    onRound(++rounds)
    toSend = [...toSend, ...step.toSend]
    toFetch = [...toFetch, ...step.toFetch]
    reply = step.reply
    outcome = step.outcome
    received = undefined
  }
}
