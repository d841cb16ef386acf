import { withDeadline } from '../lib/deadline.ts'
import type { SyncId } from '../wire/sync-payload.ts'
import type { Frames } from './frames.ts'
import type { SyncSettings } from './init.ts'
import type { SyncOutcome, SyncSession } from './sync-session.ts'

/** What the sides found out. */
export interface Reconciliation {
  /** Absent if the peer closed the stream before the end, or enough differences were found. */
  readonly outcome: SyncOutcome | undefined
  /** Payloads that came from the peer. */
  readonly rounds: number
  readonly toSend: readonly SyncId[]
  readonly toFetch: readonly SyncId[]
}

/**
 * Reads a payload; undefined if the peer closed the stream.
 *
 * @throws {@link TimeoutError} if it takes too long, what the stream throws, or the signal's own reason
 */
export async function readPayload(
  frames: Pick<Frames, 'read'>,
  { replyTimeoutMs }: Pick<SyncSettings, 'replyTimeoutMs'>,
  signal: AbortSignal
): Promise<Uint8Array | undefined> {
  return await withDeadline('sync reply', { signal }, replyTimeoutMs, (within) =>
    frames.read(within)
  )
}

/**
 * Talks over a stream until a session is over; the stream is the caller's to close. It ends early after `maxMessages`
 * differences: who lists the same ones again and again must not fill our memory.
 *
 * @param opening - the peer's first payload, for a responder; an initiator opens the session
 * @throws as {@link readPayload}, and what {@link SyncSession.process} throws
 */
export async function reconcile(
  frames: Pick<Frames, 'read' | 'write'>,
  session: SyncSession,
  opening: Uint8Array | undefined,
  settings: Pick<SyncSettings, 'replyTimeoutMs' | 'maxMessages'>,
  onRound: (rounds: number) => void,
  signal: AbortSignal
): Promise<Reconciliation> {
  let toSend: readonly SyncId[] = []
  let toFetch: readonly SyncId[] = []
  let rounds = 0
  let outcome: SyncOutcome | undefined
  if (opening === undefined) {
    await frames.write(session.open(), signal)
  }
  let payload = opening ?? (await readPayload(frames, settings, signal))
  while (payload !== undefined) {
    const step = session.process(payload)
    onRound(++rounds)
    toSend = [...toSend, ...step.toSend]
    toFetch = [...toFetch, ...step.toFetch]
    if (step.reply !== undefined) {
      await frames.write(step.reply, signal)
    }
    outcome = step.outcome
    const isOver = outcome !== undefined || toSend.length + toFetch.length >= settings.maxMessages
    payload = isOver ? undefined : await readPayload(frames, settings, signal)
  }
  return { outcome, rounds, toSend, toFetch }
}
