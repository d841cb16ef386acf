import type { Stream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'
import { ConnectionError, ProtocolViolationError, UnsupportedError } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import { PacedWriter } from '../transport/paced-writer.ts'
import { assertLimit } from '../wire/sync-bytes.ts'

/** The part of a libp2p stream that is used. */
export type SyncStream = Pick<
  Stream,
  | 'status'
  | 'readStatus'
  | 'readableEnded'
  | 'addEventListener'
  | 'removeEventListener'
  | 'send'
  | 'onDrain'
  | 'pause'
  | 'resume'
  | 'close'
  | 'closeRead'
  | 'abort'
>

/** What becomes of what breaks a stream. Negotiation may travel with the first frame, so that a refusal shows later. */
export function toStreamError(
  cause: unknown,
  problem = 'the stream broke',
  protocol = 'the protocol'
): ConnectionError | UnsupportedError {
  return cause instanceof Error && cause.name === 'UnsupportedProtocolError'
    ? new UnsupportedError(`the peer does not speak ${protocol}`, { cause })
    : new ConnectionError(problem, { cause })
}

/** Four bytes of a length are up to 256 MiB; no frame here is that long. */
const MAX_LENGTH_BYTES = 4
/** What is taken from the stream beyond the frame that is being read, in bytes. */
const AHEAD_BYTES = 64 * 1024

/**
 * Frames with a length before them, on one stream. Writes are paced, for all frames together. What is read is bounded by one
 * frame: the stream is paused beyond.
 */
export class Frames {
  /** Bytes that were read, lengths included. */
  receivedBytes = 0
  readonly #stream: SyncStream
  readonly #writer: PacedWriter
  readonly #maxBytes: number
  /** What has come lies from `#start` to `#end`; copied, since a peer may send it in as many pieces as it has bytes. */
  #bytes = new Uint8Array(0)
  #start = 0
  #end = 0
  #isEnded = false
  #error: unknown
  #changed = Promise.withResolvers<void>()

  constructor(stream: SyncStream, maxBytes: number) {
    this.#stream = stream
    this.#writer = new PacedWriter(stream)
    this.#maxBytes = maxBytes
    stream.addEventListener('message', this.#onMessage)
    stream.addEventListener('end', this.#onEnd)
    stream.addEventListener('close', this.#onEnd)
    this.#isEnded = stream.readableEnded || this.#isBroken
  }

  /** Bytes that were written, lengths included. */
  get sentBytes(): number {
    return this.#writer.sentBytes
  }

  /**
   * The next frame, which may be empty; undefined if the peer closed the stream after the last.
   *
   * @throws {@link UnsupportedError} if the peer turns out not to speak the protocol, {@link ConnectionError} if the stream
   * breaks or ends within a frame, {@link LimitExceededError} for a frame that is too long, {@link ProtocolViolationError}
   * for a malformed length, or the signal's own reason
   */
  async read(signal: AbortSignal): Promise<Uint8Array | undefined> {
    for (;;) {
      const frame = this.take()
      if (frame !== undefined) {
        return frame
      }
      if (this.#isEnded) {
        if (this.#unreadBytes > 0 || this.#isBroken) {
          throw toStreamError(this.#error)
        }
        return undefined
      }
      await withSignals([signal], () => this.#changed.promise)
    }
  }

  /** The next frame if it is there already. Throws as {@link Frames.read}. */
  take(): Uint8Array | undefined {
    let length = 0
    let prefix = 0
    for (let byte = 0x80; byte > 0x7f; prefix++) {
      if (prefix === this.#unreadBytes) {
        return undefined
      }
      byte = this.#bytes[this.#start + prefix] as number
      if (byte === 0 && prefix > 0) {
        throw new ProtocolViolationError('frame', 'the length of a frame is malformed')
      }
      length += (byte & 0x7f) * 2 ** (7 * prefix)
      const isTooLong = byte > 0x7f && prefix + 1 === MAX_LENGTH_BYTES
      assertLimit(isTooLong ? Infinity : length, this.#maxBytes, 'bytes in a frame')
    }
    const sizeBytes = prefix + length
    if (this.#unreadBytes < sizeBytes) {
      return undefined
    }
    const end = this.#start + sizeBytes
    // a copy: what is kept of a message must not hold the bytes around it
    const frame = this.#bytes.slice(end - length, end)
    this.#start = end
    this.receivedBytes += sizeBytes
    if (this.#stream.readStatus === 'paused') {
      this.#stream.resume()
    }
    return frame
  }

  /**
   * Writes a frame.
   *
   * @throws {@link UnsupportedError} or {@link ConnectionError} if the stream broke, or the signal's own reason
   */
  async write(body: Uint8Array, signal: AbortSignal): Promise<void> {
    try {
      await this.#writer.write(body, signal)
    } catch (cause) {
      signal.throwIfAborted()
      throw toStreamError(this.#error ?? cause)
    }
  }

  /**
   * Closes our side, and reads no more. Never rejects.
   *
   * @returns whether all that was written has left
   */
  async close(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#stream.close({ signal })
      this.#release()
      await this.#stream.closeRead({ signal })
    } catch {
      this.abort()
    }
    return !this.#isBroken
  }

  /** Resets the stream. */
  abort(): void {
    this.#release()
    this.#stream.abort(new ConnectionError('the stream is given up'))
  }

  readonly #onMessage = ({ data }: { readonly data: Uint8Array | Uint8ArrayList }): void => {
    this.#append(data)
    if (
      this.#unreadBytes > this.#maxBytes + AHEAD_BYTES &&
      this.#stream.readStatus === 'readable'
    ) {
      this.#stream.pause()
    }
    this.#wake()
  }

  #append(data: Uint8Array | Uint8ArrayList): void {
    const unread = this.#bytes.subarray(this.#start, this.#end)
    if (this.#end + data.byteLength > this.#bytes.length) {
      const needed = unread.length + data.byteLength
      const largest = this.#maxBytes + 2 * AHEAD_BYTES
      this.#bytes = new Uint8Array(Math.max(needed, Math.min(2 * needed, largest)))
      this.#bytes.set(unread)
      this.#start = 0
      this.#end = unread.length
    }
    this.#bytes.set(data.subarray(), this.#end)
    this.#end += data.byteLength
  }

  readonly #onEnd = (event: Event & { readonly error?: unknown }): void => {
    this.#isEnded = true
    this.#error ??= event.error
    this.#wake()
  }

  get #unreadBytes(): number {
    return this.#end - this.#start
  }

  get #isBroken(): boolean {
    return /aborted|reset/.test(this.#stream.status)
  }

  #wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  #release(): void {
    this.#stream.removeEventListener('message', this.#onMessage)
    this.#stream.removeEventListener('end', this.#onEnd)
    this.#stream.removeEventListener('close', this.#onEnd)
  }
}
