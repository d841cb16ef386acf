import {
  ClosedError,
  ConnectionError,
  hasErrorCode,
  type PeerFailure,
  UnsupportedError
} from '../errors.ts'
import { assertMethod } from '../lib/checks.ts'
import { withSignals } from '../lib/deadline.ts'
import { toLogger } from '../lib/report.ts'
import { until } from '../lib/until.ts'
import { isOffline, onWake } from '../lib/wake.ts'
import type { NetworkConfig } from '../message/topics.ts'
import { METADATA_PROTOCOL } from '../wire/metadata.ts'
import { aheadOf } from './ahead.ts'
import { ask, type ReadyConnection } from './ask.ts'
import type { ExchangeReply, ExchangeRequest } from './exchange.ts'
import { firstOf, Links } from './links.ts'
import { Membership } from './membership.ts'
import { fromNetworkOptions } from './network.ts'
import { isFault, type Peer, toPeers } from './peer.ts'
import {
  type Dialer,
  type ManagedServicePeers,
  type ServicePeersOptions,
  toPeerSettings
} from './peers-options.ts'
import { Roll } from './roll.ts'
import type { ServicePeer } from './service-peers.ts'
import { type Service, servicesOf } from './services.ts'
import { SharedTask } from './shared-task.ts'

/**
 * Service peers over a libp2p that the caller made and keeps. Registers the metadata handler, without which both reference
 * nodes drop a client; so call it before the first dial.
 *
 * In browsers libp2p's own gater refuses loopback and plain ws; addresses are screened here, so that yours may let all pass.
 *
 * @throws {@link InvalidArgumentError} for options that are wrong or do not go together
 *
 * @example
 * ```ts
 * const servicePeers = await createServicePeers(libp2p, { serviceNodes, clusterId: 1, shardCount: 8 })
 * const store = new StoreClient({ servicePeers })
 * ```
 */
export async function createServicePeers(
  libp2p: Dialer,
  options: ServicePeersOptions
): Promise<ManagedServicePeers> {
  const peers = new PeerSet(libp2p, options)
  await peers.open()
  return peers
}

class PeerSet extends Roll implements ManagedServicePeers {
  readonly #libp2p: Dialer
  readonly #links: Links
  readonly #closing = new AbortController()
  readonly #membership: Membership
  readonly #learning = new SharedTask((signal) => this.#learn(signal))
  readonly #reaching = new SharedTask((signal) =>
    firstOf(this.candidates(), (peer, inner) => this.#ready(peer, inner), signal)
  )

  constructor(libp2p: Dialer, options: ServicePeersOptions) {
    assertMethod('libp2p', libp2p, 'handle')
    const settings = toPeerSettings(options)
    const { dialTimeoutMs, metadataTimeoutMs, maxRequestsPerPeer } = settings
    const logger = toLogger(settings.logger)
    const network = fromNetworkOptions(settings)
    const policy = {
      secureContextOnly: /^https:/.test(globalThis.location?.origin ?? ''),
      allowPrivateAddresses: settings.allowPrivateAddresses ?? false
    }
    const { peers, skipped } = toPeers(settings.serviceNodes, policy, maxRequestsPerPeer)
    for (const { peerId, error } of skipped) {
      logger.warn('address skipped', { peerId, reason: error.message })
    }
    const links = new Links(libp2p, dialTimeoutMs)
    super(peers, links)
    this.#libp2p = libp2p
    this.#links = links
    const { signal } = this.#closing
    this.#membership = new Membership({ network, timeoutMs: metadataTimeoutMs, logger, signal })
  }

  async open(): Promise<void> {
    await this.#libp2p.handle(METADATA_PROTOCOL, async (stream, connection) => {
      await this.#membership.answer(stream, connection, this.ownerOf(connection))
    })
    this.listen(this.#libp2p, this.#closing.signal)
  }

  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#closing.abort(new ClosedError())
      await this.#libp2p.unhandle(METADATA_PROTOCOL)
    }
  }

  redial(): void {
    this.#links.redial()
  }

  note({ peerId }: ServicePeer, protocols: readonly string[], error?: Error): void {
    const standing = this.named(peerId)?.at(protocols).standing
    if (error === undefined) {
      standing?.succeeded()
    } else if (hasErrorCode(error, 'ERR_REMOTE_STATUS') && error.statusCode === 429) {
      standing?.rest()
    } else if (isFault(error)) {
      standing?.failed()
    }
  }

  async network(signal: AbortSignal): Promise<NetworkConfig> {
    return await this.#whileOpen(
      signal,
      async (linked) => this.#membership.network ?? (await this.#learning.join(linked))
    )
  }

  async reach(signal: AbortSignal): Promise<void> {
    await this.#whileOpen(signal, async (linked) => {
      while (!this.isConnected && (this.usable.length > 1 || isOffline())) {
        try {
          await this.#reaching.join(linked)
          return
        } catch (error) {
          if (!hasErrorCode(error, 'ERR_NO_USABLE_PEER')) {
            throw error
          }
        }
        if (!isOffline() || this.refusals !== undefined) {
          return
        }
        await this.#online(linked)
      }
    })
  }

  /** Resolves when there is a network again, or a node is connected. */
  async #online(signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    onWake(() => this.changed(), over.signal)
    try {
      await until(this, () => this.isConnected || !isOffline(), signal)
    } finally {
      over.abort()
    }
  }

  async connect(signal: AbortSignal): Promise<void> {
    await this.network(signal)
    await this.#whileOpen(signal, async (linked) => {
      if (!this.isConnected) {
        const { checked } = await this.#reaching.join(linked)
        await checked
      }
      if (!this.isSettled) {
        await this.#offering(undefined, linked)
      }
    })
  }

  async find(
    service: Service,
    signal: AbortSignal,
    onFailure: (failure: PeerFailure) => void
  ): Promise<ServicePeer> {
    return await this.#whileOpen(signal, (linked) => this.#offering(service, linked, onFailure))
  }

  async request(
    { peerId }: ServicePeer,
    request: ExchangeRequest,
    signal: AbortSignal
  ): Promise<ExchangeReply & ServicePeer> {
    const peer = this.named(peerId)
    return await this.#whileOpen(signal, async (linked) => {
      if (peer === undefined) {
        throw new ConnectionError('this peer is not among the service nodes')
      }
      const { turnstile, standing } = peer.at(request.protocols)
      try {
        // Before the line, so that a node that is down fails at once; again after it, as time has passed.
        await this.#ready(peer, linked)
        return await turnstile.run(
          () => ask(() => this.#ready(peer, linked), request, linked),
          linked
        )
      } catch (error) {
        if (isFault(error) && !isOffline()) {
          standing.failed()
        }
        throw error
      }
    })
  }

  /** Runs something that the caller's signal and `close()` both end. */
  async #whileOpen<T>(signal: AbortSignal, run: (linked: AbortSignal) => Promise<T>): Promise<T> {
    return await withSignals([this.#closing.signal, signal], run)
  }

  /**
   * A connection to a node that is of our network, as far as can be told. Where negotiation is sent ahead, so is the first
   * request: what the node says of its network then comes together with the answer.
   */
  async #ready(peer: Peer, signal: AbortSignal): Promise<ReadyConnection> {
    const connection = await this.#links.connect(peer, signal)
    const checked = this.#membership.check(connection, peer)
    checked.catch(() => this.changed())
    if (aheadOf(connection) === undefined) {
      await checked
    }
    return { connection, checked }
  }

  /** Connects to a node that says that it does something; undefined: anything. */
  async #offering(
    service: Service | undefined,
    signal: AbortSignal,
    onFailure?: (failure: PeerFailure) => void
  ): Promise<ServicePeer> {
    const offers = async (peer: Peer, inner: AbortSignal): Promise<ServicePeer> => {
      const { connection, checked } = await this.#ready(peer, inner)
      await withSignals([inner], () => checked)
      const services = servicesOf(await this.identified(peer, connection, inner))
      if (service === undefined ? services.length === 0 : !services.includes(service)) {
        throw new UnsupportedError(`the node does not offer ${service ?? 'any service'}`)
      }
      return { peerId: peer.peerId }
    }
    return await firstOf(this.candidates(), offers, signal, onFailure)
  }

  /** Asks one node after the other, and beside it; the first that tells decides. Those that tell otherwise later are left. */
  async #learn(signal: AbortSignal): Promise<NetworkConfig> {
    return await firstOf(
      this.candidates(),
      async (peer, inner) => {
        const connection = await this.#links.connect(peer, inner)
        return await withSignals([inner], () => this.#membership.learn(connection, peer))
      },
      signal
    )
  }
}
