import type { Stream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { delay } from '../lib/deadline.ts'

/** The part of a libp2p stream that is written to. */
export type WritableStream = Pick<Stream, 'send' | 'onDrain'>

/** What leaves in one turn of the event loop, in bytes. */
const PIECE_BYTES = 32 * 1024

/**
 * Writes frames, in pieces with a turn of the event loop between them. The receive window of the reference node is 256,000
 * bytes, less than js yamux takes it to be, and what comes beyond it before the node could read ends the whole connection.
 */
export class PacedWriter {
  /** Bytes that were written, lengths included. */
  sentBytes = 0
  readonly #stream: WritableStream
  readonly #freeBytes: number
  #sinceTurn = 0

  /**
   * Writes to a stream.
   *
   * @param freeBytes - what may leave at once, at first
   */
  constructor(stream: WritableStream, freeBytes = 0) {
    this.#stream = stream
    this.#freeBytes = freeBytes
  }

  /**
   * Writes one frame: its length, then itself.
   *
   * @throws what the stream throws once it is broken, or the signal's own reason
   */
  async write(body: Uint8Array, signal?: AbortSignal): Promise<void> {
    const frame = new Uint8ArrayList(encodeLength(body.length), body)
    for (let offset = 0; offset < frame.byteLength; ) {
      if (this.#sinceTurn >= this.#pieceBytes) {
        this.#sinceTurn = 0
        await delay(0, signal)
      }
      signal?.throwIfAborted()
      const end = Math.min(offset + this.#pieceBytes - this.#sinceTurn, frame.byteLength)
      if (!this.#stream.send(frame.sublist(offset, end))) {
        await this.#stream.onDrain(signal && { signal })
      }
      this.#sinceTurn += end - offset
      this.sentBytes += end - offset
      offset = end
    }
  }

  get #pieceBytes(): number {
    return Math.max(PIECE_BYTES, this.#freeBytes - this.sentBytes)
  }
}

/** A length as an unsigned varint. */
export function encodeLength(length: number): Uint8Array {
  const bytes: number[] = []
  let rest = length
  for (; rest > 0x7f; rest >>>= 7) {
    bytes.push((rest & 0x7f) | 0x80)
  }
  return Uint8Array.of(...bytes, rest)
}
