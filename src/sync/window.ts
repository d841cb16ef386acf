import { decodeSyncPayload } from '../wire/sync.ts'
import type { SyncPayload, SyncPayloadLimits } from '../wire/sync-payload.ts'
import { MIN_FINGERPRINT_SPAN } from './split.ts'

/** A span of time: `timeStart` inclusive, `timeEnd` exclusive. */
export interface SyncWindow {
  readonly timeStart: bigint
  readonly timeEnd: bigint
}

/** From where to where ranges go. */
export function spanOf(ranges: SyncPayload['ranges']): SyncWindow {
  return { timeStart: ranges[0]?.lower ?? 0n, timeEnd: ranges.at(-1)?.upper ?? 0n }
}

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
  let { timeStart, timeEnd } = spanOf(typeof payload === 'string' ? [] : payload.ranges)
  timeStart = timeStart > served.timeStart ? timeStart : served.timeStart
  timeEnd = timeEnd < served.timeEnd ? timeEnd : served.timeEnd
  return timeEnd - timeStart < MIN_FINGERPRINT_SPAN ? served : { timeStart, timeEnd }
}
