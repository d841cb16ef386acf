import type { AbortOptions, Connection, Libp2p, Stream } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import {
  ClosedError,
  ClusterMismatchError,
  ConnectionError,
  NoUsablePeerError,
  type PeerFailure,
  TimeoutError,
  WakuLightError
} from '../errors.ts'
import { withDeadline, withSignals } from '../lib/deadline.ts'
import type { NetworkConfig } from '../message/topics.ts'
import type { Logger } from '../options.ts'
import { METADATA_PROTOCOL, type Metadata } from '../wire/metadata.ts'
import { type AddressPolicy, parseServiceAddress } from './addresses.ts'
import { type ExchangeReply, type ExchangeRequest, exchange } from './exchange.ts'
import { answerMetadata, requestMetadata } from './metadata.ts'
import { fromNetworkOptions, type NetworkOptions, toNetworkConfig } from './network.ts'
import type { ServicePeer, ServicePeers } from './service-peers.ts'

/** How long things may take, in milliseconds. */
export const PEER_DEFAULTS = {
  dialTimeoutMs: 10_000,
  metadataTimeoutMs: 5_000
} as const

/** The part of libp2p that is used here. */
export type Dialer = Pick<Libp2p, 'dial' | 'handle' | 'unhandle' | 'getConnections'>

/** How to build {@link createServicePeers}. */
export interface ServicePeersOptions extends NetworkOptions {
  /** Multiaddrs of the service nodes, most wanted first; several addresses of one peer id are one node. */
  readonly serviceNodes: readonly string[]
  /** Allows addresses of private networks. Loopback is always allowed. @default false */
  readonly allowPrivateAddresses?: boolean
  /** For one dial, in milliseconds. @default 10000 */
  readonly dialTimeoutMs?: number
  readonly logger?: Logger
}

/** Service peers with a lifetime. */
export interface ManagedServicePeers extends ServicePeers {
  /** Ends all calls under way with {@link ClosedError}; safe to call again. */
  close(): Promise<void>
}

interface Peer extends ServicePeer {
  readonly multiaddrs: readonly Multiaddr[]
  /** Why it cannot be dialed at all. */
  refusal: WakuLightError | undefined
  failedAt: number
}

/**
 * Service peers over a libp2p that the caller made and keeps. Registers the metadata handler, without which both reference
 * nodes drop a client; so call it before the first dial.
 *
 * @throws {@link InvalidArgumentError} for network options that do not go together
 */
export async function createServicePeers(
  libp2p: Dialer,
  options: ServicePeersOptions
): Promise<ManagedServicePeers> {
  const peers = new PeerSet(libp2p, options)
  await peers.open()
  return peers
}

class PeerSet implements ManagedServicePeers {
  readonly #libp2p: Dialer
  readonly #peers: readonly Peer[]
  readonly #logger: Logger | undefined
  readonly #dialTimeoutMs: number
  readonly #closing = new AbortController()
  /** One verdict a connection: whether its peer belongs to our network. */
  readonly #verdicts = new WeakMap<Connection, Promise<void>>()
  #network: NetworkConfig | undefined
  #learning: Promise<NetworkConfig> | undefined
  #failures = 0

  constructor(libp2p: Dialer, options: ServicePeersOptions) {
    this.#libp2p = libp2p
    this.#logger = options.logger
    this.#dialTimeoutMs = options.dialTimeoutMs ?? PEER_DEFAULTS.dialTimeoutMs
    this.#network = fromNetworkOptions(options)
    this.#peers = toPeers(options.serviceNodes, {
      secureContextOnly: globalThis.location?.protocol === 'https:',
      allowPrivateAddresses: options.allowPrivateAddresses ?? false
    })
    for (const { peerId, refusal } of this.#peers) {
      if (refusal !== undefined) {
        this.#logger?.warn('service node skipped', { peerId, reason: refusal.message })
      }
    }
  }

  async open(): Promise<void> {
    await this.#libp2p.handle(METADATA_PROTOCOL, (stream, connection) =>
      this.#onMetadata(stream, connection)
    )
  }

  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#closing.abort(new ClosedError())
      await this.#libp2p.unhandle(METADATA_PROTOCOL)
    }
  }

  candidates(): readonly ServicePeer[] {
    return [...this.#peers].sort(
      (a, b) =>
        Number(a.refusal !== undefined) - Number(b.refusal !== undefined) ||
        Number(this.#isConnected(b)) - Number(this.#isConnected(a)) ||
        a.failedAt - b.failedAt
    )
  }

  async network(signal: AbortSignal): Promise<NetworkConfig> {
    if (this.#network !== undefined) {
      return this.#network
    }
    this.#learning ??= this.#learn().finally(() => {
      this.#learning = undefined
    })
    const learning = this.#learning
    learning.catch(() => undefined)
    return await this.#until(signal, () => learning)
  }

  async request(
    peer: ServicePeer,
    request: ExchangeRequest,
    signal: AbortSignal
  ): Promise<ExchangeReply & ServicePeer> {
    const known = this.#peers.find(({ peerId }) => peerId === peer.peerId)
    return await this.#until(signal, async (linked) => {
      try {
        const connection = await this.#connect(known, linked)
        await this.#verdict(connection, known)
        const reply = await exchange(connection, request, linked)
        this.#note(known, true)
        return { ...reply, peerId: connection.remotePeer.toString() }
      } catch (error) {
        if (!signal.aborted || signal.reason instanceof TimeoutError) {
          this.#note(known, false)
        }
        throw error
      }
    })
  }

  /** Runs something that the caller's signal and `close()` both end. */
  async #until<T>(signal: AbortSignal, run: (linked: AbortSignal) => Promise<T>): Promise<T> {
    return await withSignals([this.#closing.signal, signal], run)
  }

  #note(peer: Peer | undefined, good: boolean): void {
    if (peer !== undefined) {
      peer.failedAt = good ? 0 : ++this.#failures
    }
  }

  #isConnected(peer: Peer): boolean {
    return this.#openConnection(peer) !== undefined
  }

  #openConnection({ peerId, multiaddrs }: Peer): Connection | undefined {
    return this.#libp2p
      .getConnections()
      .find(
        ({ status, remotePeer, remoteAddr }) =>
          status === 'open' &&
          (remotePeer.toString() === peerId ||
            multiaddrs.some((address) => address.equals(remoteAddr)))
      )
  }

  async #connect(peer: Peer | undefined, signal: AbortSignal): Promise<Connection> {
    if (peer === undefined) {
      throw new ConnectionError('this peer is not among the service nodes')
    }
    if (peer.refusal !== undefined) {
      throw peer.refusal
    }
    const open = this.#openConnection(peer)
    if (open !== undefined) {
      return open
    }
    return await withDeadline('dial', { signal }, this.#dialTimeoutMs, (inner) =>
      dial(this.#libp2p, peer, { signal: inner })
    )
  }

  /** Resolves once the peer is known to be of our network, or cannot be asked. */
  async #verdict(connection: Connection, peer: Peer | undefined): Promise<void> {
    let verdict = this.#verdicts.get(connection)
    if (verdict === undefined) {
      verdict = this.#judge(connection, peer)
      this.#verdicts.set(connection, verdict)
    }
    await verdict
  }

  async #judge(connection: Connection, peer: Peer | undefined): Promise<void> {
    let remote: Metadata
    try {
      remote = await this.#askMetadata(connection)
    } catch (error) {
      this.#closing.signal.throwIfAborted()
      this.#logger?.debug('metadata could not be read', {
        peerId: peer?.peerId,
        reason: String(error)
      })
      return
    }
    this.#assertCluster(connection, peer, remote)
  }

  /** Leaves a peer of another cluster, for good: it is not dialed again. */
  #assertCluster(connection: Connection, peer: Peer | undefined, remote: Metadata): void {
    const network = this.#network
    if (network !== undefined && remote.clusterId !== network.clusterId) {
      const error = new ClusterMismatchError(
        network.clusterId,
        remote.clusterId,
        connection.remotePeer.toString()
      )
      this.#logger?.warn('service node left', { peerId: peer?.peerId, reason: error.message })
      connection.abort(error)
      if (peer !== undefined) {
        peer.refusal = error
      }
      throw error
    }
  }

  async #askMetadata(connection: Connection): Promise<Metadata> {
    const options = { signal: this.#closing.signal }
    return await withDeadline('metadata', options, PEER_DEFAULTS.metadataTimeoutMs, (signal) =>
      requestMetadata(connection, { clusterId: this.#network?.clusterId, shards: [] }, signal)
    )
  }

  /** A peer asks for our cluster. Before we know it, we say what the peer says. */
  async #onMetadata(stream: Stream, connection: Connection): Promise<void> {
    const options = { signal: this.#closing.signal }
    const peer = this.#peers.find((candidate) => this.#openConnection(candidate) === connection)
    try {
      let asked: Metadata = { shards: [] }
      await withDeadline('metadata', options, PEER_DEFAULTS.metadataTimeoutMs, (signal) =>
        answerMetadata(
          stream,
          (remote) => {
            asked = remote
            return { clusterId: this.#network?.clusterId ?? remote.clusterId ?? 0, shards: [] }
          },
          signal
        )
      )
      this.#assertCluster(connection, peer, asked)
    } catch (error) {
      this.#logger?.debug('metadata could not be answered', {
        peerId: peer?.peerId,
        reason: String(error)
      })
    }
  }

  /** Asks all nodes at once; the first that tells decides. */
  async #learn(): Promise<NetworkConfig> {
    const failures: PeerFailure[] = []
    const asked = this.#peers.map(async (peer) => {
      try {
        const connection = await this.#connect(peer, this.#closing.signal)
        return {
          peerId: peer.peerId,
          network: toNetworkConfig(await this.#askMetadata(connection))
        }
      } catch (error) {
        this.#note(peer, false)
        failures.push({ peerId: peer.peerId, error: error as Error })
        throw error
      }
    })
    try {
      const { peerId, network } = await Promise.any(asked)
      this.#network = network
      this.#logger?.info('network learnt', { peerId, ...network })
      return network
    } catch {
      this.#closing.signal.throwIfAborted()
      throw new NoUsablePeerError(failures)
    }
  }
}

async function dial(libp2p: Dialer, peer: Peer, options: AbortOptions): Promise<Connection> {
  try {
    return await libp2p.dial([...peer.multiaddrs], options)
  } catch (error) {
    options.signal?.throwIfAborted()
    throw error instanceof WakuLightError
      ? error
      : new ConnectionError(`dial failed: ${describe(error)}`, { cause: error })
  }
}

/** In words, whatever a dial rejected with: an error, several of them, or something else. */
function describe(reason: unknown): string {
  if (reason instanceof AggregateError) {
    return reason.errors.map(describe).join('; ')
  }
  if (reason instanceof Error && reason.message !== '') {
    return reason.message
  }
  return 'no reason given'
}

/** One entry a node: addresses of one peer id belong together, and those that may not be opened keep their reason. */
function toPeers(serviceNodes: readonly string[], policy: AddressPolicy): Peer[] {
  const peers = new Map<string, { multiaddrs: Multiaddr[]; refusal: WakuLightError | undefined }>()
  for (const address of serviceNodes) {
    let peerId = String(address)
    try {
      const parsed = parseServiceAddress(address, policy)
      peerId = parsed.peerId ?? peerId
      const known = peers.get(peerId)
      peers.set(peerId, {
        multiaddrs: [...(known?.multiaddrs ?? []), parsed.multiaddr],
        refusal: undefined
      })
    } catch (error) {
      peerId = /\/p2p\/([^/]+)$/.exec(peerId)?.[1] ?? peerId
      if (!peers.has(peerId)) {
        peers.set(peerId, { multiaddrs: [], refusal: error as WakuLightError })
      }
    }
  }
  return [...peers].map(([peerId, { multiaddrs, refusal }]) => ({
    peerId,
    multiaddrs,
    refusal,
    failedAt: 0
  }))
}
