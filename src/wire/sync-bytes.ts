import { InvalidArgumentError, InvalidMessageError } from '../errors.ts'

/** The largest time that nine varint bytes hold; the reference node reads no more of them. */
const MAX_SYNC_TIME = 2n ** 63n - 1n

const MAX_VARINT_BYTES = 9
const HASH_BYTES = 32

/** Reads a payload of Waku Sync from its start to its end. */
export class SyncReader {
  #position = 0

  constructor(readonly bytes: Uint8Array) {}

  /** Bytes not read yet. */
  get remaining(): number {
    return this.bytes.length - this.#position
  }

  /** The next byte. */
  byte(what: string): number {
    const byte = this.bytes[this.#position]
    if (byte === undefined) {
      throw new InvalidMessageError(`${what} is truncated`)
    }
    this.#position++
    return byte
  }

  /** The next bytes: a view, not a copy. */
  view(length: number, what: string): Uint8Array {
    if (length > this.remaining) {
      throw new InvalidMessageError(`${what} is truncated`)
    }
    const start = this.#position
    this.#position += length
    return this.bytes.subarray(start, this.#position)
  }

  /** The next 32 bytes: a copy, so that a hash that is kept does not keep its frame. */
  hash(what: string): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view(HASH_BYTES, what))
  }

  /** The next varint, of at most nine bytes and no longer than it need be. */
  varint(what: string): bigint {
    let low = 0
    let high = 0
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = this.byte(what)
      if (index < 4) {
        low += (byte & 0x7f) * 2 ** (7 * index)
      } else {
        high += (byte & 0x7f) * 2 ** (7 * index - 28)
      }
      if (byte < 0x80) {
        if (byte === 0 && index > 0) {
          throw new InvalidMessageError(`${what} is an overlong varint`)
        }
        return high === 0 ? BigInt(low) : (BigInt(high) << 28n) | BigInt(low)
      }
    }
    throw new InvalidMessageError(`${what} is longer than ${MAX_VARINT_BYTES} bytes`)
  }

  /** As {@link varint}, for a count, a length or a number: anything over 53 bits comes back as `Infinity`. */
  count(what: string): number {
    const value = this.varint(what)
    return value > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(value)
  }

  /** The next varint as a step from a time. */
  time(previous: bigint, what: string): bigint {
    const time = previous + this.varint(what)
    if (time > MAX_SYNC_TIME) {
      throw new InvalidMessageError(`${what} exceeds 63 bits`)
    }
    return time
  }
}

/** Writes a payload of Waku Sync. */
export class SyncWriter {
  #bytes = new Uint8Array(256)
  #length = 0

  /** One byte. */
  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  /** Bytes as they are. */
  view(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** A hash or a fingerprint. */
  hash(bytes: Uint8Array, parameter: string): void {
    if (bytes.length !== HASH_BYTES) {
      throw new InvalidArgumentError(parameter, `must have ${HASH_BYTES} bytes`)
    }
    this.view(bytes)
  }

  /** A number from 0 on. */
  varint(value: bigint | number): void {
    let rest = BigInt(value)
    while (rest > 0xfffffffn) {
      this.byte(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    let low = Number(rest)
    while (low > 0x7f) {
      this.byte((low & 0x7f) | 0x80)
      low >>>= 7
    }
    this.byte(low)
  }

  /** What was written, in a buffer of its own. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length)
  }

  #reserve(length: number): void {
    if (this.#length + length > this.#bytes.length) {
      const grown = new Uint8Array(2 * (this.#length + length))
      grown.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = grown
    }
  }
}

/** Throws unless a time can be written so that every peer reads it. */
export function assertSyncTime(time: bigint, parameter: string): void {
  if (typeof time !== 'bigint' || time < 0n || time > MAX_SYNC_TIME) {
    throw new InvalidArgumentError(parameter, 'must be a bigint from 0 to 2^63 - 1')
  }
}
