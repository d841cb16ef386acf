import { LimitExceededError, ProtocolViolationError } from '../errors.ts'

/** Four bytes of a varint are up to 256 MiB; no protocol here has frames that large. */
const MAX_LENGTH_BYTES = 4

/** The length before a frame. */
export interface FrameLength {
  /** Of the frame, in bytes. */
  readonly length: number
  /** How many bytes the length itself takes. */
  readonly prefixBytes: number
}

/**
 * Reads the length before a frame, a varint. Decoders that come with streams read continuation bytes for as long as a peer
 * sends them.
 *
 * @param bytes - from the length on, as far as they have come
 * @returns undefined while bytes are missing
 * @throws {@link LimitExceededError} for more than `maxBytes`, {@link ProtocolViolationError} for a length that is longer than
 * it need be
 */
export function readLength(bytes: Uint8Array, maxBytes: number): FrameLength | undefined {
  let length = 0
  let prefixBytes = 0
  for (const byte of bytes) {
    if (byte === 0 && prefixBytes > 0) {
      throw new ProtocolViolationError('frame', 'the length of a frame is malformed')
    }
    length += (byte & 0x7f) * 2 ** (7 * prefixBytes++)
    const isOver = byte <= 0x7f
    if (length > maxBytes || (!isOver && prefixBytes === MAX_LENGTH_BYTES)) {
      throw tooLong(maxBytes)
    }
    if (isOver) {
      return { length, prefixBytes }
    }
  }
  return undefined
}

/** What to throw where a peer sends more than it may. */
export function tooLong(maxBytes: number): LimitExceededError {
  return new LimitExceededError(`the peer sent more than ${maxBytes} bytes`, maxBytes)
}
