import type { Connection, Stream } from '@libp2p/interface'
import type { EchoState } from './echo.ts'

/** A stream whose negotiation travels with the first data. */
export interface AheadStream {
  readonly stream: Stream
  /** What has become of the negotiation; `unread` if the peer has not read anything on this connection. */
  readonly state: () => EchoState | 'unread'
}

/** A connection whose streams are negotiated without waiting for the answer. */
export interface Ahead {
  /** False while it is better to wait. */
  readonly isUsable: boolean
  /** Protocols in the order in which to try them. */
  inOrder(protocols: readonly string[]): string[]
  /** Opens a stream; it is reset if the peer does not agree. */
  open(protocol: string, signal: AbortSignal, onAgreed: () => void): Promise<AheadStream>
  /** Ends sending ahead on this connection: the peer did not bear it. */
  giveUp(): void
}

const AHEAD = /* @__PURE__ */ Symbol('waku-light.ahead')

/** Marks a connection. */
export function setAhead(connection: Connection, ahead: Ahead): void {
  Object.defineProperty(connection, AHEAD, { value: ahead })
}

/** The mark of a connection; undefined if negotiation is not to be sent ahead. */
export function aheadOf(connection: Connection): Ahead | undefined {
  const ahead = (connection as Connection & { [AHEAD]?: Ahead })[AHEAD]
  return ahead?.isUsable === true ? ahead : undefined
}
