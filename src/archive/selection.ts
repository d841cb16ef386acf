import { InvalidArgumentError } from '../errors.ts'
import { toNanoseconds } from '../lib/time.ts'
import type { ArchiveCriteria, ArchivePosition } from './archive.ts'
import { compareOrder, timeOf, toHash } from './entries.ts'
import { MAX_TIME, MIN_TIME } from './keys.ts'

/** What criteria come down to. */
export interface Selection {
  readonly forward: boolean
  /** Nothing that matches is older. */
  readonly from: bigint
  /** Everything that matches is older. */
  readonly to: bigint
  /** Whether a message within these bounds is meant. */
  matches(message: ArchivePosition & { pubsubTopic: string; contentTopic: string }): boolean
}

/**
 * Checks criteria.
 *
 * @throws {@link InvalidArgumentError} naming the part that is wrong
 */
export function toSelection(criteria: ArchiveCriteria = {}): Selection {
  const { contentTopics = [], pubsubTopic, after, direction = 'forward' } = criteria
  const forward = direction === 'forward'
  if (!forward && direction !== 'backward') {
    throw new InvalidArgumentError('criteria.direction', "must be 'forward' or 'backward'")
  }
  if (!Array.isArray(contentTopics)) {
    throw new InvalidArgumentError('criteria.contentTopics', 'must be an array')
  }
  let from = toTime(criteria.timeStart, 'criteria.timeStart') ?? MIN_TIME
  let to = toTime(criteria.timeEnd, 'criteria.timeEnd') ?? MAX_TIME
  if (to < from) {
    throw new InvalidArgumentError('criteria.timeEnd', 'must not be before timeStart')
  }
  const place = after === undefined ? undefined : copyPosition(after)
  if (place !== undefined) {
    const time = timeOf(place)
    from = forward && time > from ? time : from
    to = !forward && time < to ? time + 1n : to
  }
  const topics = new Set(contentTopics)
  return {
    forward,
    from,
    to,
    matches: (message) =>
      timeOf(message) >= from &&
      timeOf(message) < to &&
      (topics.size === 0 || topics.has(message.contentTopic)) &&
      (pubsubTopic === undefined || message.pubsubTopic === pubsubTopic) &&
      (place === undefined || compareOrder(message, place) * (forward ? 1 : -1) > 0)
  }
}

function copyPosition(after: ArchivePosition): ArchivePosition {
  return {
    messageHash: toHash(after?.messageHash, 'criteria.after.messageHash'),
    timestamp: toTime(after.timestamp, 'criteria.after.timestamp')
  }
}

function toTime(time: ArchiveCriteria['timeStart'], parameter: string): bigint | undefined {
  return time === undefined ? undefined : toNanoseconds(time, parameter)
}
