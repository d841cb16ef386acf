import type { Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import type { ClientComponents, NetworkConfig, ServicePeer, ServicePeers } from 'waku-light'
import { exchange } from '../../src/transport/exchange.ts'
import { NETWORK } from '../helpers/fake-peers.ts'
import { connectInMemory, type MemoryConnection } from '../transport/helpers/memory-connection.ts'
import { SCRIPTS } from './malice.ts'
import type { Random } from './random.ts'
import { always } from './watch.ts'

type Request = Parameters<ServicePeers['request']>[1]
type Reply = Awaited<ReturnType<ServicePeers['request']>>

/** Questions after which a client is taken to ask for ever. */
const MAX_REQUESTS = 3_000

/** What the far sides make of requests. */
export interface FarSide {
  /** The one that each of them speaks; streams in memory are not negotiated. */
  readonly protocols: readonly string[]
  /** The answer, honest or not, without its length. */
  readonly answer: (protocol: string, request: Uint8Array) => Uint8Array
  /** Name of what is to be done with it, among {@link SCRIPTS}. */
  readonly script: () => string
  /** Called where nothing more will come. */
  readonly onSilence: () => void
}

/** Service peers over real muxers in memory, at whose other ends is a {@link FarSide} that plays a script on each stream. */
export class MemoryPeers implements ServicePeers, ClientComponents {
  readonly #farSide: FarSide
  readonly #random: Random
  readonly #connections = new Map<string, MemoryConnection>()
  /** Requests so far, with the protocol of each. */
  readonly requests: { readonly protocol: string; readonly bytes: Uint8Array }[] = []

  constructor(random: Random, farSide: FarSide) {
    this.#random = random
    this.#farSide = farSide
    for (const [index, protocol] of farSide.protocols.entries()) {
      this.#connect(`peer-${index}`, protocol)
    }
  }

  get servicePeers(): ServicePeers {
    return this
  }

  async network(): Promise<NetworkConfig> {
    return NETWORK
  }

  candidates(): readonly ServicePeer[] {
    return Array.from(this.#connections.keys(), (peerId) => ({ peerId }))
  }

  async request({ peerId }: ServicePeer, request: Request, signal: AbortSignal): Promise<Reply> {
    always(this.requests.length < MAX_REQUESTS, 'a client asks for ever')
    const { connection } = this.#connections.get(peerId) as MemoryConnection
    const reply = await exchange(connection, request, signal)
    return { ...reply, peerId }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#connections.values(), (memory) => memory.close()))
  }

  /** Connects to a far side, for the first time or as after a redial. */
  #connect(peerId: string, protocol: string): void {
    const { answer, script, onSilence } = this.#farSide
    const random = this.#random
    const serve = async (stream: Stream): Promise<void> => {
      const bytes = (await lpStream(stream).read()).subarray()
      this.requests.push({ protocol, bytes })
      const body = new Uint8Array(answer(protocol, bytes))
      await SCRIPTS[script()]?.({ random, stream, body, onSilence, breakOff })
    }
    const memory = connectInMemory(serve, [protocol])
    const breakOff = (): void => {
      memory.breakOff()
      memory.close().catch(() => undefined)
      this.#connect(peerId, protocol)
    }
    this.#connections.set(peerId, memory)
  }
}
