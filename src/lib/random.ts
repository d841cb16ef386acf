import { toHex } from './bytes.ts'

/** A request id that tells nothing and repeats never: 20 hexadecimal digits of fresh randomness. */
export function createRequestId(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(10)))
}
