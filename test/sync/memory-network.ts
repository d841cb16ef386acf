// Nodes in memory: streams between them are libp2p's own pairs, everything else is a few lines.
import type { Connection, Stream } from '@libp2p/interface'
import { lpStream, streamPair } from '@libp2p/utils'
import type { SyncNode } from '../../src/sync/index.ts'

type Handler = (stream: Stream, connection: Connection) => void | Promise<void>

export class MemoryNode implements SyncNode {
  readonly handlers = new Map<string, Handler>()
  readonly streamHost: SyncNode['streamHost']
  /** Streams that this node opened, by protocol. */
  readonly opened: string[] = []
  agentVersion = 'waku-light'
  #peers: MemoryNode[] = []
  #listeners = new Set<(change: { peerId: string; connected: boolean }) => void>()

  constructor(readonly peerId: string) {
    this.streamHost = {
      handle: async (protocol: string, handler: Handler) => {
        this.handlers.set(protocol, handler)
      },
      unhandle: async (protocols: string[]) => {
        for (const protocol of protocols) {
          this.handlers.delete(protocol)
        }
      },
      getConnections: () => this.#peers.map((peer) => this.#connectionTo(peer)),
      peerStore: {
        get: async ({ toString }: { toString: () => string }) => {
          const peer = this.#peers.find(({ peerId: id }) => id === toString())
          const agent = new TextEncoder().encode(peer?.agentVersion)
          return {
            protocols: [...(peer?.handlers.keys() ?? [])],
            metadata: new Map([['AgentVersion', agent]])
          }
        }
      }
    } as unknown as SyncNode['streamHost']
  }

  onConnectionChange(
    listener: (change: { peerId: string; connected: boolean }) => void
  ): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get listenerCount(): number {
    return this.#listeners.size
  }

  connect(...peers: MemoryNode[]): void {
    for (const peer of peers) {
      this.#change(peer, true)
      peer.#change(this, true)
    }
  }

  /** Lists a peer before all others. */
  prefer(peer: MemoryNode): void {
    this.#peers = [peer, ...this.#peers.filter((other) => other !== peer)]
  }

  disconnect(peer: MemoryNode): void {
    this.#change(peer, false)
    peer.#change(this, false)
  }

  /** Answers a protocol by a script over frames; what it throws resets the stream. */
  script(
    protocol: string,
    run: (frames: ReturnType<typeof lpStream<Stream>>, stream: Stream) => Promise<void>
  ): void {
    this.handlers.set(protocol, async (stream) => {
      try {
        await run(lpStream(stream, { maxDataLength: 8_000_000, maxBufferSize: 16_000_000 }), stream)
        await stream.close()
      } catch (error) {
        stream.abort(error as Error)
      }
    })
  }

  async open(peer: MemoryNode, protocol: string): Promise<Stream> {
    const handler = peer.handlers.get(protocol)
    if (handler === undefined) {
      throw Object.assign(new Error('na'), { name: 'UnsupportedProtocolError' })
    }
    this.opened.push(protocol)
    const [outbound, inbound] = await streamPair({ protocol })
    Promise.resolve(handler(inbound, peer.#connectionTo(this))).catch((error: Error) =>
      inbound.abort(error)
    )
    return outbound
  }

  #connectionTo(peer: MemoryNode): Connection {
    return {
      status: 'open',
      remotePeer: { toString: () => peer.peerId },
      newStream: (protocol: string) => this.open(peer, protocol)
    } as unknown as Connection
  }

  #change(peer: MemoryNode, connected: boolean): void {
    this.#peers = this.#peers.filter((other) => other !== peer)
    if (connected) {
      this.#peers.push(peer)
    }
    for (const listener of this.#listeners) {
      listener({ peerId: peer.peerId, connected })
    }
  }
}
