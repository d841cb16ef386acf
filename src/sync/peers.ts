import type { Connection, Stream } from '@libp2p/interface'
import { ConnectionError, isWakuLightError, type WakuLightError } from '../errors.ts'
import { encodeClusterId, MAX_METADATA_BYTES, METADATA_PROTOCOL } from '../wire/metadata.ts'
import { RECONCILIATION_PROTOCOL } from '../wire/sync.ts'
import type { SyncNode } from './components.ts'
import { toStreamError } from './frames.ts'

/** Node programs that answer as the reference node does. */
const REFERENCE_AGENT = /nwaku|logos-delivery/i

/** What a peer says of itself in identify; nothing before that has come. */
interface PeerInfo {
  readonly protocols: readonly string[]
  readonly agentVersion: string
}

/** The peers of a node, as far as sync has to do with them. */
export class SyncPeers {
  readonly #node: SyncNode

  constructor(node: SyncNode) {
    this.#node = node
  }

  /** All that may be asked for something. */
  ids(): readonly string[] {
    const { servicePeers, streamHost } = this.#node
    const ids =
      servicePeers?.candidates().map(({ peerId }) => peerId) ??
      streamHost.getConnections().map(({ remotePeer }) => remotePeer.toString())
    return [...new Set(ids)]
  }

  /**
   * Those that may speak sync, in random order. A service node that is not connected yet may; of other peers only those that
   * say so.
   */
  async capable(random: () => number): Promise<readonly string[]> {
    const ranked: { peerId: string; rank: number }[] = []
    for (const peerId of this.ids()) {
      const protocols = (await this.#info(peerId))?.protocols ?? []
      const isUnknown = protocols.length === 0 && this.#node.servicePeers !== undefined
      if (isUnknown || protocols.includes(RECONCILIATION_PROTOCOL)) {
        ranked.push({ peerId, rank: random() })
      }
    }
    return ranked.sort((a, b) => a.rank - b.rank).map(({ peerId }) => peerId)
  }

  /** Whether a peer is a reference node, by what it says. */
  async isReference(peerId: string): Promise<boolean> {
    return REFERENCE_AGENT.test((await this.#info(peerId))?.agentVersion ?? '')
  }

  /**
   * Opens a stream; a service node that is not connected is dialed.
   *
   * @throws {@link UnsupportedError} if the peer does not speak the protocol, {@link ConnectionError} if it cannot be reached,
   * or the signal's own reason
   */
  async open(peerId: string, protocol: string, signal: AbortSignal): Promise<Stream> {
    const connection = this.#connection(peerId) ?? (await this.#connect(peerId, signal))
    try {
      return await connection.newStream(protocol, { signal, maxOutboundStreams: Infinity })
    } catch (cause) {
      signal.throwIfAborted()
      throw toStreamError(cause, 'a stream could not be opened', protocol)
    }
  }

  #connection(peerId: string): Connection | undefined {
    return this.#node.streamHost
      .getConnections()
      .find(({ status, remotePeer }) => status === 'open' && remotePeer.toString() === peerId)
  }

  /** Any request makes a light node connect; this one is what it asks each node anyway. */
  async #connect(peerId: string, signal: AbortSignal): Promise<Connection> {
    const { servicePeers } = this.#node
    const peer = servicePeers?.candidates().find((candidate) => candidate.peerId === peerId)
    if (servicePeers === undefined || peer === undefined) {
      throw new ConnectionError('the peer is not connected')
    }
    const { clusterId } = await servicePeers.network(signal)
    const encode = (): Uint8Array => encodeClusterId(clusterId)
    const protocols = [METADATA_PROTOCOL]
    let failure: WakuLightError = new ConnectionError('the peer is not connected')
    try {
      const request = { protocols, encode, maxResponseBytes: MAX_METADATA_BYTES }
      await servicePeers.request(peer, request, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!isWakuLightError(error)) {
        throw error
      }
      failure = error
    }
    // one that was known by its address has got a peer id by now
    const connection = this.#connection(peer.peerId)
    if (connection === undefined) {
      throw failure
    }
    return connection
  }

  async #info(peerId: string): Promise<PeerInfo | undefined> {
    const connection = this.#connection(peerId)
    try {
      const peer = connection && (await this.#node.streamHost.peerStore.get(connection.remotePeer))
      const agent = peer?.metadata.get('AgentVersion')
      return peer && { protocols: peer.protocols, agentVersion: new TextDecoder().decode(agent) }
    } catch {
      return undefined
    }
  }
}
