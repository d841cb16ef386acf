/** How pauses between tries grow. */
export interface Backoff {
  /** The first pause, in milliseconds. */
  readonly minBackoffMs: number
  /** The longest, in milliseconds. */
  readonly maxBackoffMs: number
  /** From 0 to 1: how much of a pause's second half is waited. */
  readonly random: () => number
}

/** The pause after a number of failures in a row, in milliseconds: twice as long each time, jittered down to its half. */
export function backoffMs(
  { minBackoffMs, maxBackoffMs, random }: Backoff,
  failures: number
): number {
  return Math.min(maxBackoffMs, minBackoffMs * 2 ** failures) * (0.5 + random() / 2)
}
