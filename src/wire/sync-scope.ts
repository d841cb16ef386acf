import { InvalidArgumentError, InvalidMessageError } from '../errors.ts'
import { encodeText } from '../lib/bytes.ts'
import { assertInteger } from '../lib/checks.ts'
import { decodeText } from './fields.ts'
import type { SyncReader, SyncWriter } from './sync-bytes.ts'
import type { ShardScope, SyncPayloadLimits, TopicScope } from './sync-payload.ts'

const UNPRINTABLE = 'a topic that is empty or unprintable'

/** Writes the header of a payload. */
export function writeScope(writer: SyncWriter, scope: TopicScope | ShardScope): void {
  if (scope.layout === 'topics') {
    for (const topics of [scope.pubsubTopics, scope.contentTopics]) {
      writer.varint(topics.length)
      for (const topic of topics) {
        const text = encodeText(topic)
        if (!isTopic(topic)) {
          throw new InvalidArgumentError('payload.scope', `has ${UNPRINTABLE}`)
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
  { maxTopics, maxTopicBytes }: SyncPayloadLimits,
  layout: 'topics' | 'shards'
): TopicScope | ShardScope {
  const listOf = <T>(read: () => T): readonly T[] =>
    Array.from({ length: reader.count(maxTopics, 'topics or shards') }, read)
  const readTopic = (): string => {
    const bytes = reader.view(reader.count(maxTopicBytes, 'bytes of a topic'))
    const topic = decodeText(bytes, 'a topic')
    if (!isTopic(topic)) {
      throw new InvalidMessageError(UNPRINTABLE)
    }
    return topic
  }
  const readNumber = (): number => reader.number(0xffff)
  return layout === 'topics'
    ? { layout, pubsubTopics: listOf(readTopic), contentTopics: listOf(readTopic) }
    : { layout, clusterId: readNumber(), shards: listOf(readNumber) }
}

/** Control characters are what a shard list of the older layout would make of a topic. */
function isTopic(topic: string): boolean {
  return topic !== '' && !/\p{Cc}/u.test(topic)
}
