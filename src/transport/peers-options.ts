import type { Libp2p } from '@libp2p/interface'
import { InvalidArgumentError, type PeerFailure } from '../errors.ts'
import { assertInteger } from '../lib/checks.ts'
import { assertTimeoutMs } from '../lib/deadline.ts'
import { definedOnly } from '../lib/defined.ts'
import type { Logger } from '../options.ts'
import type { NetworkOptions } from './network.ts'
import type { ServicePeer, ServicePeers } from './service-peers.ts'
import type { Service } from './services.ts'

/** How long things may take, in milliseconds, and how many may happen at a time. */
export const PEER_DEFAULTS = {
  dialTimeoutMs: 10_000,
  metadataTimeoutMs: 5_000,
  maxRequestsPerPeer: 32,
  maxWaitingRequestsPerPeer: 4096
} as const

/** The part of libp2p that is used here. */
export type Dialer = Pick<
  Libp2p,
  'dial' | 'handle' | 'unhandle' | 'getConnections' | 'addEventListener' | 'removeEventListener'
>

/** How to build {@link createServicePeers}. */
export interface ServicePeersOptions extends NetworkOptions {
  /** Multiaddrs of the service nodes, most wanted first; several addresses of one peer id are one node. */
  readonly serviceNodes: readonly string[]
  /** Allows addresses of private networks. Loopback is always allowed. @default false */
  readonly allowPrivateAddresses?: boolean
  /** For one dial of one address, in milliseconds. @default 10000 */
  readonly dialTimeoutMs?: number
  /** For the question which cluster a node belongs to; one that does not answer is used. Milliseconds. @default 5000 */
  readonly metadataTimeoutMs?: number
  /**
   * Requests to one node for one service at a time; more of them wait in line. Nodes take some two hundred streams.
   *
   * @default 32
   */
  readonly maxRequestsPerPeer?: number
  readonly logger?: Logger
}

/** Requests to one node for one service. */
export interface RequestQueue {
  readonly peerId: string
  /** `light-push`, `store`, `sync`, or a protocol id. */
  readonly service: string
  /** Requests under way. */
  readonly running: number
  /** Requests that wait for their turn; further ones than 4096 are refused with {@link LimitExceededError}. */
  readonly waiting: number
}

/** Service peers with a lifetime. */
export interface ManagedServicePeers extends ServicePeers {
  /** Those queues that are not empty. */
  readonly queues: readonly RequestQueue[]
  /** True while a node is connected that may be used. */
  readonly isConnected: boolean
  /** True while a node is connected that says that it does something, or all are that may be used. */
  readonly isSettled: boolean
  /** What the nodes that are connected now say that they can do; undefined while there is nothing, and one has not said anything. */
  readonly services: readonly Service[] | undefined
  /** Why each node is out of the question for good; undefined while one is not. */
  readonly refusals: readonly PeerFailure[] | undefined
  /**
   * Connects to one of the nodes and learns the network, and goes on until {@link ManagedServicePeers.isSettled}.
   *
   * @throws {@link NoUsablePeerError}, {@link ClosedError}, or the signal's own reason
   */
  connect(signal: AbortSignal): Promise<void>
  /**
   * Connects to a node that says that it can do something.
   *
   * @param onFailure - told what goes wrong where, while it happens
   * @throws as {@link ManagedServicePeers.connect}
   */
  find(
    service: Service,
    signal: AbortSignal,
    onFailure: (failure: PeerFailure) => void
  ): Promise<ServicePeer>
  /** Begins the dials anew that are under way: the network may be another one. */
  redial(): void
  /** Calls a listener each time that one of the above may have changed; returns a function that ends this. */
  onChange(listener: () => void): () => void
  /** Ends all calls under way with {@link ClosedError}; safe to call again. */
  close(): Promise<void>
}

/** The same with all defaults filled in. */
export type PeerSettings = ServicePeersOptions & {
  readonly [Name in keyof typeof PEER_DEFAULTS]: number
}

/**
 * Fills in the defaults of {@link createServicePeers}.
 *
 * @throws {@link InvalidArgumentError} naming the option that is wrong
 */
export function toPeerSettings(options: ServicePeersOptions): PeerSettings {
  if (!Array.isArray(options?.serviceNodes)) {
    throw new InvalidArgumentError('serviceNodes', 'must be an array of multiaddrs')
  }
  const settings = { ...PEER_DEFAULTS, ...definedOnly(options) }
  assertTimeoutMs(settings.dialTimeoutMs, 'dialTimeoutMs')
  assertTimeoutMs(settings.metadataTimeoutMs, 'metadataTimeoutMs')
  assertInteger('maxRequestsPerPeer', settings.maxRequestsPerPeer, 1)
  return settings
}
