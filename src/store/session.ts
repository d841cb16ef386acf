import { ClosedError, ProtocolViolationError, UnsupportedError } from '../errors.ts'
import { withDeadline, withSignals } from '../lib/deadline.ts'
import { createRequestId } from '../lib/random.ts'
import { report } from '../lib/report.ts'
import type { ServicePeer, ServicePeers } from '../transport/service-peers.ts'
import {
  generationOf,
  type PageQuery,
  protocolsOf,
  type RawPage,
  type StoreGeneration
} from './generation.ts'
import type { RejectedEntry, StoreProgress } from './page.ts'

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
  /** The node's peer id, or its address before the first answer. */
  peerId: string
  readonly #init: SessionInit
  readonly #ended = new AbortController()
  #generations: readonly StoreGeneration[]

  constructor(init: SessionInit) {
    this.#init = init
    this.#generations = init.generations
    this.peerId = init.peer.peerId
  }

  /** The generation that is spoken; before the first answer, the most wanted one. */
  get generation(): StoreGeneration {
    return this.#generations[0] as StoreGeneration
  }

  /** What to throw where the node breaks a rule. */
  violation(detail: string, message: string): ProtocolViolationError {
    return new ProtocolViolationError(detail, message, this.peerId)
  }

  /** Tells what of the node's answers is not delivered. */
  reportRejected(entries: readonly RejectedEntry[]): void {
    const { peerId } = this
    for (const entry of entries) {
      report(this.#init.onProgress, { type: 'store:rejected', detail: { ...entry, peerId } })
    }
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
      encode: (protocol: string) => this.#generation(protocol).encode(query, requestId),
      maxResponseBytes: MAX_PAGE_BYTES
    }
    const { peerId, protocol, bytes } = await withSignals(
      [this.signal, this.#ended.signal],
      (signal) =>
        withDeadline('store query', { signal }, requestTimeoutMs, (inner) =>
          servicePeers.request(peer, request, inner)
        )
    )
    this.peerId = peerId
    // Which one is spoken shows with the answer; what was asked first may not have been.
    this.#generations = [this.#generation(protocol)]
    const page = this.generation.decode(bytes, { query, requestId, peerId })
    servicePeers.note?.(peer, request.protocols)
    report(onProgress, {
      type: 'store:page',
      detail: { peerId, protocol, count: page.entries.length, bytes: bytes.length }
    })
    return page
  }

  #generation(protocol: string): StoreGeneration {
    const generation = generationOf(this.#generations, protocol)
    if (generation === undefined) {
      throw new UnsupportedError(`no generation in use is ${protocol}`)
    }
    return generation
  }
}
