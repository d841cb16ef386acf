import { ClosedError, UnsupportedError } from '../errors.ts'
import { withDeadline, withSignals } from '../lib/deadline.ts'
import { createRequestId } from '../lib/random.ts'
import { report } from '../lib/report.ts'
import type { ServicePeer, ServicePeers } from '../transport/service-peers.ts'
import { type PageQuery, protocolsOf, type RawPage, type StoreGeneration } from './generation.ts'
import type { StoreProgress } from './page.ts'

/** Largest page that is read, in bytes: 100 of the reference node's largest messages, and what surrounds them. */
const MAX_PAGE_BYTES = 100 * 153_600 + 64 * 1024

/** How to build {@link StoreSession}. */
export interface SessionInit {
  readonly servicePeers: ServicePeers
  readonly peer: ServicePeer
  readonly generations: readonly StoreGeneration[]
  readonly requestTimeoutMs: number
  readonly onProgress?: (event: StoreProgress) => void
}

/** Requests to one node. Which generation is spoken shows with the first answer, and is held to from then on. */
export class StoreSession {
  /** For the requests that follow; whoever pulls a page sets it. */
  signal: AbortSignal = AbortSignal.abort()
  readonly #init: SessionInit
  readonly #ended = new AbortController()
  #generations: readonly StoreGeneration[]
  #peerId: string

  constructor(init: SessionInit) {
    this.#init = init
    this.#generations = init.generations
    this.#peerId = init.peer.peerId
  }

  /** The node's peer id, or its address before the first answer. */
  get peerId(): string {
    return this.#peerId
  }

  /** The generation that is spoken. */
  get generation(): StoreGeneration {
    const [generation] = this.#generations
    if (generation === undefined) {
      throw new UnsupportedError('no generation of the store protocol is in use')
    }
    return generation
  }

  /** Gives up the requests under way; the session is not to be used again. */
  end(): void {
    this.#ended.abort(new ClosedError())
  }

  /**
   * Asks for one page.
   *
   * @throws what the node's answer, the connection or the signal makes of it
   */
  async ask(query: PageQuery): Promise<RawPage> {
    const requestId = createRequestId()
    const { servicePeers, peer, requestTimeoutMs, onProgress } = this.#init
    const request = {
      protocols: protocolsOf(this.#generations),
      encode: (protocol: string) =>
        generationOf(this.#generations, protocol).encode(query, requestId),
      maxResponseBytes: MAX_PAGE_BYTES
    }
    const reply = await withSignals([this.signal, this.#ended.signal], (signal) =>
      withDeadline('store query', { signal }, requestTimeoutMs, (inner) =>
        servicePeers.request(peer, request, inner)
      )
    )
    this.#peerId = reply.peerId
    // Which one is spoken shows with the answer; what was asked first may not have been.
    this.#generations = [generationOf(this.#generations, reply.protocol)]
    const page = this.generation.decode(reply.bytes, {
      query,
      requestId,
      peerId: reply.peerId
    })
    servicePeers.note?.(peer, request.protocols)
    report(onProgress, {
      type: 'store:page',
      detail: {
        peerId: reply.peerId,
        protocol: reply.protocol,
        count: page.entries.length,
        bytes: reply.bytes.length
      }
    })
    return page
  }
}

function generationOf(generations: readonly StoreGeneration[], protocol: string): StoreGeneration {
  const generation = generations.find((candidate) => candidate.protocol === protocol)
  if (generation === undefined) {
    throw new UnsupportedError(`no generation in use is ${protocol}`)
  }
  return generation
}
