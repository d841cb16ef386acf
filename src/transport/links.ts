import type { Connection } from '@libp2p/interface'
import { NoUsablePeerError, type PeerFailure } from '../errors.ts'
import { isOffline } from '../lib/wake.ts'
import { type Dial, dialFirst, HEAD_START_MS } from './dial.ts'
import type { Peer } from './peer.ts'
import type { Dialer } from './peers-options.ts'
import { race } from './race.ts'
import { SharedTask } from './shared-task.ts'
import { soleDial } from './sole-dial.ts'

/** Connections to the service nodes: those that are open, and one dial at a time for those that are not. */
export class Links {
  readonly #libp2p: Dialer
  readonly #sole: Dial
  readonly #dialTimeoutMs: number
  readonly #dials = new Map<Peer, SharedTask<Connection>>()

  constructor(libp2p: Dialer, dialTimeoutMs: number) {
    this.#libp2p = libp2p
    this.#sole = soleDial(libp2p)
    this.#dialTimeoutMs = dialTimeoutMs
  }

  /** The connection that is open to a node, if one is. */
  openTo(peer: Peer): Connection | undefined {
    return this.#libp2p
      .getConnections()
      .find((connection) => connection.status === 'open' && peer.owns(connection))
  }

  /**
   * Finds or makes a connection to a node.
   *
   * @throws why the node is not to be used, what {@link dialFirst} throws, or the signal's own reason
   */
  async connect(peer: Peer, signal: AbortSignal): Promise<Connection> {
    if (peer.refusal !== undefined) {
      throw peer.refusal
    }
    const open = this.openTo(peer)
    if (open !== undefined) {
      return open
    }
    const dialing = this.#dials.get(peer) ?? new SharedTask((shared) => this.#dial(peer, shared))
    this.#dials.set(peer, dialing)
    return await dialing.join(signal)
  }

  /** Begins all dials anew that are under way. */
  redial(): void {
    for (const dialing of this.#dials.values()) {
      dialing.restart()
    }
  }

  async #dial(peer: Peer, signal: AbortSignal): Promise<Connection> {
    try {
      const connection = await dialFirst(this.#sole, peer.multiaddrs, this.#dialTimeoutMs, signal)
      peer.owns(connection)
      peer.link.succeeded()
      return connection
    } catch (error) {
      if (!signal.aborted && !isOffline()) {
        peer.link.failed()
      }
      throw error
    }
  }
}

/**
 * Tries something with several nodes until it works with one: each next one gets its chance beside those before it.
 *
 * @param peers - most wanted first
 * @param onFailure - told what goes wrong where, while it happens
 * @throws {@link NoUsablePeerError} with the reason of each node, or the signal's own reason
 */
export async function firstOf<T>(
  peers: readonly Peer[],
  run: (peer: Peer, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  onFailure?: (failure: PeerFailure) => void
): Promise<T> {
  const failures: PeerFailure[] = []
  const starts = peers.map((peer) => async (inner: AbortSignal) => {
    try {
      return await run(peer, inner)
    } catch (error) {
      if (!inner.aborted) {
        const failure = { peerId: peer.peerId, error: error as Error }
        failures.push(failure)
        onFailure?.(failure)
      }
      throw error
    }
  })
  try {
    return await race(starts, HEAD_START_MS, signal)
  } catch {
    signal.throwIfAborted()
    throw new NoUsablePeerError(failures)
  }
}
