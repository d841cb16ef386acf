import { decodeSyncPayload } from '../wire/sync.ts'
import type { SyncPayloadLimits } from '../wire/sync-payload.ts'
import { MIN_FINGERPRINT_SPAN } from './split.ts'
import type { SyncWindow } from './sync-session.ts'

/**
 * What of a first payload is answered: its range, as far as it lies in what is served. One that lies outside as a whole is
 * answered as if it were equal.
 *
 * @throws {@link InvalidMessageError} or {@link LimitExceededError} if it does not decode
 */
export function servedWindow(
  first: Uint8Array,
  served: SyncWindow,
  limits: SyncPayloadLimits
): SyncWindow {
  const payload = decodeSyncPayload(first, limits)
  const ranges = typeof payload === 'string' ? [] : payload.ranges
  const lower = ranges[0]?.lower ?? 0n
  const upper = ranges.at(-1)?.upper ?? 0n
  const timeStart = lower > served.timeStart ? lower : served.timeStart
  const timeEnd = upper < served.timeEnd ? upper : served.timeEnd
  return timeEnd - timeStart < MIN_FINGERPRINT_SPAN ? served : { timeStart, timeEnd }
}
