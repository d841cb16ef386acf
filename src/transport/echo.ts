import { type MessageStream, UnsupportedProtocolError } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { ProtocolViolationError } from '../errors.ts'
import { encodeLength } from './paced-writer.ts'

/**
 * How far a negotiation that was sent ahead has come: nothing has left; it has, and the answer is awaited; the peer speaks the
 * protocol; it does not, and has read nothing behind the negotiation; it said something else.
 */
export type EchoState = 'unsent' | 'awaited' | 'agreed' | 'refused' | 'wrong'

/** The seam of libp2p's streams at which data comes in. */
type Receiving = MessageStream & { onData(data: Uint8Array | Uint8ArrayList): void }

const HEADER = /* @__PURE__ */ toLine('/multistream/1.0.0')
const REFUSAL = /* @__PURE__ */ toHello('na')

/**
 * One protocol of multistream-select as its initiator writes it when it does not wait: header and protocol together, data
 * right behind. A peer that agrees echoes the same bytes; they are kept from whoever reads the stream.
 *
 * A peer that refuses a protocol can not take the request behind it for a second choice: protocol ids start with a slash, and
 * no protobuf message starts with that byte.
 *
 * @see https://github.com/multiformats/multistream-select
 */
export class Echo {
  /** What negotiates the protocol, and is echoed. */
  readonly hello: Uint8Array<ArrayBuffer>
  /** Resolves once the peer agrees, or the stream ends. */
  readonly over: Promise<void>
  readonly #stream: Receiving
  readonly #settled: (error: Error | undefined) => void
  readonly #held = new Uint8ArrayList()
  #state: EchoState = 'unsent'

  /**
   * Takes the echo out of what the stream receives from now on.
   *
   * @param settled - called once it is agreed, or with what is wrong; the stream is for the callee to end
   */
  constructor(
    stream: MessageStream,
    protocol: string,
    settled: (error: Error | undefined) => void
  ) {
    this.hello = toHello(protocol)
    this.#stream = stream as Receiving
    this.#settled = settled
    const { promise, resolve } = Promise.withResolvers<void>()
    this.over = promise
    stream.addEventListener('close', () => resolve())
    const deliver = this.#stream.onData
    this.#stream.onData = (data) => {
      this.#held.append(data)
      const state = toState(this.#held.subarray(), this.hello)
      if (state === 'awaited') {
        return
      }
      this.#stream.onData = deliver
      this.#state = state
      if (state === 'agreed') {
        resolve()
        this.#settled(undefined)
        this.#held.consume(this.hello.length)
        this.#stream.onData(this.#held)
      } else {
        this.#settled(toError(state, protocol))
      }
    }
  }

  /** How far it has come. */
  get state(): EchoState {
    return this.#state
  }

  /** Sends the negotiation now. */
  send(): void {
    this.#stream.send(this.hello)
    this.sent()
  }

  /** Sends the negotiation in one piece with whatever is sent next. */
  sendWithNext(): void {
    const send = this.#stream.send
    this.#stream.send = (data) => {
      this.#stream.send = send
      const canSendMore = this.#stream.send(new Uint8ArrayList(this.hello, data))
      this.sent()
      return canSendMore
    }
  }

  /** To be called when others have sent the negotiation. */
  sent(): void {
    if (this.#state === 'unsent') {
      this.#state = 'awaited'
    }
  }
}

/** Header and protocol, as the initiator sends them. */
export function toHello(protocol: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(...HEADER, ...toLine(protocol))
}

/** Text with its length in front. */
function toLine(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(`${text}\n`)
  return Uint8Array.of(...encodeLength(bytes.length), ...bytes)
}

function toState(received: Uint8Array, hello: Uint8Array): Exclude<EchoState, 'unsent'> {
  if (isBeginning(received, hello)) {
    return received.length < hello.length ? 'awaited' : 'agreed'
  }
  if (isBeginning(received, REFUSAL)) {
    return received.length < REFUSAL.length ? 'awaited' : 'refused'
  }
  return 'wrong'
}

/** As far as both go. */
export function isBeginning(received: Uint8Array, expected: Uint8Array): boolean {
  return expected.every((byte, index) => index >= received.length || byte === received[index])
}

/** Parts of libp2p go by the name of the first one. */
function toError(state: 'refused' | 'wrong', protocol: string): Error {
  return state === 'refused'
    ? new UnsupportedProtocolError(`the peer does not speak ${protocol}`)
    : new ProtocolViolationError('negotiation', `the peer did not answer to ${protocol}`)
}
