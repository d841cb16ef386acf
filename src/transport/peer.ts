import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { hasErrorCode, isWakuLightError, type WakuLightError } from '../errors.ts'
import { Turnstile } from '../lib/turnstile.ts'
import { type AddressPolicy, parseServiceAddress } from './addresses.ts'
import { PEER_DEFAULTS } from './peers-options.ts'
import type { ServicePeer } from './service-peers.ts'
import { serviceOf } from './services.ts'
import { Standing } from './standing.ts'

/** What a node was for one service. */
export interface ServiceRecord {
  /** Requests pass through here. */
  readonly turnstile: Turnstile
  readonly standing: Standing
}

/** An address that is not used, and why. */
export interface SkippedAddress {
  /** The peer id, or the address where it names none. */
  readonly peerId: string
  readonly error: WakuLightError
}

/** One service node: its addresses, and what has become of it so far. */
export class Peer implements ServicePeer {
  /** Those that may be opened, in the order given. */
  readonly multiaddrs: Multiaddr[] = []
  /** How well it could be reached. */
  readonly link = new Standing(Date.now)
  /** What it was for each service that it was wanted for. */
  readonly services = new Map<string, ServiceRecord>()
  /** Why it is not dialed at all. */
  refusal: WakuLightError | undefined
  /** What it says that it speaks. */
  protocols: readonly string[] | undefined
  readonly #key: string
  readonly #maxRequests: number
  #remoteId: string | undefined

  /**
   * Knows nothing of it yet.
   *
   * @param key - its peer id, or its address where that names none
   * @param maxRequests - to it for one service at a time
   */
  constructor(key: string, maxRequests: number) {
    this.#key = key
    this.#maxRequests = maxRequests
  }

  /** Its peer id; its address while that is not known. */
  get peerId(): string {
    return this.#remoteId ?? this.#key
  }

  /** True for its peer id, and for the address by which it was known before. */
  isCalled(peerId: string): boolean {
    return peerId === this.#key || peerId === this.#remoteId
  }

  /** What it was for the service that some protocols are of; '' for none. */
  at([protocol = '']: readonly string[]): ServiceRecord {
    const service = serviceOf(protocol)
    const record = this.services.get(service) ?? {
      turnstile: new Turnstile(this.#maxRequests, PEER_DEFAULTS.maxWaitingRequestsPerPeer),
      standing: new Standing(Date.now)
    }
    this.services.set(service, record)
    return record
  }

  /** True for a connection to this node. By an address that names no peer id it is known too, and then tells the peer id. */
  owns({ remotePeer, remoteAddr }: Connection): boolean {
    const remoteId = remotePeer.toString()
    const owned =
      remoteId === this.#key ||
      this.multiaddrs.some((address) => address.toString() === withoutPeer(remoteAddr))
    if (owned) {
      this.#remoteId = remoteId
    }
    return owned
  }
}

/**
 * Reads the configured addresses: one entry a node, those of one peer id belong together.
 *
 * @param serviceNodes - multiaddrs, whatever the caller gave
 */
export function toPeers(
  serviceNodes: readonly string[],
  policy: AddressPolicy,
  maxRequests: number
): { readonly peers: readonly Peer[]; readonly skipped: readonly SkippedAddress[] } {
  const peers = new Map<string, Peer>()
  const skipped: SkippedAddress[] = []
  const peerOf = (key: string): Peer => {
    const peer = peers.get(key) ?? new Peer(key, maxRequests)
    peers.set(key, peer)
    return peer
  }
  for (const address of serviceNodes) {
    try {
      const { multiaddr, peerId } = parseServiceAddress(address, policy)
      const peer = peerOf(peerId ?? multiaddr.toString())
      peer.refusal = undefined
      if (!peer.multiaddrs.some((known) => known.equals(multiaddr))) {
        peer.multiaddrs.push(multiaddr)
      }
    } catch (error) {
      if (!hasErrorCode(error, 'ERR_ADDRESS')) {
        throw error
      }
      const peerId = /\/p2p\/(\w+)$/.exec(error.address)?.[1] ?? error.address
      const peer = peerOf(peerId)
      if (peer.multiaddrs.length === 0) {
        peer.refusal ??= error
      }
      skipped.push({ peerId, error })
    }
  }
  return { peers: [...peers.values()], skipped }
}

/** True for what speaks against a node: not for what it cannot do by its nature, what we did wrong, or an abort. */
export function isFault(error: unknown): boolean {
  const isBlameless = hasErrorCode(error, 'ERR_UNSUPPORTED', 'ERR_INVALID_ARGUMENT', 'ERR_CLOSED')
  return isWakuLightError(error) && !isBlameless
}

function withoutPeer(address: Multiaddr): string {
  return address.toString().replace(/\/p2p\/\w+$/, '')
}
