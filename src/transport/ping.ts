import type { Connection, Stream } from '@libp2p/interface'
import { byteStream } from '@libp2p/utils'
import { ConnectionError } from '../errors.ts'

/** Protocol id of libp2p's ping. */
export const PING_PROTOCOL = '/ipfs/ping/1.0.0'

const PING_BYTES = 32

/**
 * Asks for a sign of life.
 *
 * @throws whatever goes wrong, or the signal's own reason
 * @see https://github.com/libp2p/specs/blob/master/ping/ping.md
 */
export async function ping(connection: Connection, signal: AbortSignal): Promise<void> {
  const stream = await connection.newStream([PING_PROTOCOL], { signal })
  try {
    const bytes = byteStream(stream)
    await bytes.write(crypto.getRandomValues(new Uint8Array(PING_BYTES)), { signal })
    await bytes.read({ bytes: PING_BYTES, signal })
    await stream.close({ signal })
  } catch (error) {
    stream.abort(new ConnectionError('the ping is given up'))
    throw error
  }
}

/**
 * Answers pings: what comes goes back. Both reference nodes ping, and close a connection that does not answer. (The whole ping
 * service of libp2p would be many times this.)
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
