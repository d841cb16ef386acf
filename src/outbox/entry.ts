import type { PushReason } from '../light-push/outcome.ts'

/**
 * What is known of an entry.
 *
 * - `queued`: it waits; nothing of it can be out.
 * - `sending`: its message is sealed and written down, and may leave at any moment.
 * - `unknown`: it may be out, or not. It is looked up before it is sent again, and then with identical bytes.
 * - `published`: a service node took it and relayed it. The end, unless `stored` was asked for.
 * - `stored`: a store node has it. The end.
 * - `rejected`: every node asked refuses it for good; sending it again does not help. The end.
 * - `expired`: it was given up: too old, or sent and nowhere to be found. The end.
 */
export type OutboxState =
  | 'queued'
  | 'sending'
  | 'unknown'
  | 'published'
  | 'stored'
  | 'rejected'
  | 'expired'

/** Why an entry is in its state, as a stable word. */
export type OutboxReason =
  /** What the last try at a service node came to. */
  | PushReason
  /** The page was closed, or crashed, between the write and the answer. */
  | 'interrupted'
  /** The light push client takes the message for invalid or too large. */
  | 'invalid'
  /** It was sent, and a store node that was asked several times does not have it. */
  | 'absent'
  /** It was sent, no answer came, and there is no store node that could be asked. */
  | 'unconfirmed'
  /** It is older than the outbox keeps trying. */
  | 'too-old'
  /** Its content is no longer in the storage. */
  | 'lost'

/** What makes an entry done. */
export type OutboxConfirmation = 'published' | 'stored'

/** A message as it was sent, or was about to be. Another one of these is another message to the network. */
export interface SentMessage {
  /** 32 bytes. */
  readonly messageHash: Uint8Array
  /** In nanoseconds. */
  readonly timestamp: bigint
  readonly pubsubTopic: string
  /** The rate limit proof it carried; empty if none. */
  readonly proof: Uint8Array
}

/** An entry of the outbox, without its content. What structured cloning takes; never changed, only replaced. */
export interface OutboxEntry {
  /** The caller's, or one that was made up. */
  readonly id: string
  /** Place in the order of the outbox; set by the storage. */
  readonly seq: number
  /** Goes up by one with each change. */
  readonly revision: number
  readonly state: OutboxState
  readonly contentTopic: string
  /** As the caller gave it; left out: derived when it is sent. */
  readonly pubsubTopic?: string
  readonly ephemeral: boolean
  readonly confirm: OutboxConfirmation
  readonly restamp: boolean
  /** Size of the message in bytes, as a service node encodes it. */
  readonly sizeBytes: number
  /** Hexadecimal; tells whether another message was given under the same id. */
  readonly fingerprint: string
  /** In milliseconds since the Unix epoch, as all times here. */
  readonly enqueuedAtMs: number
  /** Pushes that may have left the page. */
  readonly attempts: number
  /** What may be out, the newest last. More than one only with `restamp`. */
  readonly sent: readonly SentMessage[]
  readonly reason?: OutboxReason
  /** The node's status code, where it gave one. */
  readonly statusCode?: number
  /** The node's own words, or those of an error. */
  readonly detail?: string
  /** When it is tried, or looked up, again. */
  readonly nextAttemptAtMs?: number
  /** Set once nothing more will happen. */
  readonly finishedAtMs?: number
}

/** The content of an entry: a message without its timestamp, which is set when it is sent. */
export interface OutboxMessage {
  /** `/{application}/{version}/{name}/{encoding}` */
  readonly contentTopic: string
  /** The content; may be empty. */
  readonly payload: Uint8Array
  /** Part of the message hash; at most 64 bytes. */
  readonly meta?: Uint8Array
  /** How the payload is encrypted; 0, not by Waku, if left out. */
  readonly version?: number
  /** True: relayed, but not stored. Its presence cannot be asked for. */
  readonly ephemeral?: boolean
}

/** A change of an entry. */
export interface OutboxChange {
  readonly entry: OutboxEntry
  /** Undefined for a new entry. */
  readonly previousState: OutboxState | undefined
}

/** True once nothing more will happen to an entry. */
export function isFinished(entry: OutboxEntry): boolean {
  return entry.finishedAtMs !== undefined
}
