/** A clock: Unix time in nanoseconds. */
export type Clock = () => bigint

/** The machine's clock, exact to a millisecond. */
export function systemClock(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}
