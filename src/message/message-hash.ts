import { sha256 } from '@noble/hashes/sha2.js'
import { encodeText } from '../lib/bytes.ts'

/** What the hash is made of; any message fits. */
export interface HashedFields {
  readonly payload: Uint8Array
  readonly contentTopic: string
  readonly meta?: Uint8Array
  /** Nanoseconds. */
  readonly timestamp?: bigint
}

/** Length of a message hash, in bytes. */
export const MESSAGE_HASH_BYTES = 32

/**
 * The deterministic message hash: SHA-256 over pubsub topic, payload, content topic, meta and timestamp (8 bytes, big-endian,
 * two's complement). `version`, `ephemeral` and the proof are not part of it.
 *
 * A message without a timestamp is hashed with eight zero bytes, as both reference nodes do; clients of this package always
 * set one.
 *
 * @returns 32 bytes
 * @see 14/WAKU2-MESSAGE, deterministic message hashing
 */
export function messageHash(pubsubTopic: string, message: HashedFields): Uint8Array<ArrayBuffer> {
  const timestamp = new Uint8Array(8)
  new DataView(timestamp.buffer).setBigInt64(0, message.timestamp ?? 0n)
  const hash = sha256
    .create()
    .update(encodeText(pubsubTopic))
    .update(message.payload)
    .update(encodeText(message.contentTopic))
  if (message.meta !== undefined) {
    hash.update(message.meta)
  }
  return hash.update(timestamp).digest()
}
