import type { SyncBounds, SyncIndex } from './sync-index.ts'

/**
 * The narrowest range that may carry a fingerprint: where one over less differs, the reference node drops the range from its
 * answer, which then looks as if all were equal.
 */
export const MIN_FINGERPRINT_SPAN = 8n

/**
 * Cuts a range into parts with about the same number of our entries, none narrower than {@link MIN_FINGERPRINT_SPAN}.
 *
 * @returns the times at which to cut, ascending; none where all our entries lie so close together that no cut parts them
 */
export function splitRange(
  index: SyncIndex,
  { lower, upper }: SyncBounds,
  maxParts: number
): bigint[] {
  const first = index.rank(lower)
  const last = index.rank(upper) - 1
  const latest = upper - MIN_FINGERPRINT_SPAN
  const cuts: bigint[] = []
  if (last < first || index.timeAt(last) - index.timeAt(first) < MIN_FINGERPRINT_SPAN) {
    return cuts
  }
  let earliest = lower + MIN_FINGERPRINT_SPAN
  const cutAt = (time: bigint): void => {
    if (time >= earliest && time <= latest) {
      cuts.push(time)
      earliest = time + MIN_FINGERPRINT_SPAN
    }
  }
  for (let part = 1; part < maxParts; part++) {
    cutAt(index.timeAt(first + Math.floor(((last + 1 - first) * part) / maxParts)))
  }
  if (cuts.length === 0 && maxParts > 1) {
    // nearly all at one time, at one end of the range: part them from the others
    const time = index.timeAt(index.rank(earliest))
    cutAt(time < latest ? time : latest)
  }
  return cuts
}
