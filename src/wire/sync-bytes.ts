import { InvalidArgumentError, InvalidMessageError, LimitExceededError } from '../errors.ts'
import { varint, varintEnd } from './fields.ts'

/** The largest time that nine varint bytes hold; the reference node reads no more of them. */
const MAX_SYNC_TIME = 2n ** 63n - 1n

const MAX_VARINT_BYTES = 9

/** Bytes of a hash or a fingerprint. */
export const HASH_BYTES = 32

/** Reads a payload of Waku Sync from its start to its end. */
export class SyncReader {
  #position = 0

  constructor(readonly bytes: Uint8Array) {}

  /** Whether all is read. */
  get isAtEnd(): boolean {
    return this.#position === this.bytes.length
  }

  /** Throws unless so many bytes are left. */
  expect(length: number): void {
    if (length > this.bytes.length - this.#position) {
      throw new InvalidMessageError('a payload is truncated')
    }
  }

  /** The next bytes: a view, not a copy. */
  view(length: number): Uint8Array {
    this.expect(length)
    const start = this.#position
    this.#position += length
    return this.bytes.subarray(start, this.#position)
  }

  /** The next 32 bytes: a copy, so that a hash that is kept does not keep its frame. */
  hash(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view(HASH_BYTES))
  }

  /** The next varint, of at most nine bytes and no longer than it need be. */
  varint(): bigint {
    const { bytes } = this
    const start = this.#position
    return varint(this.view(varintEnd(bytes, start, bytes.length, MAX_VARINT_BYTES) - start))
  }

  /** The next varint as a number, which may be no larger than `max`. */
  number(max: number): number {
    const number = Number(this.varint())
    if (number > max) {
      throw new InvalidMessageError(`a number exceeds ${max}`)
    }
    return number
  }

  /**
   * The next varint, which says how many of something follow.
   *
   * @param before - how many of it were read already
   * @throws {@link LimitExceededError} for more than `limit`, together with those
   */
  count(limit: number, what: string, before = 0): number {
    const count = Number(this.varint())
    assertLimit(before + count, limit, what)
    return count
  }

  /** The next varint as a step from a time. */
  time(previous: bigint): bigint {
    const time = previous + this.varint()
    if (!isSyncTime(time)) {
      throw new InvalidMessageError('a time exceeds 63 bits')
    }
    return time
  }
}

/** Writes a payload of Waku Sync. */
export class SyncWriter {
  #bytes = new Uint8Array(256)
  #length = 0

  /** Bytes as they are. */
  put(bytes: ArrayLike<number>): void {
    const start = this.#length
    this.#length += bytes.length
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#length)
      grown.set(this.#bytes)
      this.#bytes = grown
    }
    this.#bytes.set(bytes, start)
  }

  /** A number from 0 on, as a varint. */
  varint(value: bigint | number): void {
    const bytes: number[] = []
    let rest = BigInt(value)
    for (; rest > 0x7fn; rest >>= 7n) {
      bytes.push(Number(rest & 0x7fn) | 0x80)
    }
    this.put([...bytes, Number(rest)])
  }

  /** What was written, in a buffer of its own. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length)
  }
}

/** Whether a time can be written so that every peer reads it. */
export function isSyncTime(time: bigint): boolean {
  return typeof time === 'bigint' && time >= 0n && time <= MAX_SYNC_TIME
}

/** Throws unless a time can be written so that every peer reads it. */
export function assertSyncTime(time: bigint): void {
  if (!isSyncTime(time)) {
    throw new InvalidArgumentError('timestamp', 'must be a bigint from 0 to 2^63 - 1')
  }
}

/** Throws unless a hash, or a fingerprint, has its length. */
export function assertHash(hash: Uint8Array): void {
  if (hash.length !== HASH_BYTES) {
    throw new InvalidArgumentError('hash', `must have ${HASH_BYTES} bytes`)
  }
}

/** Throws where there is too much of something. */
export function assertLimit(count: number, limit: number, what: string): void {
  if (count > limit) {
    throw new LimitExceededError(`more than ${limit} ${what}`, limit)
  }
}
