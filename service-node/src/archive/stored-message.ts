import type { StoredMessage } from 'waku-light/store'
import { decodeWakuMessage, encodeWakuMessage } from 'waku-light/wire'
import { type ArchivedMessage, toArchivedMessage } from './archived-message.ts'
import type { PageRow } from './page-reader.ts'

/**
 * The archive's row for a message that came from another archive; its hash is computed anew.
 *
 * @param now - the node's clock, nanoseconds
 */
export function fromStoredMessage(
  { messageHash: _hash, pubsubTopic, ...message }: StoredMessage,
  now: bigint
): ArchivedMessage {
  return toArchivedMessage(pubsubTopic, message, encodeWakuMessage(message), now)
}

/** The message of a row with data; undefined for one without. */
export function toStoredMessage({
  hash,
  message,
  pubsubTopic
}: PageRow): StoredMessage | undefined {
  return hash === undefined || message === undefined || pubsubTopic === undefined
    ? undefined
    : { ...decodeWakuMessage(message), messageHash: Uint8Array.from(hash), pubsubTopic }
}
