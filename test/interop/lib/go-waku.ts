import { join } from 'node:path'
import { LinePeer } from './line-peer.ts'
import { until } from './until.ts'

/** A message as go-waku's JSON has it: bytes in hex, times in decimal text. */
export interface GoMessage {
  readonly payload: string
  readonly contentTopic: string
  readonly version?: number
  readonly timestamp?: string
  readonly meta?: string
  readonly ephemeral?: boolean
}

/** One entry of what go-waku lists; what it does not know is left out. */
export interface GoEntry {
  readonly hash?: string
  readonly pubsubTopic?: string
  readonly message?: GoMessage
}

/** The pages of one walk. */
export interface GoPages<Cursor = unknown> {
  readonly pages: readonly {
    readonly messages: readonly GoEntry[]
    readonly cursor: Cursor | null
  }[]
}

/** How to start {@link GoWaku}. */
export interface GoWakuOptions {
  readonly clusterId: number
  readonly shards: readonly number[]
  /** Light pushes a second from one peer, 0 for no limit; service node only. */
  readonly pushRate?: number
  /** Multiaddrs to connect to first; service node only. */
  readonly peers?: readonly string[]
}

interface Ready {
  readonly peerId: string
  readonly multiaddrs: readonly string[]
}

const PROGRAM = join(import.meta.dirname, '../go-waku/build/go-waku-peer')

/** False where the run could not build go-waku; it has said why. */
export const hasGoWaku = process.env.INTEROP_WITHOUT_GO_WAKU === undefined

/** A go-waku node in a process of its own; ../go-waku/README.md has its commands. */
export class GoWaku {
  readonly #peer: LinePeer<Ready>

  private constructor(peer: LinePeer<Ready>) {
    this.#peer = peer
  }

  /** Starts a service node, `serve`, or a mere client. */
  static async start(
    role: 'serve' | 'client',
    { clusterId, shards, pushRate, peers = [] }: GoWakuOptions
  ): Promise<GoWaku> {
    const args = ['-cluster', String(clusterId), '-shards', shards.join(',')]
    if (pushRate !== undefined) {
      args.push('-push-rate', String(pushRate))
    }
    args.push(...peers.flatMap((address) => ['-peer', address]))
    return new GoWaku(await LinePeer.start<Ready>(PROGRAM, [role, ...args]))
  }

  get peerId(): string {
    return this.#peer.ready.peerId
  }

  get wsAddress(): string {
    return this.#address((address) => address.includes('/ws/'))
  }

  get tcpAddress(): string {
    return this.#address((address) => !address.includes('/ws/'))
  }

  async call<Result>(cmd: string, args: object = {}): Promise<Result> {
    return await this.#peer.call<Result>(cmd, args)
  }

  /** Hashes in its archive, in order. */
  async stored(): Promise<string[]> {
    const { messages } = await this.call<{ messages: GoEntry[] }>('stored')
    return messages.map(({ hash = '' }) => hash)
  }

  /** Waits until all of these, in hex, are in its archive. */
  async archived(hashes: readonly string[]): Promise<void> {
    await until('everything is archived', async () => {
      const stored = new Set(await this.stored())
      return hashes.every((hash) => stored.has(hash))
    })
  }

  /** Waits until a peer is in the mesh of a topic. */
  async meshed(pubsubTopic: string, peerId: string): Promise<void> {
    await until(`${peerId} is in the mesh`, async () => {
      const { mesh } = await this.call<{ mesh: string[] }>('relayPeers', { pubsubTopic })
      return mesh.includes(peerId)
    })
  }

  async close(): Promise<number | null> {
    return await this.#peer.close()
  }

  #address(isWanted: (address: string) => boolean): string {
    const address = this.#peer.ready.multiaddrs.find(isWanted)
    if (address === undefined) {
      throw new Error('go-waku does not listen there')
    }
    return address
  }
}
