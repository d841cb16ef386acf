import { MESSAGE_HASH_BYTES } from 'waku-light/message'
import type { ArchiveKey } from '../archive/order.ts'

const DIGEST_BYTES = 32

/**
 * The digest to write into a cursor of the older generations.
 *
 * It is the plain one of the last message, unless the next message has the same time and digest: then it is followed by
 * the message hash. Equal content is not rare there (a float of seconds holds two minutes), and without it the rest of the
 * equal messages would be skipped. Clients send a cursor back as it is.
 */
export function cursorDigest(
  last: ArchiveKey,
  next: ArchiveKey | undefined
): Uint8Array<ArrayBuffer> {
  const { time, digest = new Uint8Array(), hash = new Uint8Array() } = last
  const isTie =
    next?.digest !== undefined && next.time === time && Buffer.compare(next.digest, digest) === 0
  return isTie ? Uint8Array.of(...digest, ...hash) : Uint8Array.from(digest)
}

/** Digest and, where the cursor has it, hash; undefined if it is not of this node's making. */
export function readCursorDigest(
  bytes: Uint8Array
): { digest: Uint8Array; hash?: Uint8Array } | undefined {
  if (bytes.length === DIGEST_BYTES) {
    return { digest: bytes }
  }
  return bytes.length === DIGEST_BYTES + MESSAGE_HASH_BYTES
    ? { digest: bytes.subarray(0, DIGEST_BYTES), hash: bytes.subarray(DIGEST_BYTES) }
    : undefined
}
