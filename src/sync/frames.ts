import type { Stream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'
import { ConnectionError, UnsupportedError } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import { readLength } from '../transport/frame-length.ts'
import { PacedWriter } from '../transport/paced-writer.ts'

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
export function toStreamError(cause: unknown): ConnectionError | UnsupportedError {
  return cause instanceof Error && cause.name === 'UnsupportedProtocolError'
    ? new UnsupportedError('the peer does not speak sync', { cause })
    : new ConnectionError('the stream broke', { cause })
}

/** What is taken from the stream beyond the frame that is being read, in bytes. */
const AHEAD_BYTES = 64 * 1024

/**
 * Frames with a length before them, on one stream. Writes are paced, for all frames together. What is read is bounded by one
 * frame: the stream is paused beyond.
 */
export interface Frames {
  /** Bytes that were written, lengths included. */
  readonly sentBytes: number
  /** Bytes that were read, lengths included. */
  readonly receivedBytes: number
  /**
   * The next frame, which may be empty; undefined if the peer closed the stream after the last.
   *
   * @throws {@link UnsupportedError} if the peer turns out not to speak the protocol, {@link ConnectionError} if the stream
   * breaks or ends within a frame, {@link LimitExceededError} for a frame that is too long, {@link ProtocolViolationError}
   * for a malformed length, or the signal's own reason
   */
  read(signal: AbortSignal): Promise<Uint8Array | undefined>
  /** The next frame if it is there already. Throws as {@link Frames.read}. */
  take(): Uint8Array | undefined
  /**
   * Writes a frame.
   *
   * @throws {@link UnsupportedError} or {@link ConnectionError} if the stream broke, or the signal's own reason
   */
  write(body: Uint8Array, signal: AbortSignal): Promise<void>
  /**
   * Closes our side, and reads no more. Never rejects.
   *
   * @returns whether all that was written has left
   */
  close(signal: AbortSignal): Promise<boolean>
  /** Resets the stream. */
  abort(): void
}

/** Reads and writes the frames of a stream, none longer than `maxBytes` where it is read. */
export function createFrames(stream: SyncStream, maxBytes: number): Frames {
  const writer = new PacedWriter(stream)
  // what has come lies from `start` to `end`; copied, since a peer may send it in as many pieces as it has bytes
  let bytes = new Uint8Array(0)
  let start = 0
  let end = 0
  let receivedBytes = 0
  let failure: unknown
  let changed = Promise.withResolvers<void>()

  const isBroken = (): boolean => /aborted|reset/.test(stream.status)
  const wake = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const append = (data: Uint8Array): void => {
    const unread = bytes.subarray(start, end)
    const needed = unread.length + data.length
    if (end + data.length > bytes.length) {
      const largest = maxBytes + 2 * AHEAD_BYTES
      bytes = new Uint8Array(Math.max(needed, Math.min(2 * needed, largest)))
      bytes.set(unread)
      start = 0
    }
    end = start + needed
    bytes.set(data, end - data.length)
  }
  const onMessage = ({ data }: { readonly data: Uint8Array | Uint8ArrayList }): void => {
    append(data.subarray())
    if (end - start > maxBytes + AHEAD_BYTES && stream.readStatus === 'readable') {
      stream.pause()
    }
    wake()
  }
  const onEnd = (event: Event & { readonly error?: unknown }): void => {
    failure ??= event.error
    wake()
  }
  const release = (): void => {
    stream.removeEventListener('message', onMessage)
    stream.removeEventListener('end', onEnd)
    stream.removeEventListener('close', onEnd)
  }
  const abort = (): void => {
    release()
    stream.abort(new ConnectionError('the stream is given up'))
  }
  const take = (): Uint8Array | undefined => {
    const unread = bytes.subarray(start, end)
    const { length = Infinity, prefixBytes = 0 } = readLength(unread, maxBytes) ?? {}
    const sizeBytes = prefixBytes + length
    if (unread.length < sizeBytes) {
      return undefined
    }
    start += sizeBytes
    receivedBytes += sizeBytes
    // a copy: what is kept of a message must not hold the bytes around it
    const frame = bytes.slice(start - length, start)
    if (stream.readStatus === 'paused') {
      stream.resume()
    }
    return frame
  }

  stream.addEventListener('message', onMessage)
  stream.addEventListener('end', onEnd)
  stream.addEventListener('close', onEnd)
  return {
    get sentBytes() {
      return writer.sentBytes
    },
    get receivedBytes() {
      return receivedBytes
    },
    take,
    abort,

    async read(signal) {
      for (;;) {
        const frame = take()
        if (frame !== undefined) {
          return frame
        }
        if (isBroken() || (stream.readableEnded && end > start)) {
          throw toStreamError(failure)
        }
        if (stream.readableEnded) {
          return undefined
        }
        const { promise } = changed
        await withSignals([signal], () => promise)
      }
    },

    async write(body, signal) {
      try {
        await writer.write(body, signal)
      } catch (cause) {
        signal.throwIfAborted()
        throw toStreamError(failure ?? cause)
      }
    },

    async close(signal) {
      try {
        await stream.close({ signal })
        release()
        await stream.closeRead({ signal })
      } catch {
        abort()
      }
      return !isBroken()
    }
  }
}
