import { rawPipe } from 'it-pipe'
import { hasErrorCode, IncompleteHistoryError } from '../errors.ts'
import { compareBytes } from '../lib/bytes.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { NetworkConfig } from '../message/topics.ts'
import type { ServicePeer } from '../transport/service-peers.ts'
import { canGoOnByTime, chooseStep } from './choice.ts'
import { digestSplit, type SubQuery, toSubQueries } from './criteria.ts'
import { Failures } from './failures.ts'
import { generationOf, type PageQuery, protocolsOf } from './generation.ts'
import { inOrder, type MergedPage } from './merge.ts'
import type { MessagePage, Row, SourcePage } from './page.ts'
import {
  encodePosition,
  type LastDelivered,
  type NodePosition,
  type SourcePosition,
  type WalkPosition
} from './position.ts'
import { rawPages } from './raw-pages.ts'
import { StoreSession } from './session.ts'
import { eachOnce, RecentHashes } from './transforms.ts'
import type { WalkInit } from './walker.ts'

/** Hashes of one time that a position carries; times are nanoseconds, so that more than one is rare. */
const MAX_HASHES_OF_ONE_TIME = 32

/** Largest time on the wire. */
export const MAX_TIME = 2n ** 63n - 1n

/**
 * Walks through history page by page. A page that fails is asked for again at the same node; then another node goes on, by
 * time, since a cursor means something to the node that gave it only.
 *
 * @throws {@link IncompleteHistoryError} with the position from which to go on
 * @throws the signal's own reason
 */
export async function* walk(init: WalkInit): AsyncGenerator<MessagePage> {
  const state = new Walk(init)
  const { signal, pageTimeoutMs } = init
  try {
    for (;;) {
      const failures = new Failures(init)
      let page: MessagePage
      try {
        page = await withDeadline('query', { signal }, pageTimeoutMs, (inner) =>
          state.next(failures, inner)
        )
      } catch (error) {
        signal?.throwIfAborted()
        if (hasErrorCode(error, 'ERR_INVALID_ARGUMENT')) {
          throw error
        }
        throw new IncompleteHistoryError(encodePosition(state.resumable(failures)), error)
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
  readonly session: StoreSession
  /** What all its positions have in common. */
  readonly node: Pick<NodePosition, 'peerId' | 'split' | 'bound'>
  readonly pages: AsyncGenerator<MergedPage>
}

class Walk {
  readonly #init: WalkInit
  readonly #recent = new RecentHashes()
  #position: WalkPosition
  #leg: Leg | undefined

  constructor(init: WalkInit) {
    this.#init = init
    this.#position = init.position
  }

  /** From where to go on: with the node's cursors, unless they are of no use. */
  resumable(failures: Failures): WalkPosition {
    const { node, last } = this.#position
    const generation = generationOf(this.#init.generations, node?.protocol)
    const isSpoilt = node !== undefined && failures.spoilCursorOf(node)
    return isSpoilt && (last === undefined || canGoOnByTime(generation, last))
      ? { ...this.#position, node: undefined }
      : this.#position
  }

  async close(): Promise<void> {
    await this.#leg?.pages.return(undefined)
  }

  /**
   * The next page that holds something or is the last one, from whichever node gives it.
   *
   * @param failures - since the last page
   */
  async next(failures: Failures, signal: AbortSignal): Promise<MessagePage> {
    const network = await this.#init.servicePeers.network(signal)
    for (;;) {
      if (this.#leg === undefined) {
        await this.#init.servicePeers.reach?.(signal)
        try {
          this.#leg = this.#begin(network, failures)
        } catch (error) {
          await failures.bear(error, signal)
          continue
        }
      }
      const leg = this.#leg
      leg.session.signal = signal
      try {
        const { value } = (await leg.pages.next()) as IteratorYieldResult<MergedPage>
        this.#advance(leg, value)
        if (value.rows.length + value.rejected.length > 0 || value.completeness !== 'more') {
          return this.#toPage(leg, value)
        }
      } catch (error) {
        this.#leg = undefined
        failures.add(leg.node, error, signal)
      }
    }
  }

  #advance({ session, node }: Leg, { rows, positions }: MergedPage): void {
    const { generation } = session
    const { protocol } = generation
    this.#position = {
      ...this.#position,
      node: { ...node, protocol, sources: positions },
      last: toLast(rows, protocol, this.#position.last, this.#init.forward)
    }
    if (!generation.strictOrder) {
      for (const { message } of rows) {
        this.#recent.add(message.messageHash)
      }
    }
  }

  #toPage({ session }: Leg, { rows, rejected, completeness }: MergedPage): MessagePage {
    session.reportRejected(rejected)
    const messages = rows.map(({ message }) => message)
    return {
      messages: this.#init.forward ? messages : messages.reverse(),
      rejected,
      position: encodePosition(this.#position),
      completeness,
      peerId: session.peerId,
      protocol: session.generation.protocol
    }
  }

  /** Turns to a node: the one that holds the cursors, else by time to another one. */
  #begin(network: NetworkConfig, failures: Failures): Leg {
    const init = this.#init
    const { criteria, servicePeers, forward } = init
    const { last } = this.#position
    const subQueries = toSubQueries(criteria, network)
    const split = digestSplit(subQueries)
    const candidates = servicePeers.candidates(protocolsOf(init.generations))
    const step = chooseStep({ ...init, candidates, split }, this.#position, failures)
    const { peer, node } = step
    const session = new StoreSession({ ...init, ...step })
    const bound = node === undefined ? last?.time : node.bound
    const { strictOrder, filtersByTime } = session.generation
    const byHash = node !== undefined && !strictOrder
    const byTime = !byHash || (filtersByTime && last?.time !== 0n)
    /** The pipeline of each request: pages, and what is new in them. */
    const sources = subQueries.map((subQuery, index) => {
      const from = node?.sources[index] ?? {}
      const query = { ...toRange(init, bound), ...subQuery }
      const delivered = {
        last: byTime ? last : undefined,
        after: byHash ? from.after : undefined,
        recent: this.#recent
      }
      const pages = rawPipe(
        () => rawPages(session, query, from.cursor),
        eachOnce(session, { ...criteria, query, network }, delivered)
      ) as AsyncGenerator<SourcePage>
      return { from, pages }
    })
    const pages = inOrder(sources, forward, init.pageLimit, () => session.end())
    return { session, node: { peerId: peer.peerId, split, bound }, pages }
  }
}

/** What is asked for on whatever topics, going on at a time. */
function toRange(
  { criteria, forward, pageLimit, includeData }: WalkInit,
  bound: bigint | undefined
): Omit<PageQuery, 'cursor' | keyof SubQuery> {
  const { timeStart, timeEnd } = criteria
  return {
    timeStart: forward ? (bound ?? timeStart) : timeStart,
    timeEnd: forward || bound === undefined || bound === MAX_TIME ? timeEnd : bound + 1n,
    forward,
    limit: pageLimit,
    includeData,
    messageHashes: []
  }
}

/** The last message after some more rows; rows of one time belong together, also over the end of a page. */
export function toLast(
  rows: readonly Row[],
  protocol: string,
  before: LastDelivered | undefined,
  forward: boolean
): LastDelivered | undefined {
  const final = rows.at(-1)
  if (final === undefined) {
    return before
  }
  const { time, tie } = final
  const first = rows.findLastIndex((row) => row.time !== time) + 1
  const carried: Pick<LastDelivered, 'hashes' | 'beyond'> =
    first === 0 && before?.time === time ? before : { hashes: [] }
  const hashes = [
    ...(carried.hashes ?? carried.beyond ?? []),
    ...rows.slice(first).map(({ message }) => message.messageHash)
  ]
  if (carried.hashes !== undefined && hashes.length <= MAX_HASHES_OF_ONE_TIME) {
    return { time, tie, protocol, hashes }
  }
  // The tie of store-query 3 is the hash: what another node gave beyond it before is told by that.
  const sign = forward ? 1 : -1
  const beyond = hashes.filter(
    (hash) => hash.length === tie.length && compareBytes(hash, tie) * sign > 0
  )
  return { time, tie, protocol, ...(beyond.length <= MAX_HASHES_OF_ONE_TIME ? { beyond } : undefined) }
}
