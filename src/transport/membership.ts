import type { Connection, Stream } from '@libp2p/interface'
import { ClusterMismatchError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { NetworkConfig } from '../message/topics.ts'
import type { Logger } from '../options.ts'
import type { Metadata } from '../wire/metadata.ts'
import { answerMetadata, requestMetadata } from './metadata.ts'
import { toNetworkConfig } from './network.ts'
import type { Peer } from './peer.ts'

/** How to build {@link Membership}. */
export interface MembershipInit {
  /** Undefined: the first node that is asked for it decides. */
  readonly network: NetworkConfig | undefined
  /** For one exchange of metadata, in milliseconds. */
  readonly timeoutMs: number
  readonly logger: Logger
  /** Ends all exchanges. */
  readonly signal: AbortSignal
}

/** Which network we are in, and which peers are in it too. */
export class Membership {
  readonly #init: MembershipInit
  readonly #metadata = new WeakMap<Connection, Promise<Metadata>>()
  #network: NetworkConfig | undefined

  constructor(init: MembershipInit) {
    this.#init = init
    this.#network = init.network
  }

  /** The network, once it is known. */
  get network(): NetworkConfig | undefined {
    return this.#network
  }

  /**
   * Resolves once the peer is known to be of our network, or does not tell.
   *
   * @throws {@link ClusterMismatchError} if it is of another one; the connection is closed then, and the peer refused
   */
  async check(connection: Connection, peer: Peer): Promise<void> {
    try {
      this.#assertCluster(connection, peer, await this.#ask(connection, peer))
    } catch {
      this.#init.signal.throwIfAborted()
      if (peer.refusal !== undefined) {
        throw peer.refusal
      }
    }
  }

  /**
   * Takes the network from what a peer says, unless it is known already; then as {@link Membership.check}.
   *
   * @throws also {@link UnsupportedError} and what the exchange throws
   */
  async learn(connection: Connection, peer: Peer): Promise<NetworkConfig> {
    const metadata = await this.#ask(connection, peer)
    this.#assertCluster(connection, peer, metadata)
    if (this.#network === undefined) {
      this.#network = toNetworkConfig(metadata)
      this.#init.logger.info('network learnt', { peerId: peer.peerId, ...this.#network })
    }
    return this.#network
  }

  /** Answers a peer that asks for our cluster. Before we know it, we say what the peer says. Never rejects. */
  async answer(stream: Stream, connection: Connection, peer: Peer | undefined): Promise<void> {
    let asked: Metadata = { shards: [] }
    const respond = (remote: Metadata): number => {
      asked = remote
      return this.#network?.clusterId ?? remote.clusterId ?? 0
    }
    try {
      await this.#within((signal) => answerMetadata(stream, respond, signal))
      this.#assertCluster(connection, peer, asked)
    } catch (error) {
      const peerId = connection.remotePeer.toString()
      this.#init.logger.debug('metadata not answered', { peerId, reason: String(error) })
    }
  }

  /** Leaves a peer of another cluster, for good: it is not dialed again. */
  #assertCluster(connection: Connection, peer: Peer | undefined, remote: Metadata): void {
    const network = this.#network
    if (network === undefined || remote.clusterId === network.clusterId) {
      return
    }
    if (peer?.refusal !== undefined) {
      connection.abort(peer.refusal) // another call has found out, be it on another connection
      throw peer.refusal
    }
    const peerId = connection.remotePeer.toString()
    const error = new ClusterMismatchError(network.clusterId, remote.clusterId, peerId)
    this.#init.logger.warn('service node left', { peerId, reason: error.message })
    if (peer !== undefined) {
      peer.refusal = error
    }
    connection.abort(error)
    throw error
  }

  /** Asked once a connection; while the network is to be learnt, again where there was no answer. */
  async #ask(connection: Connection, { peerId }: Peer): Promise<Metadata> {
    const known = this.#metadata.get(connection)
    if (known !== undefined) {
      return await known
    }
    const own = this.#network?.clusterId
    const asked = this.#within((signal) => requestMetadata(connection, own, signal))
    this.#metadata.set(connection, asked)
    try {
      return await asked
    } catch (error) {
      this.#init.logger.debug('metadata not read', { peerId, reason: String(error) })
      if (this.#network === undefined) {
        this.#metadata.delete(connection)
      }
      throw error
    }
  }

  async #within<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, timeoutMs } = this.#init
    return await withDeadline('metadata', { signal }, timeoutMs, run)
  }
}
