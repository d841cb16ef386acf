import { sha256 } from '@noble/hashes/sha2.js'
import { compareBytes, encodeText } from '../lib/bytes.ts'
import type { WakuMessage } from '../message/message.ts'

/** The digest by which both legacy generations order messages of one time: SHA-256 over content topic and payload. */
export function legacyDigest({ contentTopic, payload }: WakuMessage): Uint8Array<ArrayBuffer> {
  return sha256.create().update(encodeText(contentTopic)).update(payload).digest()
}

/** True if both are there and are the same bytes. */
export function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && compareBytes(a, b) === 0
}
