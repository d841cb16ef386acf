import type { Connection, Libp2p } from '@libp2p/interface'
import { CODE_P2P, type Multiaddr } from '@multiformats/multiaddr'
import { ConnectionError, isWakuLightError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import { race } from './race.ts'

/** The part of libp2p that opens connections. */
export type Dial = Pick<Libp2p, 'dial'>

/** How long a node, or one of its addresses, is tried alone before the next one is tried beside it, in milliseconds. */
export const HEAD_START_MS = 250

/**
 * Opens a connection to one of a node's addresses, of which each next one gets its chance beside those before it; the first
 * that is open ends the others.
 *
 * @throws {@link TimeoutError} if the only address does not answer, {@link ConnectionError} with the reason for each address,
 * or the signal's own reason
 */
export async function dialFirst(
  libp2p: Dial,
  multiaddrs: readonly Multiaddr[],
  timeoutMs: number,
  signal: AbortSignal
): Promise<Connection> {
  const drop = (late: Connection): void =>
    late.abort(new ConnectionError('another address was faster'))
  const starts = multiaddrs.map(
    (address, index) => async (inner: AbortSignal) =>
      await withDeadline('dial', { signal: inner }, timeoutMs, async (bounded) => {
        const connection = await (index === 0
          ? libp2p.dial(address, { signal: bounded })
          : dialBeside(libp2p, address, bounded))
        if (bounded.aborted) {
          drop(connection) // nobody waits for it any more
        }
        return connection
      })
  )
  try {
    return await race(starts, HEAD_START_MS, signal, drop)
  } catch (reason) {
    signal.throwIfAborted()
    const { errors } = reason as AggregateError
    const [only] = errors as [unknown]
    if (errors.length === 1 && isWakuLightError(only)) {
      throw only
    }
    const reasons = errors.map((error, index) =>
      errors.length === 1 ? describe(error) : `${String(multiaddrs[index])}: ${describe(error)}`
    )
    throw new ConnectionError(`dial failed: ${reasons.join('; ')}`, {
      cause: errors.length === 1 ? only : reason
    })
  }
}

/** libp2p makes one dial of all that are to one peer id, and waits for the first address: so the peer id is compared here. */
async function dialBeside(
  libp2p: Dial,
  address: Multiaddr,
  signal: AbortSignal
): Promise<Connection> {
  const bare = address.decapsulateCode(CODE_P2P)
  const [, peerId] = address.toString().split('/p2p/')
  const connection = await libp2p.dial(bare, { signal })
  const remoteId = connection.remotePeer.toString()
  if (peerId !== undefined && remoteId !== peerId) {
    const error = new ConnectionError(`${remoteId} answers at ${bare.toString()}`)
    connection.abort(error)
    throw error
  }
  return connection
}

/** In words, whatever a dial rejected with: an error, several of them, or something else. */
function describe(reason: unknown): string {
  if (reason instanceof AggregateError) {
    return reason.errors.map(describe).join('; ')
  }
  return reason instanceof Error && reason.message !== '' ? reason.message : 'no reason given'
}
