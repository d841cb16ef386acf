import type { Connection, Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import {
  ConnectionError,
  LimitExceededError,
  ProtocolViolationError,
  UnsupportedError,
  WakuLightError
} from '../errors.ts'

/** One request on a stream of its own. */
export interface ExchangeRequest {
  /** Protocol ids, most wanted first. */
  readonly protocols: readonly string[]
  /** Makes the request, once it is known which protocol is spoken. */
  readonly encode: (protocol: string) => Uint8Array
  /** Largest answer that is read, in bytes. */
  readonly maxResponseBytes: number
  /** Called when the first byte of the request is about to leave. */
  readonly onWrite?: () => void
}

/** The answer to one request. */
export interface ExchangeReply {
  /** The protocol that was spoken. */
  readonly protocol: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Streams that are done on our side but that the peer keeps open, before the oldest is reset. */
const MAX_LINGERING_STREAMS = 8

/**
 * Asks one thing: opens a stream, writes one frame, reads one frame. The stream is closed on success and reset otherwise.
 * An answer that is already there is read even if writing failed: a node that rejects for rate answers before it reads.
 *
 * @throws {@link UnsupportedError} if the peer speaks none of the protocols
 * @throws {@link ConnectionError} if the connection or stream breaks
 * @throws {@link LimitExceededError} if the answer is longer than `maxResponseBytes`
 * @throws the signal's own reason
 */
export async function exchange(
  connection: Connection,
  request: ExchangeRequest,
  signal: AbortSignal
): Promise<ExchangeReply> {
  const stream = await openStream(connection, request.protocols, signal)
  try {
    const frames = lpStream(stream, frameLimits(request.maxResponseBytes))
    const body = request.encode(stream.protocol)
    request.onWrite?.()
    write(frames, stream, body, signal)
    const bytes = await readFrame(frames, request.maxResponseBytes, signal)
    await release(connection, stream)
    return { protocol: stream.protocol, bytes }
  } catch (error) {
    stream.abort(toTyped(error))
    signal.throwIfAborted()
    throw toTyped(error)
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
    await frames.write(response, { signal })
    await stream.close({ signal })
  } catch (error) {
    stream.abort(toTyped(error))
    signal.throwIfAborted()
    throw toTyped(error)
  }
}

type Frames = ReturnType<typeof lpStream<Stream>>

async function openStream(
  connection: Connection,
  protocols: readonly string[],
  signal: AbortSignal
): Promise<Stream> {
  try {
    return await connection.newStream([...protocols], { signal })
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error && error.name === 'UnsupportedProtocolError') {
      throw new UnsupportedError(`the peer speaks none of ${protocols.join(', ')}`, {
        cause: error
      })
    }
    throw new ConnectionError('a stream could not be opened', { cause: error })
  }
}

/** Writes the request and closes our side. What goes wrong here shows when the answer is read. */
function write(frames: Frames, stream: Stream, body: Uint8Array, signal: AbortSignal): void {
  frames
    .write(body, { signal })
    .then(() => stream.close({ signal }))
    .catch((error: unknown) => stream.log.trace('the request was not written in full - %e', error))
}

async function readFrame(
  frames: Frames,
  maxBytes: number,
  signal: AbortSignal
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return (await frames.read({ signal })).subarray() as Uint8Array<ArrayBuffer>
  } catch (error) {
    if (error instanceof Error && /^InvalidDataLength|^StreamBufferError/.test(error.name)) {
      throw new LimitExceededError(`the answer is longer than ${maxBytes} bytes`, maxBytes)
    }
    if (error instanceof Error && error.name === 'InvalidMessageLengthError') {
      throw new ProtocolViolationError('frame', 'the length of a frame does not decode')
    }
    throw error
  }
}

/** Buffering stops a little above the frame: a peer that goes on sending is cut off. */
function frameLimits(maxBytes: number): { maxDataLength: number; maxBufferSize: number } {
  return { maxDataLength: maxBytes, maxBufferSize: maxBytes + 64 * 1024 }
}

/** Ends our part of an answered stream, and resets the oldest of those that the peer never ends. */
async function release(connection: Connection, stream: Stream): Promise<void> {
  if (stream.writeStatus !== 'closed') {
    stream.abort(new ConnectionError('the peer answered without reading the request'))
    return
  }
  await stream.closeRead()
  const lingering = connection.streams.filter(
    ({ direction, readStatus, writeStatus }) =>
      direction === 'outbound' && readStatus === 'closed' && writeStatus === 'closed'
  )
  for (const oldest of lingering.slice(0, -MAX_LINGERING_STREAMS)) {
    oldest.abort(new ConnectionError('the peer left an answered stream open'))
  }
}

function toTyped(error: unknown): WakuLightError {
  if (error instanceof WakuLightError) {
    return error
  }
  const name = error instanceof Error ? error.name : ''
  return new ConnectionError(
    name === 'UnexpectedEOFError'
      ? 'the peer closed the stream before a whole frame had come'
      : 'the stream broke',
    { cause: error }
  )
}
