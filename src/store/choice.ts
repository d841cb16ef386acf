import {
  ConnectionError,
  hasErrorCode,
  NoUsablePeerError,
  ProtocolViolationError,
  RemoteStatusError,
  UnsupportedError
} from '../errors.ts'
import type { ServicePeer } from '../transport/service-peers.ts'
import { type Failures, isRateLimit, isTransient } from './failures.ts'
import { generationOf, type StoreGeneration } from './generation.ts'
import type { LastDelivered, NodePosition, WalkPosition } from './position.ts'

/** Whom a walk asks next. */
export interface Step {
  readonly peer: ServicePeer
  /** With the cursors of that node; undefined: by time, or from the beginning. */
  readonly node: NodePosition | undefined
  readonly generations: readonly StoreGeneration[]
}

/** Among whom and what the choice is. */
export interface Choices {
  /** Best first. */
  readonly candidates: readonly ServicePeer[]
  readonly generations: readonly StoreGeneration[]
  /** The only node to ask. */
  readonly peerId?: string
  /** Of the requests that the criteria are split into. */
  readonly split: string
}

/**
 * Chooses the node that goes on with a walk: the one that holds the cursors, twice if the connection to it broke; itself by
 * time, if it refused the cursor; one that has not failed; at last, once more, one that could not be reached.
 *
 * @throws {@link NoUsablePeerError} or the only failure if nobody is left, {@link UnsupportedError} if only the node that
 * holds the cursors could go on and it is not there
 */
export function chooseStep(choices: Choices, position: WalkPosition, failures: Failures): Step {
  const { candidates, generations, peerId, split } = choices
  const { node, last } = position
  const usable = candidates.filter((peer) => peerId === undefined || peer.peerId === peerId)
  if (usable.length === 0 && peerId !== undefined) {
    const error = new ConnectionError('this peer is not among the service nodes')
    throw new NoUsablePeerError([{ peerId, error }])
  }

  const spoken = generationOf(generations, node?.protocol)
  const isHolder = (peer: ServicePeer): boolean =>
    spoken !== undefined &&
    peer.peerId === node?.peerId &&
    node.split === split &&
    !failures.spoilCursorOf(peer)
  const isFresh = (peer: ServicePeer): boolean => failures.of(peer).length === 0
  const next =
    usable.find((peer) => isHolder(peer) && (isFresh(peer) || failures.isOnce(peer, isBroken))) ??
    usable.find((peer) => last !== undefined && failures.isOnce(peer, isRefusedCursor)) ??
    usable.find(isFresh) ??
    usable.find((peer) => failures.isOnce(peer, isTransient))
  if (next === undefined) {
    throw failures.toError()
  }
  return spoken !== undefined && isHolder(next)
    ? { peer: next, node, generations: [spoken] }
    : { peer: next, node: undefined, generations: withoutCursor(generations, last, failures) }
}

/**
 * True if what was delivered can be told by time from what is still to come; not where it came in another order, as from beta2,
 * or without times.
 */
export function canGoOnByTime(
  generation: StoreGeneration | undefined,
  { time }: LastDelivered
): boolean {
  return generation?.filtersByTime === true && (time !== 0n || generation.strictOrder)
}

/** Without a cursor, a walk that has delivered something goes on by time. */
function withoutCursor(
  generations: readonly StoreGeneration[],
  last: LastDelivered | undefined,
  failures: Failures
): readonly StoreGeneration[] {
  if (last === undefined) {
    return generations
  }
  const { protocol, hashes } = last
  const isKnown = canGoOnByTime(generationOf(generations, protocol), last)
  // Where more messages of one time were delivered than are remembered, only their own order tells them.
  const byTime = generations.filter(
    (generation) =>
      isKnown &&
      generation.filtersByTime &&
      (hashes !== undefined || generation.protocol === protocol)
  )
  if (byTime.length > 0) {
    return byTime
  }
  throw failures.all.length > 0
    ? failures.toError()
    : new UnsupportedError('this walk can go on only at the node that it began with')
}

function isBroken(error: Error): boolean {
  return hasErrorCode(error, 'ERR_CONNECTION')
}

function isRefusedCursor(error: Error): boolean {
  return (
    (error instanceof RemoteStatusError && !isRateLimit(error)) ||
    (error instanceof ProtocolViolationError && error.detail === 'position')
  )
}
