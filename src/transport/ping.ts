import type { Stream } from '@libp2p/interface'
import { ConnectionError } from '../errors.ts'

/** Protocol id of libp2p's ping. */
export const PING_PROTOCOL = '/ipfs/ping/1.0.0'

/**
 * Answers pings: what comes goes back. Both reference nodes ping, and close a connection that does not answer. (Pings of our
 * own are sent by libp2p's connection monitor; the whole ping service would be ten times this.)
 */
export function answerPing(stream: Stream): void {
  stream.addEventListener('message', ({ data }) => {
    if (stream.writeStatus !== 'writable' || !stream.send(data)) {
      stream.abort(new ConnectionError('the peer pings faster than it reads'))
    }
  })
  stream.addEventListener('remoteCloseWrite', () => {
    stream.close().catch((error: Error) => stream.abort(error))
  })
}
