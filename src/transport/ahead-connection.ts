import type { MessageStream, Stream, StreamMuxer } from '@libp2p/interface'
import { withSignals } from '../lib/deadline.ts'
import type { Ahead, AheadStream } from './ahead.ts'
import { Echo } from './echo.ts'
import { sparing } from './sparing-windows.ts'
import type { SpokenProtocols } from './spoken-protocols.ts'

/**
 * How long a connection may say nothing until requests wait for an answer again, in milliseconds: after a sleep it may be gone
 * without a sign, and a push that was sent into it is one of which nobody knows what became.
 */
export const MAX_SILENCE_MS = 60_000

/**
 * Streams that are opened before the peer has said anything on a new connection. One that runs js-libp2p drops the connection
 * when more than ten arrive while it is still setting it up.
 */
export const MAX_FIRST_STREAMS = 8

/** How to build {@link AheadConnection}. */
export interface AheadConnectionInit {
  readonly muxer: StreamMuxer
  /** What the muxer reads from. */
  readonly secured: MessageStream
  readonly spoken: SpokenProtocols
  /** Undoes what libp2p remembers of a protocol that it asked for itself. */
  readonly forget: (protocol: string) => void
  /** The current time, in milliseconds. */
  readonly now: () => number
}

/** A muxer whose outgoing streams are negotiated ahead, those that libp2p opens for itself too. */
export class AheadConnection implements Ahead {
  readonly #init: AheadConnectionInit
  readonly #createStream: StreamMuxer['createStream']
  readonly #heard: Promise<void>
  #heardAt: number
  #opened = 0
  #givenUp = false
  #isUnread = false

  /** Takes over the muxer; to be called once the muxer listens, as what comes goes to all who listen by then. */
  constructor(init: AheadConnectionInit) {
    this.#init = init
    const { muxer, secured, now } = init
    const createStream = muxer.createStream.bind(muxer)
    this.#createStream = async (options) => sparing(await createStream(options))
    muxer.createStream = async ({ protocol, ...options } = {}) => {
      if (protocol === undefined || !this.isUsable) {
        return await this.#createStream(options)
      }
      const { stream, echo } = await this.#negotiate(protocol, options.signal)
      echo.send()
      return stream
    }
    this.#heardAt = now()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#heard = promise
    secured.addEventListener('close', () => resolve())
    secured.addEventListener('message', () => {
      this.#heardAt = now()
      resolve()
    })
  }

  /** False after it was given up, and while the peer says nothing. */
  get isUsable(): boolean {
    return !this.#givenUp && this.#init.now() - this.#heardAt < MAX_SILENCE_MS
  }

  /** See {@link Ahead.inOrder}. */
  inOrder(protocols: readonly string[]): string[] {
    return this.#init.spoken.inOrder(protocols)
  }

  /** See {@link Ahead.open}. */
  async open(protocol: string, signal: AbortSignal, onAgreed: () => void): Promise<AheadStream> {
    const { stream, echo } = await this.#negotiate(protocol, signal, onAgreed)
    echo.sendWithNext()
    return {
      stream,
      state: () => (this.#isUnread && echo.state === 'awaited' ? 'unread' : echo.state)
    }
  }

  /** See {@link Ahead.giveUp}. */
  giveUp(): void {
    this.#givenUp = true
  }

  /** To be called when the peer turns out to lack the muxer: it has read nothing then. */
  abort(error: Error): void {
    this.#isUnread = error.name === 'UnsupportedProtocolError'
    this.#givenUp = true
    this.#init.muxer.abort(error)
  }

  async #negotiate(
    protocol: string,
    signal: AbortSignal | undefined,
    onAgreed?: () => void
  ): Promise<{ readonly stream: Stream; readonly echo: Echo }> {
    const { spoken, forget } = this.#init
    if (++this.#opened > MAX_FIRST_STREAMS) {
      await withSignals([signal], async () => await this.#heard)
    }
    const stream = await this.#createStream()
    // libp2p takes it as agreed
    stream.protocol = protocol
    const echo = new Echo(stream, protocol, (error) => {
      if (echo.state !== 'wrong') {
        spoken.note(protocol, error === undefined)
      }
      if (error === undefined) {
        onAgreed?.()
        return
      }
      if (onAgreed === undefined) {
        forget(protocol)
      }
      stream.abort(error)
      stream.send = () => {
        throw error // libp2p may hand the stream over only after that
      }
    })
    closeAfterEcho(stream, echo)
    return { stream, echo }
  }
}

/**
 * Keeps our side open until the peer has agreed: a peer that runs js-libp2p (@libp2p/utils 7.4.1) resets a stream whose end
 * arrives while it still negotiates.
 */
function closeAfterEcho(stream: Stream, echo: Echo): void {
  const close = stream.close.bind(stream)
  stream.close = async (options) => {
    if (echo.state === 'awaited') {
      await withSignals([options?.signal], async () => await echo.over)
    }
    await close(options)
  }
}
