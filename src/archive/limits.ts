import { InvalidArgumentError } from '../errors.ts'
import { assertInteger } from '../lib/checks.ts'
import { toNanoseconds } from '../lib/time.ts'
import type { PruneLimits } from './archive.ts'

/**
 * Checks what is to be removed.
 *
 * @throws {@link InvalidArgumentError} if nothing is given, or not what it should be
 */
export function toPruneLimits({ before, maxCount = Infinity }: PruneLimits): {
  before: bigint | undefined
  maxCount: number
} {
  if (before === undefined && maxCount === Infinity) {
    throw new InvalidArgumentError('limits', 'must have `before` or `maxCount`')
  }
  if (maxCount !== Infinity) {
    assertInteger('limits.maxCount', maxCount, 0)
  }
  return {
    before: before === undefined ? undefined : toNanoseconds(before, 'limits.before'),
    maxCount
  }
}
