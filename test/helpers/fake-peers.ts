import type { ClientComponents, NetworkConfig, ServicePeer, ServicePeers } from 'waku-light'
import {
  LimitExceededError,
  RemoteStatusError,
  UnsupportedError,
  type WakuLightError
} from 'waku-light/errors'

type ExchangeRequest = Parameters<ServicePeers['request']>[1]
type ExchangeReply = Awaited<ReturnType<ServicePeers['request']>>

/** One request as a fake peer gets it. */
export interface FakeRequest {
  /** Its number, over all peers, from 0. */
  readonly index: number
  readonly peerId: string
  readonly protocol: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly signal: AbortSignal
}

/** A peer as a script. */
export interface FakePeer {
  readonly peerId: string
  /** Protocols it speaks. */
  readonly protocols: readonly string[]
  /** The answer to a request; what it throws breaks the stream after the request was written. */
  readonly answer: (request: FakeRequest) => Uint8Array | Promise<Uint8Array>
  /** Called before anything is written; what it throws is a failed dial. */
  readonly dial?: (signal: AbortSignal) => void | Promise<void>
}

/** The network in use where a test does not say otherwise. */
export const NETWORK: NetworkConfig = { clusterId: 1, shardCount: 8 }

/** Service peers that answer from scripts, and a record of what they were asked. */
export class FakePeers implements ServicePeers, ClientComponents {
  readonly requests: FakeRequest[] = []
  /** What the client made of each answer: `good`, or the code of the error. */
  readonly notes: string[] = []
  /** Requests that have been neither answered nor given up. */
  pending = 0
  networkCalls = 0
  readonly #peers: readonly FakePeer[]
  readonly #network: (signal: AbortSignal) => NetworkConfig | Promise<NetworkConfig>

  constructor(
    peers: readonly FakePeer[],
    network:
      | NetworkConfig
      | ((signal: AbortSignal) => NetworkConfig | Promise<NetworkConfig>) = NETWORK
  ) {
    this.#peers = peers
    this.#network = typeof network === 'function' ? network : () => network
  }

  /** What a client is built over. */
  get servicePeers(): ServicePeers {
    return this
  }

  async network(signal: AbortSignal): Promise<NetworkConfig> {
    this.networkCalls++
    return await this.#network(signal)
  }

  candidates(): readonly ServicePeer[] {
    return this.#peers.map(({ peerId }) => ({ peerId }))
  }

  note({ peerId }: ServicePeer, protocols: readonly string[], error?: Error): void {
    const status = error instanceof RemoteStatusError ? ` ${error.statusCode}` : ''
    const verdict = error === undefined ? 'good' : `${(error as WakuLightError).code}${status}`
    this.notes.push(`${peerId}: ${verdict}`)
    if (protocols.length === 0) {
      throw new Error('a note for nothing')
    }
  }

  async request(
    { peerId }: ServicePeer,
    { protocols, encode, maxResponseBytes, onWrite }: ExchangeRequest,
    signal: AbortSignal
  ): Promise<ExchangeReply> {
    const peer = this.#peers.find((candidate) => candidate.peerId === peerId)
    if (peer === undefined) {
      throw new Error(`the test asked a peer that it did not make: ${peerId}`)
    }
    this.pending++
    try {
      await peer.dial?.(signal)
      const protocol = protocols.find((candidate) => peer.protocols.includes(candidate))
      if (protocol === undefined) {
        throw new UnsupportedError(`the peer speaks none of ${protocols.join(', ')}`)
      }
      const request: FakeRequest = {
        index: this.requests.length,
        peerId,
        protocol,
        bytes: new Uint8Array(encode(protocol)),
        signal
      }
      onWrite?.()
      this.requests.push(request)
      const bytes = new Uint8Array(await peer.answer(request))
      if (bytes.length > maxResponseBytes) {
        throw new LimitExceededError('the answer is too long', maxResponseBytes)
      }
      return { protocol, bytes, peerId }
    } finally {
      this.pending--
    }
  }
}

/** An answer that never comes; it fails when the request is given up. */
export function never(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
