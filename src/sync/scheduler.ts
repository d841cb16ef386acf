import { delay } from '../lib/deadline.ts'
import { Pauses } from '../lib/pauses.ts'
import { type Changing, until } from '../lib/until.ts'
import { askFirst, toWindow } from './asking.ts'
import type { Backoff } from './backoff.ts'
import type { SyncContext } from './context.ts'
import type { SyncVisibility } from './init.ts'
import { capablePeers } from './peers.ts'

/**
 * Syncs now and then: at the start, at once after a peer has come, and in between at an interval.
 *
 * @param prune - forgets what has become too old
 * @returns stops to listen to the node, and waits for the end, which the signal of the context brings
 */
export function startScheduler(
  context: SyncContext,
  backoff: Backoff,
  prune: () => void
): () => Promise<void> {
  const { node, settings, intakes } = context
  const pauses = new Pauses(settings)
  let arrived: string | undefined

  /** A peer that has just come is preferred. */
  const run = async (): Promise<void> => {
    const preferred = arrived
    arrived = undefined
    prune()
    const capable = await capablePeers(node, settings.random)
    const peerIds = capable
      .filter(
        (id) => backoff.allows(id) && !intakes.of(id).some(({ untilMs }) => untilMs === undefined)
      )
      .sort((a, b) => Number(b === preferred) - Number(a === preferred))
    await askFirst(context, backoff, peerIds, toWindow(settings, {}), context)
  }

  const unsubscribe = node.onConnectionChange?.(({ peerId, connected }) => {
    if (connected) {
      backoff.forget(peerId)
      arrived = peerId
      pauses.wake()
    }
  })
  const work = settings.automatic ? keepRunning(context, pauses, run) : undefined
  return async () => {
    unsubscribe?.()
    await work
  }
}

/** Goes on until the signal is aborted. With locks it waits for its turn first. Never rejects. */
async function keepRunning(
  { settings, tell, signal }: SyncContext,
  pauses: Pauses,
  run: () => Promise<void>
): Promise<void> {
  const { locks, lockName, visibility, pauseWhileHidden, intervalMs } = settings
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!signal.aborted) {
        tell({ type: 'sync:failed', detail: { error } })
      }
    }
  }
  const loop = async (): Promise<void> => {
    // whoever created this has listeners to add
    await delay(0, signal)
    for (;;) {
      if (pauseWhileHidden && visibility !== null) {
        // whatever woke us meanwhile, there is one sync when the page is seen again
        await until(changing(visibility), () => visibility.visibilityState !== 'hidden', signal)
      }
      const { waking } = pauses
      await attempt(run)
      await pauses.wait(intervalMs, waking, signal)
    }
  }
  await attempt(locks === null ? loop : () => locks.request(lockName, { signal }, loop))
}

function changing(visibility: SyncVisibility): Changing {
  return {
    onChange(listener) {
      visibility.addEventListener('visibilitychange', listener)
      return () => visibility.removeEventListener('visibilitychange', listener)
    }
  }
}
