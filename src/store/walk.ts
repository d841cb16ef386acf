import { pipe } from 'it-pipe'
import {
  hasErrorCode,
  IncompleteHistoryError,
  isWakuLightError,
  NoUsablePeerError,
  type PeerFailure,
  RemoteStatusError,
  UnsupportedError
} from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import { report } from '../lib/report.ts'
import { type NetworkConfig, toPubsubTopic } from '../message/topics.ts'
import type { ServicePeer, ServicePeers } from '../transport/service-peers.ts'
import { type Criteria, type SubQuery, toSubQueries } from './criteria.ts'
import type { PageQuery, StoreGeneration } from './generation.ts'
import { inOrder, type MergedPage, type MergeInput } from './merge.ts'
import type { MessagePage, StoreProgress } from './page.ts'
import { encodePosition, type NodePosition, type WalkPosition } from './position.ts'
import { StoreSession } from './session.ts'
import { eachOnce, RecentHashes, rawPages, verified } from './transforms.ts'

/** Everything that a walk depends on. */
export interface WalkInit {
  readonly servicePeers: ServicePeers
  readonly generations: readonly StoreGeneration[]
  readonly criteria: Criteria
  readonly forward: boolean
  readonly pageLimit: number
  /** From where to go on; with the digest of the criteria where it is the beginning. */
  readonly position: WalkPosition
  /** The only node to ask. */
  readonly peerId?: string
  readonly requestTimeoutMs: number
  /** For each page, whatever it takes. */
  readonly pageTimeoutMs: number
  readonly signal?: AbortSignal
  readonly onProgress?: (event: StoreProgress) => void
}

/** How often one node may fail before it has to make progress again. */
const MAX_TRIES_PER_PEER = 2

/**
 * Walks through history page by page. A page that fails is asked for again at the same node; then another node goes on, by
 * time, since a cursor means something to the node that gave it only.
 *
 * @throws {@link IncompleteHistoryError} with the position from which to go on
 * @throws the signal's own reason
 */
export async function* walk(init: WalkInit): AsyncGenerator<MessagePage> {
  const state = new Walk(init)
  try {
    for (;;) {
      let page: MessagePage
      try {
        page = await withDeadline(
          'query',
          { signal: init.signal, timeoutMs: init.pageTimeoutMs },
          init.pageTimeoutMs,
          (signal) => state.next(signal)
        )
      } catch (error) {
        init.signal?.throwIfAborted()
        if (hasErrorCode(error, 'ERR_INVALID_ARGUMENT')) {
          throw error
        }
        throw new IncompleteHistoryError(encodePosition(state.position), error)
      }
      yield page
      if (page.completeness !== 'more') {
        return
      }
    }
  } finally {
    await state.close()
  }
}

/** A walk at one node. */
interface Leg {
  readonly peer: ServicePeer
  readonly session: StoreSession
  readonly pages: AsyncGenerator<MergedPage>
}

class Walk {
  position: WalkPosition
  readonly #init: WalkInit
  readonly #recent = new RecentHashes()
  #leg: Leg | undefined
  /** Since the last page. */
  #failures: PeerFailure[] = []

  constructor(init: WalkInit) {
    this.#init = init
    this.position = init.position
  }

  async close(): Promise<void> {
    await this.#leg?.pages.return(undefined)
  }

  /** The next page, from whichever node gives it. */
  async next(signal: AbortSignal): Promise<MessagePage> {
    const network = await this.#init.servicePeers.network(signal)
    for (;;) {
      const leg = this.#leg ?? this.#begin(network)
      this.#leg = leg
      leg.session.signal = signal
      try {
        const result = await leg.pages.next()
        if (result.done === true) {
          throw new Error('a walk went on after its last page')
        }
        this.#failures = []
        return this.#toPage(leg, result.value)
      } catch (error) {
        signal.throwIfAborted()
        if (!isWakuLightError(error) || error.code === 'ERR_CLOSED') {
          throw error
        }
        this.#leg = undefined
        this.#recover(leg.peer, error)
      }
    }
  }

  #toPage(
    { session, peer }: Leg,
    { rows, rejected, completeness, positions }: MergedPage
  ): MessagePage {
    const { peerId } = session
    const { protocol } = session.generation
    const final = rows.at(-1)
    this.position = {
      digest: this.position.digest,
      node: { peerId: peer.peerId, protocol, sources: positions },
      last:
        final === undefined
          ? this.position.last
          : { ...final, messageHash: final.message.messageHash }
    }
    for (const entry of rejected) {
      report(this.#init.onProgress, { type: 'store:rejected', detail: { ...entry, peerId } })
    }
    const messages = rows.map(({ message }) => message)
    return {
      messages: this.#init.forward ? messages : messages.reverse(),
      rejected,
      position: encodePosition(this.position),
      completeness,
      peerId,
      protocol
    }
  }

  /** Decides what to do after a failure: the position keeps the node's cursors only where they are of use. */
  #recover(peer: ServicePeer, error: Error): void {
    const { peerId } = peer
    report(this.#init.onProgress, { type: 'store:peer-failed', detail: { peerId, error } })
    this.#failures.push({ peerId, error })
    const tries = this.#failures.filter((failure) => failure.peerId === peerId).length
    const retryable =
      isWakuLightError(error) && ['ERR_CONNECTION', 'ERR_TIMEOUT'].includes(error.code)
    if (!retryable || tries >= MAX_TRIES_PER_PEER) {
      this.position = { ...this.position, node: undefined }
    }
  }

  /** Turns to the node that holds the cursors, else to the best one that has not failed. */
  #begin(network: NetworkConfig): Leg {
    const { servicePeers, generations, peerId, requestTimeoutMs, onProgress } = this.#init
    const candidates = servicePeers
      .candidates()
      .filter((candidate) => peerId === undefined || candidate.peerId === peerId)
    const held = this.position.node
    const holder = candidates.find((candidate) => candidate.peerId === held?.peerId)
    const spoken = generations.find(({ protocol }) => protocol === held?.protocol)
    const node = holder !== undefined && spoken !== undefined ? held : undefined
    const peer =
      node === undefined ? candidates.find((candidate) => !this.#isOut(candidate)) : holder
    if (peer === undefined) {
      const [only, ...others] = this.#failures
      throw only !== undefined && others.length === 0
        ? only.error
        : new NoUsablePeerError(this.#failures)
    }
    const usable =
      node !== undefined && spoken !== undefined ? [spoken] : this.#fromTheStart(generations)
    const session = new StoreSession({
      servicePeers,
      peer,
      generations: usable,
      requestTimeoutMs,
      onProgress
    })
    return { peer, session, pages: this.#pages(session, network, node) }
  }

  /** Without a cursor, a walk that has delivered something goes on by time. */
  #fromTheStart(generations: readonly StoreGeneration[]): readonly StoreGeneration[] {
    const { last } = this.position
    if (last === undefined) {
      return generations
    }
    const byTime = last.time === 0n ? [] : generations.filter(({ filtersByTime }) => filtersByTime)
    if (byTime.length === 0) {
      throw new UnsupportedError('this walk can go on at the node only that it began with', {
        cause: this.#failures.at(-1)?.error
      })
    }
    return byTime
  }

  /** True for a node that failed and would fail again. An unknown cursor is no reason: a walk by time needs none. */
  #isOut({ peerId }: ServicePeer): boolean {
    const errors = this.#failures
      .filter((failure) => failure.peerId === peerId)
      .map(({ error }) => error)
    const [only] = errors
    const onlyCursor =
      errors.length === 1 &&
      only instanceof RemoteStatusError &&
      only.statusCode !== 429 &&
      this.position.last !== undefined
    return errors.length > 0 && !onlyCursor
  }

  /** The pipeline at one node: pages, verified, each once, in order. */
  #pages(
    session: StoreSession,
    network: NetworkConfig,
    node: NodePosition | undefined
  ): AsyncGenerator<MergedPage> {
    const { criteria, forward, pageLimit } = this.#init
    const { last } = this.position
    const sources = toSubQueries(criteria, network).map((subQuery, index): MergeInput => {
      const from = node?.sources[index] ?? { cursor: undefined }
      if (typeof from === 'string') {
        return { from }
      }
      const query = this.#query(subQuery, node === undefined)
      const expected = {
        query,
        timeStart: criteria.timeStart,
        timeEnd: criteria.timeEnd,
        derive: deriveFrom(network)
      }
      const pages = pipe(
        rawPages(session, query, from.cursor),
        verified(session, expected),
        eachOnce(session, forward, last, this.#recent)
      )
      return { from, pages }
    })
    return inOrder(sources, forward, pageLimit)
  }

  #query({ pubsubTopic, contentTopics }: SubQuery, byTime: boolean): Omit<PageQuery, 'cursor'> {
    const { criteria, forward, pageLimit } = this.#init
    let { timeStart, timeEnd } = criteria
    const time = byTime ? this.position.last?.time : undefined
    if (time !== undefined) {
      if (forward) {
        timeStart = time
      } else {
        timeEnd = time + 1n
      }
    }
    return {
      pubsubTopic,
      contentTopics,
      timeStart,
      timeEnd,
      forward,
      limit: pageLimit,
      includeData: true,
      messageHashes: []
    }
  }
}

function deriveFrom(network: NetworkConfig): (contentTopic: string) => string | undefined {
  return (contentTopic) => {
    try {
      return toPubsubTopic(contentTopic, network)
    } catch {
      return undefined
    }
  }
}
