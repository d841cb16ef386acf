import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { InvalidArgumentError } from '../errors.ts'

/** Lower-case hexadecimal text of some bytes. */
export function toHex(bytes: Uint8Array): string {
  return bytesToHex(bytes)
}

/**
 * Bytes of hexadecimal text, upper or lower case.
 *
 * @throws {@link InvalidArgumentError} for anything but an even number of hexadecimal digits
 */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  if (typeof text !== 'string' || text.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(text)) {
    throw new InvalidArgumentError('text', 'must be an even number of hexadecimal digits')
  }
  return hexToBytes(text)
}

/** Negative, zero or positive as `a` sorts before, with, or after `b`, byte by byte. */
export { compare as compareBytes } from 'uint8arrays/compare'

/** A copy, which a caller that changes its bytes does not change; what is no bytes is left for a check to find. */
export function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes instanceof Uint8Array ? new Uint8Array(bytes) : bytes
}

const encoder = /* @__PURE__ */ new TextEncoder()

/** The UTF-8 bytes of text. */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
