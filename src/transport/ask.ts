import type { Connection } from '@libp2p/interface'
import { hasErrorCode } from '../errors.ts'
import { type ExchangeReply, type ExchangeRequest, exchange } from './exchange.ts'
import type { ServicePeer } from './service-peers.ts'

/** A connection to ask something on. */
export interface ReadyConnection {
  readonly connection: Connection
  /** Rejects if the peer turns out to be none of ours. */
  readonly checked: Promise<void>
}

/** A stream that is cut off while it opens, a connection that opens no more streams, a new one. */
const MAX_TRIES = 3

/**
 * Asks one thing. That a connection turns out to have ended is routine: as long as nothing can have been read, or the caller
 * does not ask what has left, it is as if there had been none.
 *
 * @param ready - makes or finds a connection
 * @throws as `ready` and {@link exchange}, and what `checked` rejects with even if there is an answer
 */
export async function ask(
  ready: () => Promise<ReadyConnection>,
  request: ExchangeRequest,
  signal: AbortSignal
): Promise<ExchangeReply & ServicePeer> {
  for (let tries = 1; ; tries++) {
    const { connection, checked } = await ready()
    let mayRepeat = true
    const watched: ExchangeRequest = {
      ...request,
      onWrite: () => {
        mayRepeat = request.onWrite === undefined
        request.onWrite?.()
      },
      onUnread: () => {
        mayRepeat = true
        request.onUnread?.()
      },
      onRead: () => {
        mayRepeat = false
        request.onRead?.()
      }
    }
    try {
      const reply = await exchange(connection, watched, signal)
      await checked
      return { ...reply, peerId: connection.remotePeer.toString() }
    } catch (error) {
      const again = mayRepeat && tries < MAX_TRIES && hasErrorCode(error, 'ERR_CONNECTION')
      if (!again || signal.aborted) {
        throw error
      }
    }
  }
}
