import type { Connection, Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import {
  ConnectionError,
  hasErrorCode,
  isWakuLightError,
  UnsupportedError,
  type WakuLightError
} from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import { type Ahead, aheadOf } from './ahead.ts'
import { readLength, tooLong } from './frame-length.ts'
import { PacedWriter } from './paced-writer.ts'
import { requested } from './traffic.ts'

/** One request on a stream of its own. */
export interface ExchangeRequest {
  /** Protocol ids, most wanted first. */
  readonly protocols: readonly string[]
  /** Makes the request for the protocol that is spoken; again for the next one if it turns out that the peer lacks it. */
  readonly encode: (protocol: string) => Uint8Array
  /** Largest answer that is read, in bytes. */
  readonly maxResponseBytes: number
  /**
   * Called when the first byte of the request is about to leave. Without it, a request may be sent again on another connection
   * while the peer has not agreed to read it.
   */
  readonly onWrite?: () => void
  /**
   * Takes {@link ExchangeRequest.onWrite} back: the peer does not speak the protocol with which the request was sent ahead, or
   * nothing has left after all, so that it has read nothing. `onWrite` comes again with the next protocol, if there is one.
   */
  readonly onUnread?: () => void
  /** Called when the peer has agreed to read the request. */
  readonly onRead?: () => void
}

/** The answer to one request. */
export interface ExchangeReply {
  /** The protocol that was spoken. */
  readonly protocol: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Streams that are done on our side but that the peer keeps open, before the oldest is reset. */
export const MAX_LINGERING_STREAMS = 8

/** How much of a request leaves at once: less than any window, more than a message has where nobody raised its limit. */
const FREE_BYTES = 192 * 1024

/** What may be buffered beyond one frame, in bytes. */
const BUFFER_MARGIN_BYTES = 64 * 1024

/**
 * Asks one thing: opens a stream, writes one frame, reads one frame. The stream is closed on success and reset otherwise.
 * An answer that is already there is read even if writing failed: a node that rejects for rate answers before it reads.
 *
 * @throws {@link UnsupportedError} if the peer speaks none of the protocols
 * @throws {@link ConnectionError} if the connection or stream breaks
 * @throws {@link LimitExceededError} if the answer is longer than `maxResponseBytes`
 * @throws {@link ProtocolViolationError} if the length of the answer is malformed
 * @throws the signal's own reason, or what `encode` throws
 */
export async function exchange(
  connection: Connection,
  request: ExchangeRequest,
  signal: AbortSignal
): Promise<ExchangeReply> {
  const ahead = aheadOf(connection)
  if (ahead !== undefined) {
    return await exchangeAhead(connection, ahead, request, signal)
  }
  const stream = await opened(connection, request.protocols, signal, () =>
    // How many there may be at a time is for the caller to say; libp2p's own limit is an error, not a queue.
    connection.newStream([...request.protocols], { signal, maxOutboundStreams: Infinity })
  )
  request.onRead?.()
  return await converse(connection, stream, request, signal)
}

/** The same with the request sent before the peer has agreed to the protocol: the next one is tried where it does not. */
async function exchangeAhead(
  connection: Connection,
  ahead: Ahead,
  request: ExchangeRequest,
  signal: AbortSignal
): Promise<ExchangeReply> {
  for (const protocol of ahead.inOrder(request.protocols)) {
    let isWritten = false
    const watched: ExchangeRequest = {
      ...request,
      onWrite: () => {
        request.onWrite?.()
        isWritten = true
      }
    }
    const { stream, state } = await opened(connection, [protocol], signal, () =>
      ahead.open(protocol, signal, () => request.onRead?.())
    )
    try {
      return await converse(connection, stream, watched, signal)
    } catch (error) {
      const reached = state()
      if (reached === 'awaited') {
        // Unless the caller gave up, it may be that the peer minds; it costs little to ask from here on.
        if (!signal.aborted || hasErrorCode(signal.reason, 'ERR_TIMEOUT')) {
          ahead.giveUp()
        }
      } else if (isWritten && reached !== 'agreed' && reached !== 'wrong') {
        request.onUnread?.()
      }
      if (reached !== 'refused' || signal.aborted) {
        throw error
      }
    }
  }
  throw unsupported(request.protocols)
}

async function converse(
  connection: Connection,
  stream: Stream,
  request: ExchangeRequest,
  signal: AbortSignal
): Promise<ExchangeReply> {
  let body: Uint8Array
  try {
    body = request.encode(stream.protocol)
    request.onWrite?.()
  } catch (error) {
    giveUp(stream)
    throw error
  }
  try {
    const frames = lpStream(stream, frameLimits(request.maxResponseBytes))
    write(stream, body)
    requested(connection, body.length)
    const bytes = await readFrame(frames, request.maxResponseBytes, signal)
    await release(connection, stream)
    return { protocol: stream.protocol, bytes }
  } catch (error) {
    throw failed(stream, error, signal)
  }
}

/**
 * Answers one thing: reads one frame, writes one frame, closes.
 *
 * @throws as {@link exchange}; the stream is then reset
 */
export async function answer(
  stream: Stream,
  maxRequestBytes: number,
  respond: (request: Uint8Array<ArrayBuffer>) => Uint8Array,
  signal: AbortSignal
): Promise<void> {
  try {
    const frames = lpStream(stream, frameLimits(maxRequestBytes))
    const response = respond(await readFrame(frames, maxRequestBytes, signal))
    await withSignals([signal], async () => {
      await frames.write(response)
      await stream.close()
    })
  } catch (error) {
    throw failed(stream, error, signal)
  }
}

type Frames = ReturnType<typeof lpStream<Stream>>

async function opened<T>(
  connection: Connection,
  protocols: readonly string[],
  signal: AbortSignal,
  open: () => Promise<T>
): Promise<T> {
  try {
    signal.throwIfAborted()
    return await open()
  } catch (error) {
    signal.throwIfAborted()
    if (nameOf(error) === 'UnsupportedProtocolError') {
      throw unsupported(protocols, error)
    }
    const failure = new ConnectionError('a stream could not be opened', { cause: error })
    if (/^(Connection|Muxer)ClosedError$/.test(nameOf(error))) {
      // A peer that went away may leave a connection behind that calls itself open.
      connection.abort(failure)
    }
    throw failure
  }
}

function unsupported(protocols: readonly string[], cause?: unknown): UnsupportedError {
  return new UnsupportedError(`the peer speaks none of ${protocols.join(', ')}`, { cause })
}

/**
 * Writes the request and closes our side. What goes wrong here shows when the answer is read. Without a signal, on which the
 * helpers would leave listeners: whatever ends the stream ends this.
 */
function write(stream: Stream, body: Uint8Array): void {
  new PacedWriter(stream, FREE_BYTES)
    .write(body)
    .then(() => stream.close())
    .catch((error: unknown) => stream.log.trace('the request broke - %e', error))
}

async function readFrame(
  frames: Frames,
  maxBytes: number,
  signal: AbortSignal
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return (await frames.read({ signal })).subarray() as Uint8Array<ArrayBuffer>
  } catch (error) {
    if (/^InvalidDataLength|^StreamBufferError/.test(nameOf(error))) {
      throw tooLong(maxBytes)
    }
    throw error
  }
}

/** Buffering stops a little above the frame: a peer that goes on sending is cut off. */
function frameLimits(maxBytes: number): Parameters<typeof lpStream>[1] {
  return {
    maxDataLength: maxBytes,
    maxBufferSize: maxBytes + BUFFER_MARGIN_BYTES,
    lengthDecoder: (bytes) => decodeLength(bytes.subarray(), maxBytes)
  }
}

/** As the stream wants it: by an error that says that bytes are missing. */
function decodeLength(bytes: Uint8Array, maxBytes: number): number {
  const read = readLength(bytes, maxBytes)
  if (read === undefined) {
    throw new RangeError('more is to come')
  }
  return read.length
}

/** Ends our part of an answered stream, and resets the oldest of those that the peer never ends. */
async function release(connection: Connection, stream: Stream): Promise<void> {
  if (stream.writeStatus !== 'closed') {
    giveUp(stream)
    return
  }
  if (stream.readStatus === 'readable') {
    stream.pause() // or else the muxer makes room for all that comes, for as long as the peer sends
  }
  await stream.closeRead()
  const lingering = connection.streams.filter(
    ({ direction, readStatus, writeStatus }) =>
      direction === 'outbound' && readStatus === 'closed' && writeStatus === 'closed'
  )
  lingering.slice(0, -MAX_LINGERING_STREAMS).forEach(giveUp)
}

function giveUp(stream: Stream): void {
  stream.abort(new ConnectionError('the stream is given up'))
}

/** Resets the stream; returns what to throw. */
function failed(stream: Stream, error: unknown, signal: AbortSignal): unknown {
  const typed = toTyped(error)
  stream.abort(typed)
  return signal.aborted ? signal.reason : typed
}

function toTyped(error: unknown): WakuLightError {
  if (isWakuLightError(error)) {
    return error
  }
  const isShort = nameOf(error) === 'UnexpectedEOFError'
  return new ConnectionError(
    isShort ? 'the stream ended before a whole frame' : 'the stream broke',
    { cause: error }
  )
}

/** libp2p has no other way to tell its errors. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}
