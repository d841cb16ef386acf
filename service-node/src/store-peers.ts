import type { SubscriptionChangeData } from '@libp2p/gossipsub'
import type { Connection, IdentifyResult, PeerId } from '@libp2p/interface'
import type { ExchangeReply, ExchangeRequest, ServicePeer, ServicePeers } from 'waku-light'
import { ConnectionError } from 'waku-light/errors'
import type { StaticSharding } from 'waku-light/message'
import { STORE_QUERY_3_PROTOCOL } from 'waku-light/wire'
import { ask } from './exchange.ts'
import { RELAY_PROTOCOL } from './relay.ts'
import type { RelayNode } from './relay-node.ts'

/** What {@link StorePeers} works with. */
export interface StorePeersInit {
  readonly node: RelayNode
  readonly network: StaticSharding
  /** True: this node is told to connect to some peers, whether or not it has done so yet. */
  readonly hasChosen: boolean
  /** Resolves for a connection to a peer of the same cluster. */
  check(connection: Connection): Promise<void>
}

/** Told when a peer comes or goes. */
export type PeerListener = (change: {
  readonly peerId: string
  readonly connected: boolean
}) => void

/**
 * The connected peers that serve a store and relay to this node: whom it can ask for messages, on the connections that it has.
 * It dials nobody.
 */
export class StorePeers implements ServicePeers {
  readonly #init: StorePeersInit
  /** Of the same cluster, and with a store. */
  readonly #stores = new Map<string, PeerId>()
  /** Those of them that know what this node subscribed to: from then on, what is new comes by relay. */
  readonly #ready = new Map<string, PeerId>()
  readonly #chosen = new Set<string>()
  readonly #listeners = new Set<PeerListener>()

  /** To be made before the node starts, so that no peer is overlooked. */
  constructor(init: StorePeersInit) {
    const { node } = init
    this.#init = init
    node.addEventListener('peer:identify', ({ detail }: CustomEvent<IdentifyResult>) => {
      const { protocols, connection, peerId } = detail
      if (protocols.includes(STORE_QUERY_3_PROTOCOL) && protocols.includes(RELAY_PROTOCOL)) {
        init.check(connection).then(
          () => {
            this.#stores.set(peerId.toString(), peerId)
            this.#update(peerId)
          },
          () => undefined // whoever checked first has said why it is left
        )
      }
    })
    node.services.pubsub.addEventListener(
      'subscription-change',
      ({ detail }: CustomEvent<SubscriptionChangeData>) => this.#update(detail.peerId)
    )
    node.addEventListener('peer:disconnect', ({ detail }: CustomEvent<PeerId>) => {
      this.#stores.delete(detail.toString())
      this.#update(detail)
    })
  }

  candidates(): readonly ServicePeer[] {
    return [...this.#ready.keys()].map((peerId) => ({ peerId }))
  }

  /**
   * Whose word is taken for it that there is no more: the peers that this node was told to connect to; whoever is connected, if
   * it was told of none.
   */
  trusted(): readonly ServicePeer[] {
    const { hasChosen } = this.#init
    return this.candidates().filter(
      ({ peerId }) => this.#chosen.has(peerId) || (!hasChosen && this.#chosen.size === 0)
    )
  }

  /** This node was told to connect to a peer. */
  choose(peerId: string): void {
    this.#chosen.add(peerId)
    if (this.#ready.has(peerId)) {
      this.#tell({ peerId, connected: true }) // as one that may be trusted
    }
  }

  network(): Promise<StaticSharding> {
    return Promise.resolve(this.#init.network)
  }

  async request(
    { peerId }: ServicePeer,
    request: ExchangeRequest,
    signal: AbortSignal
  ): Promise<ExchangeReply & ServicePeer> {
    const peer = this.#ready.get(peerId)
    const connection = peer && this.#connection(peer)
    if (connection === undefined) {
      throw new ConnectionError('the peer is not connected')
    }
    return { peerId, ...(await ask(connection, request, signal)) }
  }

  /** Tells which peers come and go; returns a function that ends this. */
  onChange(listener: PeerListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  #update(peer: PeerId): void {
    const peerId = peer.toString()
    const connected = this.#stores.has(peerId) && this.#relays(peer)
    if (connected === this.#ready.has(peerId)) {
      return
    }
    if (connected) {
      this.#ready.set(peerId, peer)
    } else {
      this.#ready.delete(peerId)
    }
    this.#tell({ peerId, connected })
  }

  #tell(change: Parameters<PeerListener>[0]): void {
    for (const listener of this.#listeners) {
      listener(change)
    }
  }

  #relays(peer: PeerId): boolean {
    const { node, network } = this.#init
    return (
      this.#connection(peer) !== undefined &&
      network.pubsubTopics.some((pubsubTopic) =>
        node.services.pubsub.getSubscribers(pubsubTopic).some((other) => other.equals(peer))
      )
    )
  }

  #connection(peer: PeerId): Connection | undefined {
    return this.#init.node.getConnections(peer).find(({ status }) => status === 'open')
  }
}
