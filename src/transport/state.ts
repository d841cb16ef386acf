import { NoUsablePeerError } from '../errors.ts'
import { isOffline } from '../lib/wake.ts'
import type { ManagedServicePeers } from './peers-options.ts'
import type { Service } from './services.ts'

/**
 * `offline`: the platform says that there is no network; `connecting`: no node is connected that has said what it can do, but
 * one may be soon; `ready`: for {@link NodeState.services}; `incompatible`: no node will do, for what `lastError` says;
 * `closed`: for good.
 */
export type NodeStatus = 'offline' | 'connecting' | 'ready' | 'incompatible' | 'closed'

/** How a light node is. */
export interface NodeState {
  readonly status: NodeStatus
  /** What the connected nodes can do. */
  readonly services: readonly Service[]
  /** Why no node is connected, as far as is known. */
  readonly lastError?: Error
  /** When the next dial begins, in milliseconds since the Unix epoch, if that is being waited for. */
  readonly nextRetryAtMs?: number
}

/** What a state is made of. */
export interface StateSources {
  readonly peers: Pick<ManagedServicePeers, 'isSettled' | 'services' | 'refusals'>
  readonly keeper: Pick<NodeState, 'lastError' | 'nextRetryAtMs'>
}

/** The state that things are in. */
export function stateOf({ peers, keeper }: StateSources): NodeState {
  const { isSettled, services, refusals } = peers
  if (isSettled && services !== undefined) {
    return { status: services.length > 0 ? 'ready' : 'incompatible', services }
  }
  if (refusals !== undefined) {
    return { status: 'incompatible', services: [], lastError: new NoUsablePeerError(refusals) }
  }
  const { lastError, nextRetryAtMs } = keeper
  return {
    status: isOffline() ? 'offline' : 'connecting',
    services: [],
    ...(lastError && { lastError }),
    ...(nextRetryAtMs !== undefined && { nextRetryAtMs })
  }
}

/** Whether there is nothing to tell of. */
export function isSameState(a: NodeState, b: NodeState): boolean {
  return (
    a.status === b.status &&
    a.nextRetryAtMs === b.nextRetryAtMs &&
    a.lastError?.message === b.lastError?.message &&
    a.services.join() === b.services.join()
  )
}
