import { createHash } from 'node:crypto'
import { messageHash, type WakuMessage } from 'waku-light/message'

/** What the archive keeps of a message. */
export interface ArchivedMessage {
  /** Message hash, 32 bytes. */
  readonly hash: Uint8Array
  /** Unix time in nanoseconds, as the sender set it. */
  readonly timestamp: bigint
  /** Unix time in seconds at which the node got it, as a 32-bit float. */
  readonly receivedTime: number
  /** SHA-256 over content topic and payload: the digest of the older store generations, 32 bytes. */
  readonly digest: Uint8Array
  readonly pubsubTopic: string
  readonly contentTopic: string
  /** The encoded WakuMessage as it came, returned verbatim. */
  readonly encoded: Uint8Array
}

/** How far from the node's clock a timestamp may be for its message to be archived, in nanoseconds. */
const ARCHIVE_WINDOW_NS = 20_000_000_000n

/** True if a message is to be archived: not ephemeral, with a timestamp near the node's clock (13/WAKU2-STORE). */
export function isArchivable(message: WakuMessage, now: bigint): boolean {
  const { timestamp = 0n } = message
  const distance = timestamp > now ? timestamp - now : now - timestamp
  return isStorable(message) && distance <= ARCHIVE_WINDOW_NS
}

/** True if a message may be in an archive at all: not ephemeral, with a timestamp. */
export function isStorable({ ephemeral, timestamp = 0n }: WakuMessage): boolean {
  return ephemeral !== true && timestamp !== 0n
}

/**
 * The archive's row for a message.
 *
 * @param message - decoded from `encoded`
 * @param now - the node's clock, nanoseconds
 */
export function toArchivedMessage(
  pubsubTopic: string,
  message: WakuMessage,
  encoded: Uint8Array,
  now: bigint
): ArchivedMessage {
  return {
    hash: messageHash(pubsubTopic, message),
    timestamp: message.timestamp ?? 0n,
    receivedTime: Math.fround(Number(now) / 1e9),
    digest: createHash('sha256').update(message.contentTopic).update(message.payload).digest(),
    pubsubTopic,
    contentTopic: message.contentTopic,
    encoded
  }
}
