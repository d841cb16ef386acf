import type { ArchivePosition } from './archive.ts'
import { timeOf } from './entries.ts'

const TIME_BYTES = 8
const KEY_BYTES = 40
/** Oldest time there is. */
export const MIN_TIME: bigint = -(2n ** 63n)
/** Later than every time there is. */
export const MAX_TIME: bigint = 2n ** 63n

/**
 * A place in the order as a database key: the time, big-endian with its sign bit flipped, then the hash. A BigInt is no key.
 *
 * @returns 40 bytes, which sort as the places do
 */
export function toKey(position: ArchivePosition): Uint8Array<ArrayBuffer> {
  const key = toTimeKey(timeOf(position))
  key.set(position.messageHash, TIME_BYTES)
  return key
}

/** What sorts before every key of a time, and after all of the times before; a time that is out of range counts as the nearest. */
export function toTimeKey(time: bigint): Uint8Array<ArrayBuffer> {
  if (time >= MAX_TIME) {
    return new Uint8Array(KEY_BYTES).fill(0xff)
  }
  const key = new Uint8Array(KEY_BYTES)
  new DataView(key.buffer).setBigInt64(0, time < MIN_TIME ? MIN_TIME : time)
  key[0] = (key[0] as number) ^ 0x80
  return key
}

/** The key that sorts the other way round. Databases read many records at once in one direction only. */
export function invertKey(key: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(key, (byte) => byte ^ 0xff)
}
