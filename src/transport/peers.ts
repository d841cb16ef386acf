import type { Connection, Libp2p } from '@libp2p/interface'
import {
  ClosedError,
  ConnectionError,
  InvalidArgumentError,
  NoUsablePeerError,
  type PeerFailure
} from '../errors.ts'
import { assertTimeoutMs, withSignals } from '../lib/deadline.ts'
import { toLogger } from '../lib/report.ts'
import type { NetworkConfig } from '../message/topics.ts'
import type { Logger } from '../options.ts'
import { METADATA_PROTOCOL } from '../wire/metadata.ts'
import { aheadOf } from './ahead.ts'
import { ask, type ReadyConnection } from './ask.ts'
import { dialFirst } from './dial.ts'
import type { ExchangeReply, ExchangeRequest } from './exchange.ts'
import { Membership } from './membership.ts'
import { fromNetworkOptions, type NetworkOptions } from './network.ts'
import { isFault, type Peer, toPeers } from './peer.ts'
import type { ServicePeer, ServicePeers } from './service-peers.ts'
import { SharedTask } from './shared-task.ts'
import { Turnstile } from './turnstile.ts'

/** How long things may take, in milliseconds, and how many may happen at a time. */
export const PEER_DEFAULTS = {
  dialTimeoutMs: 10_000,
  metadataTimeoutMs: 5_000,
  maxRequestsPerPeer: 32,
  maxWaitingRequestsPerPeer: 4096
} as const

/** The part of libp2p that is used here. */
export type Dialer = Pick<Libp2p, 'dial' | 'handle' | 'unhandle' | 'getConnections'>

/** How to build {@link createServicePeers}. */
export interface ServicePeersOptions extends NetworkOptions {
  /** Multiaddrs of the service nodes, most wanted first; several addresses of one peer id are one node. */
  readonly serviceNodes: readonly string[]
  /** Allows addresses of private networks. Loopback is always allowed. @default false */
  readonly allowPrivateAddresses?: boolean
  /** For one dial, all addresses of a node together, in milliseconds. @default 10000 */
  readonly dialTimeoutMs?: number
  /** For the question which cluster a node belongs to; one that does not answer is used. Milliseconds. @default 5000 */
  readonly metadataTimeoutMs?: number
  /** Requests to one node at a time; more of them wait in line. Nodes take some two hundred streams. @default 32 */
  readonly maxRequestsPerPeer?: number
  readonly logger?: Logger
}

/** Service peers with a lifetime. */
export interface ManagedServicePeers extends ServicePeers {
  /**
   * Connects ahead of the first call: to the first node, or, to learn the network, to all of them. Never rejects: what goes
   * wrong shows in the calls.
   */
  prepare(): Promise<void>
  /** Ends all calls under way with {@link ClosedError}; safe to call again. */
  close(): Promise<void>
}

/**
 * Service peers over a libp2p that the caller made and keeps. Registers the metadata handler, without which both reference
 * nodes drop a client; so call it before the first dial.
 *
 * @throws {@link InvalidArgumentError} for options that are wrong or do not go together
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
  readonly #logger: Logger
  readonly #dialTimeoutMs: number
  readonly #closing = new AbortController()
  readonly #membership: Membership
  readonly #dials = new Map<Peer, SharedTask<Connection>>()
  #learning: Promise<NetworkConfig> | undefined
  #failures = 0

  constructor(libp2p: Dialer, options: ServicePeersOptions) {
    assertOptions(options)
    this.#libp2p = libp2p
    this.#logger = toLogger(options.logger)
    this.#dialTimeoutMs = options.dialTimeoutMs ?? PEER_DEFAULTS.dialTimeoutMs
    this.#membership = new Membership({
      network: fromNetworkOptions(options),
      timeoutMs: options.metadataTimeoutMs ?? PEER_DEFAULTS.metadataTimeoutMs,
      logger: this.#logger,
      signal: this.#closing.signal
    })
    const maxRunning = options.maxRequestsPerPeer ?? PEER_DEFAULTS.maxRequestsPerPeer
    const policy = {
      secureContextOnly: /^https:/.test(globalThis.location?.origin ?? ''),
      allowPrivateAddresses: options.allowPrivateAddresses ?? false
    }
    const { peers, skipped } = toPeers(
      options.serviceNodes,
      policy,
      () => new Turnstile(maxRunning, PEER_DEFAULTS.maxWaitingRequestsPerPeer)
    )
    this.#peers = peers
    for (const { peerId, error } of skipped) {
      this.#logger.warn('address skipped', { peerId, reason: error.message })
    }
  }

  async open(): Promise<void> {
    await this.#libp2p.handle(METADATA_PROTOCOL, async (stream, connection) => {
      const peer = this.#peers.find((candidate) => candidate.owns(connection))
      await this.#membership.answer(stream, connection, peer)
    })
  }

  async prepare(): Promise<void> {
    const { signal } = this.#closing
    try {
      await this.network(signal)
      const [first] = this.#ranked()
      if (first !== undefined && first.refusal === undefined) {
        await this.#attempt(first, async () => (await this.#ready(first, signal)).checked)
      }
    } catch (error) {
      this.#logger.debug('not connected yet', { reason: String(error) })
    }
  }

  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#closing.abort(new ClosedError())
      await this.#libp2p.unhandle(METADATA_PROTOCOL)
    }
  }

  candidates(): readonly ServicePeer[] {
    return this.#ranked()
  }

  async network(signal: AbortSignal): Promise<NetworkConfig> {
    return await this.#until(signal, async () => {
      if (this.#membership.network !== undefined) {
        return this.#membership.network
      }
      this.#learning ??= this.#learn().finally(() => {
        this.#learning = undefined
      })
      return await this.#learning
    })
  }

  async request(
    peer: ServicePeer,
    request: ExchangeRequest,
    signal: AbortSignal
  ): Promise<ExchangeReply & ServicePeer> {
    const known = this.#peers.find((candidate) => candidate.isCalled(peer.peerId))
    return await this.#until(signal, async (linked) => {
      if (known === undefined) {
        throw new ConnectionError('this peer is not among the service nodes')
      }
      return await this.#attempt(known, async () => {
        // Before the line, so that a node that is down fails at once; again after it, as time has passed.
        await this.#ready(known, linked)
        return await known.turnstile.run(
          () => ask(() => this.#ready(known, linked), request, linked),
          linked
        )
      })
    })
  }

  /** Runs something that the caller's signal and `close()` both end. */
  async #until<T>(signal: AbortSignal, run: (linked: AbortSignal) => Promise<T>): Promise<T> {
    return await withSignals([this.#closing.signal, signal], run)
  }

  /** Runs something, and keeps in mind whether the node was good for it. */
  async #attempt<T>(peer: Peer, run: () => Promise<T>): Promise<T> {
    try {
      const result = await run()
      peer.failedAt = 0
      return result
    } catch (error) {
      if (isFault(error)) {
        peer.failedAt = ++this.#failures
      }
      throw error
    }
  }

  #ranked(): readonly Peer[] {
    const open = this.#openConnections()
    const rank = (peer: Peer): number => (open.some((connection) => peer.owns(connection)) ? 0 : 1)
    return [...this.#peers].sort(
      (a, b) =>
        Number(a.refusal !== undefined) - Number(b.refusal !== undefined) ||
        a.failedAt - b.failedAt ||
        rank(a) - rank(b)
    )
  }

  #openConnections(): readonly Connection[] {
    return this.#libp2p.getConnections().filter(({ status }) => status === 'open')
  }

  /**
   * A connection to a node that is of our network, as far as can be told. Where negotiation is sent ahead, so is the first
   * request: what the node says of its network then comes together with the answer.
   */
  async #ready(peer: Peer, signal: AbortSignal): Promise<ReadyConnection> {
    const connection = await this.#connect(peer, signal)
    const checked = this.#membership.check(connection, peer)
    checked.catch(() => undefined)
    if (aheadOf(connection) === undefined) {
      await checked
    }
    return { connection, checked }
  }

  async #connect(peer: Peer, signal: AbortSignal): Promise<Connection> {
    if (peer.refusal !== undefined) {
      throw peer.refusal
    }
    const open = this.#openConnections().find((connection) => peer.owns(connection))
    if (open !== undefined) {
      return open
    }
    let dialing = this.#dials.get(peer)
    if (dialing === undefined) {
      dialing = new SharedTask((shared) =>
        dialFirst(this.#libp2p, peer.multiaddrs, this.#dialTimeoutMs, shared)
      )
      this.#dials.set(peer, dialing)
    }
    const connection = await dialing.join(signal)
    peer.owns(connection)
    return connection
  }

  /** Asks all nodes at once; the first that tells decides. Those that tell otherwise later are left. */
  async #learn(): Promise<NetworkConfig> {
    const { signal } = this.#closing
    const failures: PeerFailure[] = []
    const learnFrom = async (peer: Peer): Promise<NetworkConfig> => {
      try {
        return await this.#attempt(peer, async () => {
          const connection = await this.#connect(peer, signal)
          return await this.#membership.learn(connection, peer)
        })
      } catch (error) {
        failures.push({ peerId: peer.peerId, error: error as Error })
        throw error
      }
    }
    try {
      return await Promise.any(this.#peers.map(learnFrom))
    } catch {
      signal.throwIfAborted()
      throw new NoUsablePeerError(failures)
    }
  }
}

function assertOptions(options: ServicePeersOptions): void {
  if (!Array.isArray(options?.serviceNodes)) {
    throw new InvalidArgumentError('serviceNodes', 'must be an array of multiaddrs')
  }
  const { dialTimeoutMs, metadataTimeoutMs, maxRequestsPerPeer = 1 } = options
  assertTimeoutMs(dialTimeoutMs ?? Infinity, 'dialTimeoutMs')
  assertTimeoutMs(metadataTimeoutMs ?? Infinity, 'metadataTimeoutMs')
  if (!Number.isInteger(maxRequestsPerPeer) || maxRequestsPerPeer < 1) {
    throw new InvalidArgumentError('maxRequestsPerPeer', 'must be a positive integer')
  }
}
