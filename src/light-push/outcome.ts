import { hasErrorCode, RemoteStatusError } from '../errors.ts'

/**
 * What is known of a message after a push.
 *
 * - `published`: a node accepted it and relayed it to at least one peer, or says that it already has it.
 * - `failed`: nothing can have left; an application may send it anew.
 * - `unknown`: it may be out. Only the identical bytes may be sent again.
 */
export type PushStatus = 'published' | 'unknown' | 'failed'

/** Why an attempt ended as it did. */
export type PushReason =
  /** The node accepted it. */
  | 'accepted'
  /** The node says that it had it already, and another try of the same push may have brought it there. */
  | 'already-seen'
  /** The node has no relay peers, or says that it relayed to none; it may hold the message itself. */
  | 'not-relayed'
  /** The node refused it. */
  | 'refused'
  /** The node refuses for now, because there were too many requests. */
  | 'rate-limited'
  /** The request may have left, and no answer came that can be trusted, or whose meaning is known. */
  | 'no-answer'
  /** The request did not leave. */
  | 'not-sent'

/** What one node made of a push. */
export interface PushVerdict {
  readonly status: PushStatus
  readonly reason: PushReason
  /** The node's status code, known or not; undefined for the older protocol, which has none. */
  readonly statusCode?: number
  /** The node's own words. */
  readonly statusDesc?: string
  /** To how many relay peers the node handed it; undefined if it does not say. */
  readonly relayPeerCount?: number
}

/** One try at one node. */
export interface PushAttempt extends PushVerdict {
  /** The service node; its address where the peer id is not known. */
  readonly peerId: string
  /** The protocol that was spoken; undefined if it did not come to that. */
  readonly protocol?: string
  /** When the try began, in milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  readonly durationMs: number
  /** What went wrong, where there was no answer to read: an error of this package, or the reason of the caller's abort. */
  readonly error?: unknown
}

/** What is known of a message before its first byte leaves. */
export interface SealedMessage {
  /** 32 bytes. */
  readonly messageHash: Uint8Array<ArrayBuffer>
  /** The pubsub topic it is sent on. */
  readonly pubsubTopic: string
  /** In nanoseconds: that of the caller, or the one that was set. */
  readonly timestamp: bigint
}

/** What became of a push. What is in {@link SealedMessage} is missing only where it did not come to that: nothing was sent. */
export interface PushResult extends Partial<SealedMessage> {
  readonly status: PushStatus
  /**
   * What a store node says of it, with `confirm: 'stored'`; `false` if it said no each time, `'unknown'` if there was no
   * answer, or no time for one. Left out if it was not asked.
   */
  readonly stored?: boolean | 'unknown'
  /** The largest count that a node told. */
  readonly relayPeerCount?: number
  /** Every try, in the order in which they ended. */
  readonly attempts: readonly PushAttempt[]
  /** What ended the push before all was done: its deadline, an abort, or that no node could be used. */
  readonly error?: unknown
}

/** What is known of a message for each reason. */
const STATUSES: Readonly<Record<PushReason, PushStatus>> = {
  accepted: 'published',
  'already-seen': 'published',
  'not-relayed': 'unknown',
  refused: 'failed',
  'rate-limited': 'failed',
  'no-answer': 'unknown',
  'not-sent': 'failed'
}

/** A verdict of that reason. */
export function verdictOf(reason: PushReason): PushVerdict {
  return { status: STATUSES[reason], reason }
}

/** What several tries amount to: the best that is known, and `failed` only if each of them certainly did nothing. */
export function summarize(attempts: readonly PushVerdict[]): PushStatus {
  for (const status of ['published', 'unknown'] as const) {
    if (attempts.some((attempt) => attempt.status === status)) {
      return status
    }
  }
  return 'failed'
}

/** Codes of a refusal that another time may bring another answer to. */
const PASSING: readonly unknown[] = [500, 504]

/** True for what stays wrong with a node. */
export function isLasting(error: unknown): boolean {
  return hasErrorCode(
    error,
    'ERR_ADDRESS',
    'ERR_CLUSTER_MISMATCH',
    'ERR_INVALID_ARGUMENT',
    'ERR_UNSUPPORTED'
  )
}

/** True if the node is not to be asked again: it has the message, will never take it, or cannot. */
export function isFinal({
  status,
  reason,
  statusCode,
  error
}: PushVerdict & Pick<PushAttempt, 'error'>): boolean {
  return (
    status === 'published' ||
    (reason === 'refused' && !PASSING.includes(statusCode)) ||
    (reason === 'not-sent' && isLasting(error))
  )
}

/** What speaks against a node that gave an answer, not against the message; undefined if nothing does. */
export function toFault(
  verdict: PushVerdict,
  requestId: string,
  peerId: string
): Error | undefined {
  const { reason, statusCode = 0, statusDesc = '' } = verdict
  const code = reason === 'rate-limited' ? 429 : statusCode
  return isFinal(verdict)
    ? undefined
    : new RemoteStatusError({ statusCode: code, statusDesc, requestId, peerId })
}

const SEEN_BEFORE = /already (seen|known|received)|duplicate message/i

/** True if the node says that it had the message already. */
export function isSeenBefore({ status, statusDesc = '' }: PushVerdict): boolean {
  return status !== 'published' && SEEN_BEFORE.test(statusDesc)
}
