import type { Connection, Stream } from '@libp2p/interface'
import { ConnectionError } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'

/** Protocol id of libp2p's ping. */
export const PING_PROTOCOL = '/ipfs/ping/1.0.0'

const PING_BYTES = 32

/**
 * Asks for a sign of life: whatever comes back is one.
 *
 * @throws whatever goes wrong, or the signal's own reason
 * @see https://github.com/libp2p/specs/blob/master/ping/ping.md
 */
export async function ping(connection: Connection, signal: AbortSignal): Promise<void> {
  const stream = await connection.newStream([PING_PROTOCOL], { signal })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.addEventListener('message', () => resolve())
  stream.addEventListener('close', () => reject(new ConnectionError('the ping was not answered')))
  try {
    await withSignals([signal], async () => {
      stream.send(crypto.getRandomValues(new Uint8Array(PING_BYTES)))
      await promise
    })
  } finally {
    stream.abort(new ConnectionError('the ping is over'))
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
