import { InvalidArgumentError, InvalidMessageError } from '../errors.ts'
import { encodeText } from '../lib/bytes.ts'
import { assertInteger } from '../lib/checks.ts'
import { decodeText } from './fields.ts'
import type { SyncReader, SyncWriter } from './sync-bytes.ts'
import type { ShardScope, SyncPayloadLimits, TopicScope } from './sync-payload.ts'

/** Writes the header of a payload. */
export function writeScope(writer: SyncWriter, scope: TopicScope | ShardScope): void {
  if (scope.layout === 'topics') {
    for (const topics of [scope.pubsubTopics, scope.contentTopics]) {
      writer.varint(topics.length)
      for (const topic of topics) {
        const text = encodeText(topic)
        if (!isTopic(topic)) {
          throw new InvalidArgumentError('payload.scope', 'must hold no empty or unprintable topic')
        }
        writer.varint(text.length)
        writer.put(text)
      }
    }
  } else {
    const { clusterId, shards } = scope
    for (const number of [clusterId, shards.length, ...shards]) {
      assertInteger('payload.scope', number, 0, 0xffff)
      writer.varint(number)
    }
  }
}

/** Reads the header of a payload in a layout. */
export function readScope(
  reader: SyncReader,
  limits: SyncPayloadLimits,
  layout: 'topics' | 'shards'
): TopicScope | ShardScope {
  if (layout === 'topics') {
    const pubsubTopics = readTopics(reader, limits)
    return { layout, pubsubTopics, contentTopics: readTopics(reader, limits) }
  }
  const clusterId = readNumber(reader)
  const shards: number[] = []
  for (let left = reader.count(limits.maxTopics, 'shards'); left > 0; left--) {
    shards.push(readNumber(reader))
  }
  return { layout, clusterId, shards }
}

function readTopics(
  reader: SyncReader,
  { maxTopics, maxTopicBytes }: SyncPayloadLimits
): readonly string[] {
  const topics: string[] = []
  for (let left = reader.count(maxTopics, 'topics'); left > 0; left--) {
    const bytes = reader.view(reader.count(maxTopicBytes, 'bytes of a topic'))
    const topic = decodeText(bytes, 'a topic')
    if (!isTopic(topic)) {
      throw new InvalidMessageError('a topic is empty or unprintable')
    }
    topics.push(topic)
  }
  return topics
}

function readNumber(reader: SyncReader): number {
  const number = reader.number()
  if (number > 0xffff) {
    throw new InvalidMessageError('a cluster or shard exceeds 16 bits')
  }
  return number
}

/** Control characters are what a shard list of the older layout would make of a topic. */
function isTopic(topic: string): boolean {
  return topic !== '' && !/\p{Cc}/u.test(topic)
}
