import { sha256 } from '@noble/hashes/sha2.js'
import { InvalidArgumentError } from '../errors.ts'
import { encodeText, toHex } from '../lib/bytes.ts'
import { assertObject, assertText } from '../lib/checks.ts'
import { type TimeInput, toNanoseconds } from '../lib/time.ts'
import { type NetworkConfig, toContentTopics, toPubsubTopic } from '../message/topics.ts'

/** Largest number of content topics in one request (13/WAKU2-STORE); more are split. */
const MAX_CONTENT_TOPICS = 10

/** Which messages are asked for; what is left out does not restrict. */
export interface StoreCriteria {
  /** Any of these; any number of them. */
  readonly contentTopics?: readonly string[]
  /** Left out: derived from each content topic. */
  readonly pubsubTopic?: string
  /** From this time on. */
  readonly timeStart?: TimeInput
  /** Before this time. */
  readonly timeEnd?: TimeInput
}

/** Criteria after all checks: content topics each once and sorted, times in nanoseconds. */
export interface Criteria {
  readonly contentTopics: readonly string[]
  readonly pubsubTopic?: string
  readonly timeStart?: bigint
  readonly timeEnd?: bigint
}

/** A part of the criteria that one request can carry. */
export interface SubQuery {
  readonly pubsubTopic?: string
  readonly contentTopics: readonly string[]
}

/**
 * Checks criteria.
 *
 * @throws {@link InvalidArgumentError} naming the part that is wrong
 */
export function toCriteria(input: StoreCriteria): Criteria {
  assertObject('criteria', input)
  const { contentTopics = [], pubsubTopic, timeStart, timeEnd } = input
  // Sorted, so that they are split in the same way whatever order they are given in: cursors belong to the parts.
  const topics = toContentTopics(contentTopics, pubsubTopic, 'criteria.contentTopics')
  if (pubsubTopic !== undefined) {
    assertText('criteria.pubsubTopic', pubsubTopic)
  }
  const start = timeStart === undefined ? undefined : toNanoseconds(timeStart, 'criteria.timeStart')
  const end = timeEnd === undefined ? undefined : toNanoseconds(timeEnd, 'criteria.timeEnd')
  if (start !== undefined && end !== undefined && end < start) {
    throw new InvalidArgumentError('criteria.timeEnd', 'must not be before timeStart')
  }
  return { contentTopics: topics, pubsubTopic, timeStart: start, timeEnd: end }
}

/**
 * Splits criteria into requests: by pubsub topic, and by ten content topics. A content topic never goes without its pubsub
 * topic (13/WAKU2-STORE).
 *
 * @throws {@link InvalidArgumentError} if a pubsub topic cannot be derived
 */
export function toSubQueries(
  { contentTopics, pubsubTopic }: Criteria,
  network: NetworkConfig
): SubQuery[] {
  if (contentTopics.length === 0) {
    return [{ pubsubTopic, contentTopics }]
  }
  const groups = Map.groupBy(
    contentTopics,
    (topic) => pubsubTopic ?? toPubsubTopic(topic, network, 'criteria.contentTopics')
  )
  const subQueries: SubQuery[] = []
  for (const [topic, topics] of groups) {
    for (let index = 0; index < topics.length; index += MAX_CONTENT_TOPICS) {
      subQueries.push({
        pubsubTopic: topic,
        contentTopics: topics.slice(index, index + MAX_CONTENT_TOPICS)
      })
    }
  }
  return subQueries
}

/** Tells one walk from another: 16 hexadecimal digits over criteria, direction, and whether it is of hashes only. */
export function digestCriteria(criteria: Criteria, forward: boolean, includeData: boolean): string {
  const { contentTopics, pubsubTopic, timeStart, timeEnd } = criteria
  return digest([
    includeData ? forward : Number(forward),
    pubsubTopic,
    timeStart?.toString(),
    timeEnd?.toString(),
    ...contentTopics
  ])
}

/** Tells whether criteria were split in the same way, which depends on the network: 16 hexadecimal digits. */
export function digestSplit(subQueries: readonly SubQuery[]): string {
  return digest(subQueries.map(({ pubsubTopic, contentTopics }) => [pubsubTopic, ...contentTopics]))
}

/** Of JSON, which makes null of undefined in an array. */
function digest(value: unknown): string {
  return toHex(sha256(encodeText(JSON.stringify(value))).subarray(0, 8))
}
