import type { Connection, PeerId } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { STORE_DEFAULTS, STORE_QUERY_3, StoreClient } from 'waku-light/store'
import type { Sync } from 'waku-light/sync'
import { AdminServer, type Health } from './admin-server.ts'
import { Archive } from './archive/archive.ts'
import { errorMessage, ServiceNodeError } from './errors.ts'
import { generateKey, loadKey } from './key-file.ts'
import { Metrics } from './metrics.ts'
import { type ResolvedOptions, resolveOptions, type ServiceNodeOptions } from './options.ts'
import { PeerKeeper } from './peer-keeper.ts'
import { MetadataGuard } from './protocols/metadata.ts'
import { ServiceHost } from './protocols/service-host.ts'
import { createServices } from './protocols/services.ts'
import { Publisher } from './publisher.ts'
import { Relay, type RelayResult } from './relay.ts'
import { createRelayNode, type RelayNode } from './relay-node.ts'
import { NodeResume, type Resumed } from './resume/node-resume.ts'
import { StorePeers } from './store-peers.ts'
import { startSync } from './sync/node-sync.ts'

/** A running service node. */
export interface ServiceNode {
  readonly peerId: string
  /** Where it listens, each with its `/p2p/`. */
  readonly multiaddrs: readonly string[]
  readonly pubsubTopics: readonly string[]
  /** Where `GET /health` and `GET /metrics` are served. */
  readonly adminUrl?: string
  /** How many peers relay a pubsub topic with this node. */
  relayPeerCount(pubsubTopic: string): number
  /** How many messages the archive holds. */
  messageCount(): number
  /**
   * What became of asking peers for what was missed: settles once the first time has come to its end, or never will. Never
   * rejects. Later times are in log and metrics.
   */
  readonly resumed: Promise<Resumed>
  /**
   * Limits the archive to so many database pages: beyond, it fails like a full disk.
   *
   * @internal for tests
   */
  limitArchivePages(maxPages: number): void
  /**
   * Dials a peer and checks its cluster.
   *
   * @throws {@link ClusterMismatchError}, or {@link ConnectionError} if it does not say its cluster
   */
  connect(address: string): Promise<void>
  /** Stops serving and releases everything; may be called again. */
  close(): Promise<void>
}

const UPKEEP_INTERVAL_MS = 60_000

/**
 * Starts a service node.
 *
 * @throws {@link InvalidArgumentError} naming the option that is wrong
 * @throws {@link ServiceNodeError} if the archive, the key file or an address cannot be had
 * @example
 * ```ts
 * const node = await createServiceNode({ clusterId: 42, shards: [0], standalone: true })
 * console.log(node.multiaddrs)
 * await node.close()
 * ```
 */
export async function createServiceNode(options: ServiceNodeOptions = {}): Promise<ServiceNode> {
  const resolved = resolveOptions(options)
  const { databaseFile: file, retention, now } = resolved
  const key =
    resolved.privateKey ??
    (await (resolved.keyFile === undefined ? generateKey() : loadKey(resolved.keyFile)))
  const archive = new Archive({ file, retention, now })
  let running: RunningNode | undefined
  try {
    const node = await createRelayNode(resolved, key)
    running = new RunningNode(resolved, archive, node)
    await running.start()
    return running
  } catch (cause) {
    await running?.close()
    archive.close()
    throw cause instanceof ServiceNodeError
      ? cause
      : new ServiceNodeError('ERR_LISTEN', `the node cannot start: ${errorMessage(cause)}`, {
          cause
        })
  }
}

class RunningNode implements ServiceNode {
  readonly #options: ResolvedOptions
  readonly #archive: Archive
  readonly #node: RelayNode
  readonly #relay: Relay
  readonly #metrics: Metrics
  readonly #guard: MetadataGuard
  readonly #keeper: PeerKeeper
  readonly #storePeers: StorePeers
  readonly #store: StoreClient
  readonly #resume: NodeResume
  #admin: AdminServer | undefined
  #sync: Sync | undefined
  #upkeep: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined

  constructor(options: ResolvedOptions, archive: Archive, node: RelayNode) {
    const { clusterId, shards, logger, metadataTimeoutMs: deadlineMs } = options
    this.#options = options
    this.#archive = archive
    this.#node = node
    this.#relay = new Relay(node.services.pubsub, options.pubsubTopics, options.maxMessageBytes)
    this.#metrics = new Metrics({
      connectionCount: () => node.getConnections().length,
      messageCount: () => archive.count,
      relayPeerCounts: () => this.#relayPeerCounts()
    })
    this.#guard = new MetadataGuard({
      clusterId,
      shards,
      deadlineMs,
      hangUp: (peerId) => node.hangUp(peerId)
    })
    this.#storePeers = new StorePeers({
      node,
      network: { clusterId, pubsubTopics: options.pubsubTopics },
      hasChosen: options.peers.length > 0,
      check: (connection) => this.#guard.check(connection)
    })
    this.#store = new StoreClient(
      { servicePeers: this.#storePeers },
      {
        generations: [STORE_QUERY_3],
        requestTimeoutMs: Math.min(options.requestTimeoutMs, STORE_DEFAULTS.requestTimeoutMs)
      }
    )
    this.#resume = new NodeResume({
      options,
      archive,
      store: this.#store,
      peers: this.#storePeers,
      metrics: this.#metrics
    })
    this.#keeper = new PeerKeeper({
      logger,
      connect: async (address, signal) => {
        const { remotePeer } = await this.#dial(address, signal)
        return { gone: this.#gone(remotePeer) }
      }
    })
  }

  get peerId(): string {
    return this.#node.peerId.toString()
  }

  get multiaddrs(): readonly string[] {
    return this.#node.getMultiaddrs().map(String)
  }

  get pubsubTopics(): readonly string[] {
    return this.#options.pubsubTopics
  }

  get adminUrl(): string | undefined {
    return this.#admin?.url
  }

  relayPeerCount(pubsubTopic: string): number {
    return this.#relay.peerCount(pubsubTopic)
  }

  messageCount(): number {
    return this.#archive.count
  }

  get resumed(): Promise<Resumed> {
    return this.#resume.resumed
  }

  limitArchivePages(maxPages: number): void {
    this.#archive.limitPages(maxPages)
  }

  async connect(address: string): Promise<void> {
    await this.#dial(address)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async start(): Promise<void> {
    const { logger, now, requestTimeoutMs: deadlineMs } = this.#options
    const nowMs = (): number => Number(now() / 1_000_000n)
    const host = new ServiceHost({
      node: this.#node,
      metrics: this.#metrics,
      logger,
      deadlineMs,
      nowMs
    })
    const publisher = await this.#addServices(host)
    this.#node.addEventListener('connection:open', ({ detail }: CustomEvent<Connection>) => {
      this.#guard.check(detail).catch((error: unknown) => {
        logger.info(
          { peerId: detail.remotePeer.toString(), reason: errorMessage(error) },
          'peer left'
        )
      })
    })
    this.#sync = await startSync({
      options: this.#options,
      archive: this.#archive,
      node: this.#node,
      store: this.#store,
      metrics: this.#metrics
    })
    await this.#node.start()
    this.#relay.start((pubsubTopic, message, encoded) => {
      this.#metrics.relayed.inc()
      publisher.receive(pubsubTopic, message, encoded).catch((error: unknown) => {
        logger.error({ reason: errorMessage(error) }, 'relayed message not archived')
      })
    })
    this.#resume.start()
    this.#upkeep = setInterval(() => this.#keepUp(host), UPKEEP_INTERVAL_MS)
    this.#keepUp(host)
    await this.#startAdmin()
    for (const address of this.#options.peers) {
      this.#keeper.keep(address)
    }
    const { peerId, multiaddrs, pubsubTopics, adminUrl } = this
    logger.info({ peerId, multiaddrs, pubsubTopics, adminUrl }, 'node started')
  }

  async #addServices(host: ServiceHost): Promise<Publisher> {
    const { standalone, now } = this.#options
    const archive = this.#archive
    const publisher = new Publisher(
      { archive, relay: { publish: this.#publish.bind(this) }, now },
      standalone
    )
    const services = createServices(this.#options, {
      archive,
      serves: this.#relay.serves.bind(this.#relay),
      publish: publisher.publish.bind(publisher)
    })
    for (const service of services) {
      await host.add(service)
    }
    return publisher
  }

  async #publish(pubsubTopic: string, encoded: Uint8Array): Promise<RelayResult> {
    const result = await this.#relay.publish(pubsubTopic, encoded)
    if (result.status === 'relayed') {
      this.#metrics.published.inc()
    }
    return result
  }

  async #startAdmin(): Promise<void> {
    const { admin } = this.#options
    if (admin !== undefined) {
      const { host = '127.0.0.1', port } = admin
      this.#admin = await AdminServer.start({
        host,
        port,
        metrics: this.#metrics,
        health: () => this.#health()
      })
    }
  }

  async #dial(address: string, signal?: AbortSignal): Promise<Connection> {
    const connection = await this.#node.dial(multiaddr(address), { signal })
    await this.#guard.check(connection)
    this.#storePeers.choose(connection.remotePeer.toString())
    return connection
  }

  /** Resolves when a peer has no connection any more. */
  #gone(peerId: PeerId): Promise<void> {
    return new Promise((resolve) => {
      const onDisconnect = ({ detail }: CustomEvent<PeerId>): void => {
        if (detail.equals(peerId)) {
          this.#node.removeEventListener('peer:disconnect', onDisconnect)
          resolve()
        }
      }
      this.#node.addEventListener('peer:disconnect', onDisconnect)
      if (this.#node.getConnections(peerId).length === 0) {
        onDisconnect(new CustomEvent('peer:disconnect', { detail: peerId }))
      }
    })
  }

  #keepUp(host: ServiceHost): void {
    host.prune()
    try {
      this.#archive.prune()
    } catch (error) {
      this.#options.logger.error({ reason: errorMessage(error) }, 'archive not pruned')
    }
  }

  #health(): Health {
    const reason = this.#archive.lastError?.message
    return {
      status: reason === undefined ? 'ok' : 'failing',
      peerId: this.peerId,
      multiaddrs: this.multiaddrs,
      connections: this.#node.getConnections().length,
      messages: this.#archive.count,
      relayPeers: Object.fromEntries(this.#relayPeerCounts()),
      ...(reason === undefined ? undefined : { reason })
    }
  }

  #relayPeerCounts(): [string, number][] {
    return this.pubsubTopics.map((pubsubTopic) => [pubsubTopic, this.relayPeerCount(pubsubTopic)])
  }

  async #close(): Promise<void> {
    clearInterval(this.#upkeep)
    await this.#keeper.close()
    await this.#resume.close()
    await this.#admin?.close()
    await this.#sync?.close()
    await this.#node.stop()
    // Last: exchanges that were under way may still have committed.
    this.#archive.close()
    this.#options.logger.info({ peerId: this.peerId }, 'node closed')
  }
}
