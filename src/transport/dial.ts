import type { Connection, Libp2p } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ConnectionError, isWakuLightError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'

/** The part of libp2p that opens connections. */
export type Dial = Pick<Libp2p, 'dial'>

/**
 * Opens a connection to one of a node's addresses: tried one after the other, each in its share of the time, so that a first
 * address that says nothing does not use it up.
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
  const errors: unknown[] = []
  const reasons: string[] = []
  const shareMs = timeoutMs / multiaddrs.length
  for (const address of multiaddrs) {
    try {
      return await withDeadline('dial', { signal }, shareMs, (inner) =>
        libp2p.dial(address, { signal: inner })
      )
    } catch (error) {
      signal.throwIfAborted()
      if (multiaddrs.length === 1 && isWakuLightError(error)) {
        throw error
      }
      errors.push(error)
      reasons.push(`${multiaddrs.length > 1 ? `${address.toString()}: ` : ''}${describe(error)}`)
    }
  }
  throw new ConnectionError(`dial failed: ${reasons.join('; ')}`, {
    cause: errors.length === 1 ? errors[0] : new AggregateError(errors)
  })
}

/** In words, whatever a dial rejected with: an error, several of them, or something else. */
function describe(reason: unknown): string {
  if (reason instanceof AggregateError) {
    return reason.errors.map(describe).join('; ')
  }
  return reason instanceof Error && reason.message !== '' ? reason.message : 'no reason given'
}
