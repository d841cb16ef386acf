import { rawPipe } from 'it-pipe'
import { hasErrorCode, IncompleteHistoryError } from '../errors.ts'
import { compareBytes } from '../lib/bytes.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { NetworkConfig } from '../message/topics.ts'
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
  const { signal, pageTimeoutMs, forward } = init
  const recent = new RecentHashes()
  let { position } = init
  let leg = undefined as Leg | undefined

  /** The next page that holds something or is the last one, from whichever node gives it. */
  const next = async (failures: Failures, inner: AbortSignal): Promise<MessagePage> => {
    const network = await init.servicePeers.network(inner)
    for (;;) {
      if (leg === undefined) {
        await init.servicePeers.reach?.(inner)
        try {
          leg = begin(init, network, position, recent, failures)
        } catch (error) {
          await failures.bear(error, inner)
          continue
        }
      }
      const { session, node, pages } = leg
      session.signal = inner
      try {
        const { value } = (await pages.next()) as IteratorYieldResult<MergedPage>
        const { rows, rejected, completeness, positions: sources } = value
        const { protocol, strictOrder } = session.generation
        const last = toLast(rows, protocol, position.last, forward)
        position = { ...position, node: { ...node, protocol, sources }, last }
        const messages = rows.map(({ message }) => message)
        if (!strictOrder) {
          for (const { messageHash } of messages) {
            recent.add(messageHash)
          }
        }
        if (messages.length + rejected.length > 0 || completeness !== 'more') {
          session.reportRejected(rejected)
          return {
            messages: forward ? messages : messages.reverse(),
            rejected,
            position: encodePosition(position),
            completeness,
            peerId: session.peerId,
            protocol
          }
        }
      } catch (error) {
        leg = undefined
        failures.add(node, error, inner)
      }
    }
  }

  try {
    for (;;) {
      const failures = new Failures(init)
      let page: MessagePage
      try {
        page = await withDeadline('query', { signal }, pageTimeoutMs, (inner) =>
          next(failures, inner)
        )
      } catch (error) {
        signal?.throwIfAborted()
        if (hasErrorCode(error, 'ERR_INVALID_ARGUMENT')) {
          throw error
        }
        const resumable = toResumable(init, position, failures)
        throw new IncompleteHistoryError(encodePosition(resumable), error)
      }
      yield page
      if (page.completeness !== 'more') {
        return
      }
    }
  } finally {
    await leg?.pages.return(undefined)
  }
}

/** From where to go on: with the node's cursors, unless they are of no use. */
function toResumable(
  { generations }: WalkInit,
  position: WalkPosition,
  failures: Failures
): WalkPosition {
  const { node, last } = position
  const generation = generationOf(generations, node?.protocol)
  const isSpoilt = node !== undefined && failures.spoilCursorOf(node)
  return isSpoilt && (last === undefined || canGoOnByTime(generation, last))
    ? { ...position, node: undefined }
    : position
}

/** A walk at one node. */
interface Leg {
  readonly session: StoreSession
  /** What all its positions have in common. */
  readonly node: Pick<NodePosition, 'peerId' | 'split' | 'bound'>
  readonly pages: AsyncGenerator<MergedPage>
}

/** Turns to a node: the one that holds the cursors, else by time to another one. */
function begin(
  init: WalkInit,
  network: NetworkConfig,
  position: WalkPosition,
  recent: RecentHashes,
  failures: Failures
): Leg {
  const subQueries = toSubQueries(init.criteria, network)
  const split = digestSplit(subQueries)
  const candidates = init.servicePeers.candidates(protocolsOf(init.generations))
  const step = chooseStep({ ...init, candidates, split }, position, failures)
  const { peer, node } = step
  const { last } = position
  const session = new StoreSession({ ...init, ...step })
  const bound = node === undefined ? last?.time : node.bound
  const { strictOrder, filtersByTime } = session.generation
  const byHash = node !== undefined && !strictOrder
  const byTime = !byHash || (filtersByTime && last?.time !== 0n)
  // The pipeline of each request: pages, and what is new in them.
  const sources = subQueries.map((subQuery, index) => {
    const from = node?.sources[index] ?? {}
    const query = { ...toRange(init, bound), ...subQuery, cursor: from.cursor }
    const delivered = {
      last: byTime ? last : undefined,
      after: byHash ? from.after : undefined,
      recent
    }
    const pages = rawPipe(
      () => rawPages(session, query),
      eachOnce(session, { ...init.criteria, query, network }, delivered)
    ) as AsyncGenerator<SourcePage>
    return { from, pages }
  })
  const pages = inOrder(sources, init.forward, init.pageLimit, () => session.end())
  return { session, node: { peerId: peer.peerId, split, bound }, pages }
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
  return {
    time,
    tie,
    protocol,
    ...(beyond.length <= MAX_HASHES_OF_ONE_TIME ? { beyond } : undefined)
  }
}
