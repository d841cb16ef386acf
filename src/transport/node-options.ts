import type { PrivateKey } from '@libp2p/interface'
import type { NetworkConfig } from '../message/topics.ts'
import type { CallOptions } from '../options.ts'
import type { RequestQueue, ServicePeersOptions } from './peers-options.ts'
import type { ClientComponents, ServicePeer, StreamHost } from './service-peers.ts'
import type { Service } from './services.ts'
import type { NodeState } from './state.ts'

/** Defaults of {@link createLightNode}, in milliseconds. */
export const NODE_DEFAULTS = {
  pingIntervalMs: 15_000,
  pingTimeoutMs: 5_000,
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
  /** After how long without a byte a connection is checked, in milliseconds; `Infinity` for never. @default 15000 */
  readonly pingIntervalMs?: number
  /**
   * For a sign of life, in milliseconds. A connection on which nothing comes in that time is closed, and a node dialed anew.
   *
   * @default 5000
   */
  readonly pingTimeoutMs?: number
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
