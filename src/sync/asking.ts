import {
  hasErrorCode,
  InvalidArgumentError,
  isWakuLightError,
  NoUsablePeerError,
  type PeerFailure
} from '../errors.ts'
import { fromMilliseconds, type TimeInput, toNanoseconds } from '../lib/time.ts'
import type { Backoff } from './backoff.ts'
import type { SyncContext } from './context.ts'
import type { SyncSettings } from './init.ts'
import type { SyncResult } from './progress.ts'
import { runSession, type SessionCall } from './sessions.ts'
import type { SyncWindow } from './window.ts'

/**
 * Syncs with the first peer that can; mismatch is an answer only where no peer gives a better one.
 *
 * @throws {@link NoUsablePeerError} with a reason for each peer, what the archive throws, or the signal's own reason
 */
export async function askFirst(
  context: SyncContext,
  backoff: Backoff,
  peerIds: readonly string[],
  window: SyncWindow,
  call: SessionCall
): Promise<SyncResult> {
  const failures: PeerFailure[] = []
  let mismatch: SyncResult | undefined
  for (const peerId of peerIds) {
    try {
      const result = await runSession(context, peerId, window, call)
      if (result.outcome !== 'mismatch') {
        backoff.forget(peerId)
        return result
      }
      mismatch ??= result
      backoff.failed(peerId, undefined)
    } catch (error) {
      call.signal.throwIfAborted()
      const isOurs = hasErrorCode(error, 'ERR_STORAGE', 'ERR_STORAGE_FULL', 'ERR_CLOSED')
      if (!isWakuLightError(error) || isOurs) {
        throw error
      }
      backoff.failed(peerId, error)
      failures.push({ peerId, error })
    }
  }
  if (mismatch !== undefined) {
    return mismatch
  }
  throw new NoUsablePeerError(failures)
}

/**
 * What to compare: the configured range up to the newest messages, where nothing else is asked.
 *
 * @throws {@link InvalidArgumentError} for a window that is none
 */
export function toWindow(
  { now, rangeMs, jitterMs }: SyncSettings,
  { from, to }: { readonly from?: TimeInput; readonly to?: TimeInput }
): SyncWindow {
  const timeEnd = to === undefined ? fromMilliseconds(now() - jitterMs) : toNanoseconds(to, 'to')
  const timeStart =
    from === undefined ? timeEnd - fromMilliseconds(rangeMs) : toNanoseconds(from, 'from')
  if (timeStart < 0n || timeEnd - timeStart < 8n) {
    throw new InvalidArgumentError('from', 'must be before `to`, and not before 1970')
  }
  return { timeStart, timeEnd }
}
