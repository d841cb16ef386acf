/**
 * `waku-light/node`: the light node, a libp2p that is set up for service nodes of a Waku network. The one module that pulls
 * libp2p in.
 *
 * @packageDocumentation
 */
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Libp2p, PrivateKey } from '@libp2p/interface'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p } from 'libp2p'
import { ClosedError, InvalidArgumentError } from '../errors.ts'
import { assertTimeoutMs, withDeadline } from '../lib/deadline.ts'
import { report } from '../lib/report.ts'
import type { NetworkConfig } from '../message/topics.ts'
import type { CallOptions } from '../options.ts'
import {
  createServicePeers,
  type ManagedServicePeers,
  PEER_DEFAULTS,
  type ServicePeersOptions
} from './peers.ts'
import { answerPing, PING_PROTOCOL } from './ping.ts'
import { SendAhead } from './send-ahead.ts'
import type { ClientComponents, StreamHost } from './service-peers.ts'
import { type ClosingWebSockets, closingWebSockets } from './websockets.ts'

/** Defaults of {@link createLightNode}, in milliseconds. */
export const NODE_DEFAULTS = {
  pingIntervalMs: 30_000,
  networkTimeoutMs: 20_000,
  closeTimeoutMs: 2_000
} as const

/** How to build {@link createLightNode}. */
export interface LightNodeOptions extends ServicePeersOptions {
  /**
   * The node's private key, as `@libp2p/crypto/keys` makes it. A peer id identifies its
   * user to every node, so it is a fresh one on every start unless this is given.
   */
  readonly privateKey?: PrivateKey
  /**
   * How often an open connection is checked, in milliseconds; `Infinity` for never. One that does not answer in that
   * time, or within five seconds if that is less, is closed. @default 30000
   */
  readonly pingIntervalMs?: number
  /**
   * Whether requests leave before the node has agreed to their protocol, which saves half of all round trips. What a node
   * refuses or does not bear is asked for again the plain way. @default true
   */
  readonly sendAhead?: boolean
}

/** Whether a service node is connected, each time that changes. */
export interface ConnectionChange {
  readonly peerId: string
  readonly connected: boolean
}

/** A light node: the component that clients are built over. */
export interface LightNode extends ClientComponents {
  /** This node's own peer id. */
  readonly peerId: string
  /** For protocols that are more than one question and one answer. Its streams skip what the clients here take care of. */
  readonly streamHost: StreamHost
  /** Peer ids of the service nodes that are connected now. */
  readonly connectedPeers: readonly string[]
  /**
   * The network in use: as given, or learnt from the first node that tells.
   *
   * @throws {@link NoUsablePeerError}, {@link TimeoutError}, {@link ClosedError}, or the signal's own reason
   */
  network(options?: CallOptions): Promise<NetworkConfig>
  /** Tells each change of {@link LightNode.connectedPeers}; returns a function that ends this. */
  onConnectionChange(listener: (change: ConnectionChange) => void): () => void
  /** Ends every call under way with {@link ClosedError} and closes all connections; safe to call again. */
  close(): Promise<void>
}

/**
 * Creates a light node and starts to dial its first service node. It resolves without waiting for that: a node that cannot
 * be reached shows in the calls made, with its reason.
 *
 * @throws {@link InvalidArgumentError} for options that are wrong or do not go together
 *
 * @example
 * ```ts
 * const node = await createLightNode({ serviceNodes: ['/dns4/node.example/tcp/443/wss/p2p/16Uiu2HA…'] })
 * const lightPush = new LightPushClient(node)
 * ```
 */
export async function createLightNode(options: LightNodeOptions): Promise<LightNode> {
  const pingIntervalMs = options?.pingIntervalMs ?? NODE_DEFAULTS.pingIntervalMs
  assertTimeoutMs(pingIntervalMs, 'pingIntervalMs')
  // The dial has a deadline of its own; libp2p's for one address is shorter.
  const dialTimeoutMs = Math.min(
    options?.dialTimeoutMs ?? PEER_DEFAULTS.dialTimeoutMs,
    MAX_TIMER_MS
  )
  const privateKey = options?.privateKey
  if (privateKey !== undefined && typeof privateKey?.publicKey !== 'object') {
    throw new InvalidArgumentError('privateKey', 'must be a key of @libp2p/crypto')
  }
  const sockets = closingWebSockets(webSockets())
  const ahead =
    options?.sendAhead === false
      ? undefined
      : new SendAhead({ handshakeTimeoutMs: dialTimeoutMs / 2 })
  const libp2p = await createLibp2p({
    start: false,
    privateKey,
    addresses: { listen: [] },
    // The default tells every node the name and version of the browser.
    nodeInfo: { name: 'waku-light', userAgent: 'waku-light' },
    transports: [ahead?.transport(sockets.transport) ?? sockets.transport],
    connectionEncrypters: [ahead?.encrypter(noise()) ?? noise()],
    streamMuxers: [yamux({ maxInboundStreams: MAX_INBOUND_STREAMS })],
    // Addresses are screened before they get here; libp2p's own gater refuses loopback and plain ws.
    connectionGater: { denyDialMultiaddr: () => false },
    connectionMonitor: {
      enabled: pingIntervalMs <= MAX_TIMER_MS,
      pingInterval: Math.min(pingIntervalMs, MAX_TIMER_MS),
      pingTimeout: { minTimeout: Math.min(pingIntervalMs, MAX_PING_MS) }
    },
    connectionManager: { reconnectRetries: 0, addressDialTimeout: dialTimeoutMs },
    services: { identify: identify() }
  })
  const servicePeers = await createServicePeers(libp2p, options)
  await libp2p.handle(PING_PROTOCOL, answerPing, { maxInboundStreams: 2 })
  await libp2p.start()
  return new StartedLightNode(libp2p, servicePeers, sockets)
}

/** Streams that a peer may have open to us: each may fill its buffer of 4 MiB. */
const MAX_INBOUND_STREAMS = 32

const MAX_TIMER_MS = 2 ** 31 - 1

/** What a ping may take at least, on a connection that is not known to be slower. */
const MAX_PING_MS = 5_000

class StartedLightNode implements LightNode {
  readonly servicePeers: ManagedServicePeers
  readonly peerId: string
  readonly streamHost: StreamHost
  readonly #libp2p: Libp2p
  readonly #sockets: ClosingWebSockets
  readonly #listeners = new Set<(change: ConnectionChange) => void>()
  readonly #preparing: Promise<void>
  #connected: ReadonlySet<string> = new Set()
  #closing: Promise<void> | undefined

  constructor(libp2p: Libp2p, servicePeers: ManagedServicePeers, sockets: ClosingWebSockets) {
    this.#libp2p = libp2p
    this.streamHost = libp2p
    this.#sockets = sockets
    this.servicePeers = servicePeers
    this.peerId = libp2p.peerId.toString()
    libp2p.addEventListener('connection:open', this.#onChange)
    libp2p.addEventListener('connection:close', this.#onChange)
    this.#preparing = servicePeers.prepare()
  }

  get connectedPeers(): readonly string[] {
    const open = this.#libp2p.getConnections().filter(({ status }) => status === 'open')
    return [...new Set(open.map(({ remotePeer }) => remotePeer.toString()))]
  }

  async network(options: CallOptions = {}): Promise<NetworkConfig> {
    return await withDeadline('network', options, NODE_DEFAULTS.networkTimeoutMs, (signal) =>
      this.servicePeers.network(signal)
    )
  }

  onConnectionChange(listener: (change: ConnectionChange) => void): () => void {
    const own = (change: ConnectionChange): void => listener(change)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  async #close(): Promise<void> {
    await this.servicePeers.close()
    await this.#preparing
    // A graceful close waits for the peer, which may be gone.
    const timer = setTimeout(() => this.#abort(), NODE_DEFAULTS.closeTimeoutMs)
    try {
      await this.#libp2p.stop()
    } finally {
      clearTimeout(timer)
      this.#abort()
      await this.#sockets.close()
      this.#listeners.clear()
    }
  }

  #abort(): void {
    for (const connection of this.#libp2p.getConnections()) {
      connection.abort(new ClosedError())
    }
  }

  /** Events come for each connection, and for one that breaks more than once; changes are told once a peer. */
  readonly #onChange = (): void => {
    const before = this.#connected
    const now = new Set(this.connectedPeers)
    this.#connected = now
    for (const peerId of new Set([...before, ...now])) {
      const connected = now.has(peerId)
      for (const listener of before.has(peerId) === connected ? [] : this.#listeners) {
        report(listener, { peerId, connected })
      }
    }
  }
}

/** By way of libp2p's protobuf of it, since what reads that is in every bundle of libp2p already. */
