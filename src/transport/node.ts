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
import {
  ClosedError,
  hasErrorCode,
  InvalidArgumentError,
  NoUsablePeerError,
  type PeerFailure
} from '../errors.ts'
import { assertTimeoutMs, delay, withDeadline } from '../lib/deadline.ts'
import { report } from '../lib/report.ts'
import { onWake } from '../lib/wake.ts'
import type { NetworkConfig } from '../message/topics.ts'
import type { CallOptions } from '../options.ts'
import { Keeper } from './keeper.ts'
import { Liveness } from './liveness.ts'
import { createServicePeers } from './peers.ts'
import {
  type ManagedServicePeers,
  PEER_DEFAULTS,
  type RequestQueue,
  type ServicePeersOptions
} from './peers-options.ts'
import { answerPing, PING_PROTOCOL } from './ping.ts'
import { SendAhead } from './send-ahead.ts'
import type { ClientComponents, ServicePeer, StreamHost } from './service-peers.ts'
import { assertService, type Service } from './services.ts'
import { isSameState, type NodeState, stateOf } from './state.ts'
import { type ClosingWebSockets, closingWebSockets } from './websockets.ts'

/** Defaults of {@link createLightNode}, in milliseconds. */
export const NODE_DEFAULTS = {
  pingIntervalMs: 15_000,
  minRedialMs: 500,
  maxRedialMs: 30_000,
  networkTimeoutMs: 20_000,
  readyTimeoutMs: 30_000,
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
   * After how long without a byte a connection is checked, in milliseconds; `Infinity` for never. One that then says nothing
   * in that time, or within five seconds if that is less, is closed, and a node dialed anew. @default 15000
   */
  readonly pingIntervalMs?: number
  /** Pause before a node is dialed again, in milliseconds; each next one is twice as long, all of them jittered. @default 500 */
  readonly minRedialMs?: number
  /** Longest such pause, in milliseconds. @default 30000 */
  readonly maxRedialMs?: number
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
  /** How it is now. */
  readonly state: NodeState
  /** Requests under way and in line, for each node and service that has any. */
  readonly queues: readonly RequestQueue[]
  /**
   * The network in use: as given, or learnt from the first node that tells.
   *
   * @throws {@link NoUsablePeerError}, {@link TimeoutError}, {@link ClosedError}, or the signal's own reason
   */
  network(options?: CallOptions): Promise<NetworkConfig>
  /**
   * Resolves with a node that is connected and says that it does something. Nodes that cannot be reached are tried again until
   * the deadline, 30 s by default.
   *
   * @throws {@link NoUsablePeerError} with what was missing at each node, at the deadline or once none of them can ever do;
   * {@link ClosedError}, {@link InvalidArgumentError}, or the signal's own reason
   */
  ready(service: Service, options?: CallOptions): Promise<ServicePeer>
  /** Checks all connections and dials at once, where that was waiting. It happens by itself when a page is online or seen again. */
  reconnect(): void
  /** Tells each change of {@link LightNode.state}, none twice; returns a function that ends this. */
  onStateChange(listener: (state: NodeState) => void): () => void
  /** Tells each change of {@link LightNode.connectedPeers}; returns a function that ends this. */
  onConnectionChange(listener: (change: ConnectionChange) => void): () => void
  /** Ends every call under way with {@link ClosedError} and closes all connections; safe to call again. */
  close(): Promise<void>
}

/**
 * Creates a light node and starts to dial: its first service node, and beside it the next ones if that takes long. One is kept
 * connected from then on. It resolves without waiting for that: a node that cannot be reached shows in
 * {@link LightNode.state} and in the calls made, with its reason.
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
  const minRedialMs = options?.minRedialMs ?? NODE_DEFAULTS.minRedialMs
  const maxRedialMs = options?.maxRedialMs ?? NODE_DEFAULTS.maxRedialMs
  assertTimeoutMs(pingIntervalMs, 'pingIntervalMs')
  assertTimeoutMs(minRedialMs, 'minRedialMs')
  assertTimeoutMs(maxRedialMs, 'maxRedialMs')
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
    // It pings whatever else is said on a connection, and not when a page is seen again.
    connectionMonitor: { enabled: false },
    connectionManager: { reconnectRetries: 0, addressDialTimeout: dialTimeoutMs },
    services: { identify: identify() }
  })
  const servicePeers = await createServicePeers(libp2p, options)
  await libp2p.handle(PING_PROTOCOL, answerPing, { maxInboundStreams: 2 })
  await libp2p.start()
  return new StartedLightNode({
    libp2p,
    servicePeers,
    sockets,
    pingIntervalMs: pingIntervalMs <= MAX_TIMER_MS ? pingIntervalMs : Infinity,
    minRedialMs,
    maxRedialMs
  })
}

/** Streams that a peer may have open to us: each may fill its buffer of 4 MiB. */
const MAX_INBOUND_STREAMS = 32

const MAX_TIMER_MS = 2 ** 31 - 1

/** What a ping may take, while nothing else comes on the connection. */
const MAX_PING_MS = 5_000

interface StartedInit {
  readonly libp2p: Libp2p
  readonly servicePeers: ManagedServicePeers
  readonly sockets: ClosingWebSockets
  readonly pingIntervalMs: number
  readonly minRedialMs: number
  readonly maxRedialMs: number
}

class StartedLightNode implements LightNode {
  readonly servicePeers: ManagedServicePeers
  readonly peerId: string
  readonly streamHost: StreamHost
  readonly #libp2p: Libp2p
  readonly #sockets: ClosingWebSockets
  readonly #listeners = new Set<(change: ConnectionChange) => void>()
  readonly #stateListeners = new Set<(state: NodeState) => void>()
  readonly #liveness: Liveness
  readonly #keeper: Keeper
  readonly #keeping: Promise<unknown>
  readonly #ending = new AbortController()
  #connected: ReadonlySet<string> = new Set()
  #state: NodeState
  #closing: Promise<void> | undefined

  constructor(init: StartedInit) {
    const { libp2p, servicePeers, sockets, pingIntervalMs } = init
    this.#libp2p = libp2p
    this.streamHost = libp2p
    this.#sockets = sockets
    this.servicePeers = servicePeers
    this.peerId = libp2p.peerId.toString()
    this.#liveness = new Liveness({
      intervalMs: pingIntervalMs,
      timeoutMs: Math.min(pingIntervalMs, MAX_PING_MS)
    })
    this.#keeper = new Keeper({
      peers: servicePeers,
      onChange: this.#onState,
      minBackoffMs: init.minRedialMs,
      maxBackoffMs: init.maxRedialMs,
      random: Math.random,
      sleep: delay,
      now: Date.now
    })
    this.#state = this.state
    const { signal } = this.#ending
    libp2p.addEventListener('connection:open', ({ detail }) => this.#liveness.watch(detail))
    libp2p.addEventListener('connection:open', this.#onChange)
    libp2p.addEventListener('connection:close', this.#onChange)
    servicePeers.onChange(this.#onState)
    onWake(() => this.reconnect(), signal)
    globalThis.addEventListener?.('offline', this.#onState, { signal })
    this.#keeping = this.#keeper.run(signal).catch(() => undefined)
  }

  get state(): NodeState {
    return this.#closing === undefined
      ? stateOf({ peers: this.servicePeers, keeper: this.#keeper })
      : { status: 'closed', services: [] }
  }

  get queues(): readonly RequestQueue[] {
    return this.servicePeers.queues
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

  async ready(service: Service, options: CallOptions = {}): Promise<ServicePeer> {
    assertService(service)
    let failures: PeerFailure[] = []
    try {
      return await withDeadline('ready', options, NODE_DEFAULTS.readyTimeoutMs, async (signal) => {
        for (let rounds = 0; ; rounds++) {
          failures = []
          try {
            return await this.servicePeers.find(service, signal, failures)
          } catch (error) {
            const { refusals } = this.servicePeers
            if (refusals !== undefined || !hasErrorCode(error, 'ERR_NO_USABLE_PEER')) {
              throw error
            }
          }
          await this.#keeper.pause(rounds, signal)
        }
      })
    } catch (error) {
      if (!hasErrorCode(error, 'ERR_TIMEOUT') || error.operation !== 'ready') {
        throw error
      }
      const told = new Set(failures.map(({ peerId }) => peerId))
      const silent = this.servicePeers.candidates().filter(({ peerId }) => !told.has(peerId))
      throw new NoUsablePeerError([...failures, ...silent.map(({ peerId }) => ({ peerId, error }))])
    }
  }

  reconnect(): void {
    this.#liveness.check()
    this.#keeper.wake()
    this.#onState()
  }

  onConnectionChange(listener: (change: ConnectionChange) => void): () => void {
    return subscribe(this.#listeners, listener)
  }

  onStateChange(listener: (state: NodeState) => void): () => void {
    return subscribe(this.#stateListeners, listener)
  }

  async close(): Promise<void> {
    if (this.#closing === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      this.#closing = promise // before the state is told
      this.#close().then(resolve, reject)
    }
    await this.#closing
  }

  async #close(): Promise<void> {
    this.#onState()
    this.#ending.abort()
    this.#liveness.close()
    await this.servicePeers.close()
    await this.#keeping
    // A graceful close waits for the peer, which may be gone.
    const timer = setTimeout(() => this.#abort(), NODE_DEFAULTS.closeTimeoutMs)
    try {
      await this.#libp2p.stop()
    } finally {
      clearTimeout(timer)
      this.#abort()
      await this.#sockets.close()
      this.#listeners.clear()
      this.#stateListeners.clear()
    }
  }

  #abort(): void {
    for (const connection of this.#libp2p.getConnections()) {
      connection.abort(new ClosedError())
    }
  }

  readonly #onState = (): void => {
    const { state } = this
    if (!isSameState(this.#state, state)) {
      this.#state = state
      for (const listener of this.#stateListeners) {
        report(listener, state)
      }
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

/** Adds a listener, be it there already; returns a function that takes this one out. */
function subscribe<Event>(
  listeners: Set<(event: Event) => void>,
  listener: (event: Event) => void
): () => void {
  const own = (event: Event): void => listener(event)
  listeners.add(own)
  return () => {
    listeners.delete(own)
  }
}
