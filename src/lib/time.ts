import { InvalidArgumentError } from '../errors.ts'

/** Nanoseconds in a millisecond. */
export const NANOSECONDS_PER_MS = 1_000_000n

/** A point in time as callers give it: nanoseconds since the Unix epoch, or a `Date`. */
export type TimeInput = bigint | Date

/**
 * Nanoseconds since the Unix epoch, exactly.
 *
 * @param time - nanoseconds as a `bigint`, or a `Date` (milliseconds)
 * @param parameter - the name to use in an error
 * @throws {@link InvalidArgumentError} for anything else, an invalid `Date`, or a value outside of a signed 64-bit integer
 */
export function toNanoseconds(time: TimeInput, parameter: string): bigint {
  let nanoseconds: bigint
  if (typeof time === 'bigint') {
    nanoseconds = time
  } else if (time instanceof Date && !Number.isNaN(time.getTime())) {
    nanoseconds = fromMilliseconds(time.getTime())
  } else {
    throw new InvalidArgumentError(parameter, 'must be a bigint of nanoseconds or a valid Date')
  }
  if (BigInt.asIntN(64, nanoseconds) !== nanoseconds) {
    throw new InvalidArgumentError(parameter, 'does not fit into 64 bits of nanoseconds')
  }
  return nanoseconds
}

/**
 * Nanoseconds of whole milliseconds since the Unix epoch; a fraction of a millisecond is dropped.
 *
 * @throws {@link InvalidArgumentError} for anything but a finite number
 */
export function fromMilliseconds(milliseconds: number): bigint {
  if (!Number.isFinite(milliseconds)) {
    throw new InvalidArgumentError('milliseconds', 'must be a finite number')
  }
  return BigInt(Math.floor(milliseconds)) * NANOSECONDS_PER_MS
}

/** Times that are a second or more ahead are those of a clock that was set back: it is believed. */
const MAX_LEAD = 1_000_000_000n

/**
 * Gives the time in nanoseconds, another one each time: the same content twice in a millisecond is two messages, whose hashes
 * must differ.
 */
export function distinctTimes(now: () => number): () => bigint {
  let last = 0n
  return () => {
    const time = fromMilliseconds(now())
    const lead = last - time
    last = lead >= 0n && lead < MAX_LEAD ? last + 1n : time
    return last
  }
}

/** The `Date` of a time in nanoseconds; what is finer than a millisecond is lost. */
export function toDate(nanoseconds: bigint): Date {
  const floored =
    nanoseconds < 0n
      ? (nanoseconds - NANOSECONDS_PER_MS + 1n) / NANOSECONDS_PER_MS
      : nanoseconds / NANOSECONDS_PER_MS
  return new Date(Number(floored))
}
