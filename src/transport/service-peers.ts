import type { Libp2p } from '@libp2p/interface'
import type { NetworkConfig } from '../message/topics.ts'
import type { ExchangeReply, ExchangeRequest } from './exchange.ts'

/** A service node as a client sees it. */
export interface ServicePeer {
  /** Peer id; the address where none is known yet. */
  readonly peerId: string
}

/**
 * What clients need of the world: the network, the service nodes in the order in which to try them, and a way to ask one of
 * them something. {@link createLightNode} makes one, {@link createServicePeers} makes one over any libp2p.
 */
export interface ServicePeers {
  /**
   * The network in use; learnt from the first node that tells, where it was not given.
   *
   * @throws {@link NoUsablePeerError} if it has to be learnt and no node tells
   */
  network(signal: AbortSignal): Promise<NetworkConfig>
  /**
   * Resolves once a node is connected, or none could be reached: at once where one is. While the platform says that there is no
   * network at all, it waits for that. To be called before nodes are chosen, so that one that says nothing holds up nobody.
   *
   * @throws the signal's own reason, {@link ClosedError}
   */
  reach?(signal: AbortSignal): Promise<void>
  /**
   * The nodes, best first. Behind all others are those that cannot be used at all, before them those that are known to speak
   * none of the protocols, and those that had too many requests just now. Of the rest, connected ones come before others, then
   * those that did well lately, then those that nobody has tried; a failure weighs more than that, and fades within minutes.
   *
   * @param protocols - what they are wanted for. Left out: anything
   */
  candidates(protocols?: readonly string[]): readonly ServicePeer[]
  /**
   * Takes what the caller makes of a node's answer; the next order of {@link ServicePeers.candidates} shows it.
   *
   * @param protocols - what it was asked for
   * @param error - left out: all was well
   */
  note?(peer: ServicePeer, protocols: readonly string[], error?: Error): void
  /**
   * Asks a node one thing on a stream of its own; dials it first if need be.
   *
   * @throws {@link ConnectionError}, {@link AddressError}, {@link ClusterMismatchError}, {@link UnsupportedError},
   * {@link LimitExceededError}, {@link ProtocolViolationError}, {@link ClosedError}, or the signal's own reason
   */
  request(
    peer: ServicePeer,
    request: ExchangeRequest,
    signal: AbortSignal
  ): Promise<ExchangeReply & ServicePeer>
}

/** What a client is built over. */
export interface ClientComponents {
  readonly servicePeers: ServicePeers
}

/** The part of libp2p that protocols take which are more than one question and one answer: streams both ways. */
export type StreamHost = Pick<Libp2p, 'handle' | 'unhandle' | 'getConnections' | 'peerStore'>
