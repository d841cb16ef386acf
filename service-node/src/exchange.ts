import type { Connection, Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { Uint8ArrayList } from 'uint8arraylist'
import { ConnectionError, LimitExceededError, UnsupportedError } from 'waku-light/errors'

/** How one request is served. */
export interface ExchangeOptions {
  /** Largest request frame, without its length. */
  readonly maxRequestBytes: number
  /** The stream is reset when it is not over by then. */
  readonly deadlineMs: number
  /** What to answer instead of reading, for example because of a rate limit. */
  readonly refusal?: Uint8Array
  /** What to answer to a request over the limit; without it the stream is reset. */
  readonly tooLarge?: Uint8Array
  /** Makes the answer; undefined resets the stream. */
  respond(request: Uint8Array): Promise<Uint8Array | undefined> | Uint8Array | undefined
}

// The reference node's receive window is smaller than js yamux assumes: bigger pieces end the connection.
const PIECE_BYTES = 64 * 1024

const LINGER_MS = 5000

/**
 * Serves one exchange on a stream: one frame in, one frame out, close. Never rejects.
 *
 * @returns what went wrong, if anything did; the stream is reset then
 */
export async function serveExchange(
  stream: Stream,
  options: ExchangeOptions
): Promise<Error | undefined> {
  const deadline = new AbortController()
  const timer = setTimeout(
    () => deadline.abort(new Error('the exchange took too long')),
    options.deadlineMs
  )
  try {
    const answer = options.refusal ?? (await answerRequest(stream, options, deadline.signal))
    await writeFrame(stream, answer, deadline.signal)
    await stream.close({ signal: deadline.signal })
    await closed(stream, deadline.signal)
    return undefined
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error('the exchange failed', { cause })
    stream.abort(error)
    return error
  } finally {
    clearTimeout(timer)
  }
}

/** One request to a peer. */
export interface AskOptions {
  /** Protocol ids, most wanted first. */
  readonly protocols: readonly string[]
  /** Largest answer that is read, in bytes. */
  readonly maxResponseBytes: number
  /** Makes the request for the protocol that is spoken. */
  encode(protocol: string): Uint8Array
}

/**
 * Asks a peer one thing on a stream of its own: one frame out, one frame in. The stream is closed, or reset if anything fails.
 *
 * @throws {@link UnsupportedError}, {@link LimitExceededError} if the answer is too long, {@link ConnectionError} for whatever
 * else the peer does, or the signal's own reason
 */
export async function ask(
  connection: Connection,
  { protocols, maxResponseBytes, encode }: AskOptions,
  signal: AbortSignal
): Promise<{ readonly protocol: string; readonly bytes: Uint8Array<ArrayBuffer> }> {
  let stream: Stream | undefined
  try {
    stream = await connection.newStream([...protocols], { signal })
    const frames = lpStream(stream, {
      maxDataLength: maxResponseBytes,
      maxBufferSize: maxResponseBytes + PIECE_BYTES
    })
    await frames.write(encode(stream.protocol), { signal })
    const answer = await frames.read({ signal })
    await stream.close({ signal })
    frames.unwrap()
    letGo(stream)
    return { protocol: stream.protocol, bytes: Uint8Array.from(answer.subarray()) }
  } catch (error) {
    stream?.abort(error instanceof Error ? error : new ConnectionError('the request failed'))
    signal.throwIfAborted()
    const name = error instanceof Error ? error.name : ''
    if (name === 'UnsupportedProtocolError') {
      throw new UnsupportedError(`the peer speaks none of ${protocols.join(', ')}`, {
        cause: error
      })
    }
    if (name.startsWith('InvalidDataLength')) {
      const text = `the peer sent more than ${maxResponseBytes} bytes`
      throw new LimitExceededError(text, maxResponseBytes)
    }
    throw new ConnectionError('the request to the peer broke', { cause: error })
  }
}

/** Leaves an answered stream to the peer, which has a while to close its side. */
function letGo(stream: Stream): void {
  stream.addEventListener('message', discard)
  closed(stream, AbortSignal.timeout(LINGER_MS)).catch((error: Error) => stream.abort(error))
}

async function answerRequest(
  stream: Stream,
  options: ExchangeOptions,
  signal: AbortSignal
): Promise<Uint8Array> {
  const { maxRequestBytes } = options
  // The frame may arrive together with its length and whatever the peer sent behind it.
  const frames = lpStream(stream, {
    maxDataLength: maxRequestBytes,
    maxBufferSize: 2 * maxRequestBytes + PIECE_BYTES
  })
  const request = await frames.read({ signal }).catch((error: Error) => {
    if (error.name === 'InvalidDataLengthError' && options.tooLarge !== undefined) {
      return undefined
    }
    throw error
  })
  const answer =
    request === undefined ? options.tooLarge : await options.respond(request.subarray())
  if (answer === undefined) {
    throw new Error('the request cannot be answered')
  }
  // Hands back what is unread, for the listener that discards it.
  frames.unwrap()
  return answer
}

async function writeFrame(stream: Stream, body: Uint8Array, signal: AbortSignal): Promise<void> {
  // Without a listener unread bytes would pile up until the stream is reset, and the answer with it.
  stream.addEventListener('message', discard)
  const frame = new Uint8ArrayList(encodeLength(body.length), body)
  for (let offset = 0; offset < frame.byteLength; offset += PIECE_BYTES) {
    signal.throwIfAborted()
    if (!stream.send(frame.sublist(offset, Math.min(offset + PIECE_BYTES, frame.byteLength)))) {
      await stream.onDrain({ signal })
    }
  }
}

function discard(): void {}

function encodeLength(length: number): Uint8Array {
  const bytes: number[] = []
  let rest = length
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | 0x80)
  }
  return Uint8Array.of(...bytes, rest)
}

/** Resolves when both sides have closed; a stream lives until then. */
function closed(stream: Stream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stream.status === 'closed' || stream.status === 'reset' || stream.status === 'aborted') {
      resolve()
      return
    }
    signal.throwIfAborted()
    function onAbort(): void {
      stream.removeEventListener('close', onClose)
      reject(signal.reason)
    }
    function onClose(): void {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    stream.addEventListener('close', onClose, { once: true })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
