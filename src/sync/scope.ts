import { formatPubsubTopic, parsePubsubTopic } from '../message/topics.ts'
import type { ShardScope, SyncPayload, TopicScope } from '../wire/sync-payload.ts'
import { type SyncFilter, toAllows } from './topic-table.ts'

/** Which of the two layouts a session speaks. */
export type SyncLayout = SyncPayload['scope']['layout']

/**
 * How a side states its filter in a layout. The older one knows no content topics, and only pubsub topics of one cluster.
 *
 * @returns undefined if the older layout cannot state it: it has no way to ask for all shards, or for other topics
 */
export function toScope(
  filter: SyncFilter,
  layout: SyncLayout
): TopicScope | ShardScope | undefined {
  if (layout === 'topics') {
    return { layout, pubsubTopics: filter.pubsubTopics, contentTopics: filter.contentTopics }
  }
  const parsed = filter.pubsubTopics.map(parsePubsubTopic)
  const clusterId = parsed[0]?.clusterId
  if (clusterId === undefined || parsed.some((topic) => topic?.clusterId !== clusterId)) {
    return undefined
  }
  return { layout, clusterId, shards: parsed.flatMap((topic) => topic?.shard ?? []) }
}

/**
 * What both sides want: in the newer layout the intersection of the lists, an empty one standing for everything. In the older
 * one the shards have to be the same, as its nodes demand, unless we want everything.
 *
 * @returns undefined if they have nothing in common
 */
export function intersect(ours: SyncFilter, theirs: SyncPayload['scope']): SyncFilter | undefined {
  if (theirs.layout === 'shards') {
    const { clusterId } = theirs
    const pubsubTopics = theirs.shards.map((shard) => formatPubsubTopic({ clusterId, shard }))
    const isAgreed =
      pubsubTopics.length > 0 &&
      pubsubTopics.every(toAllows(ours.pubsubTopics)) &&
      ours.pubsubTopics.every(toAllows(pubsubTopics))
    return isAgreed ? { pubsubTopics, contentTopics: [] } : undefined
  }
  const pubsubTopics = common(ours.pubsubTopics, theirs.pubsubTopics)
  const contentTopics = common(ours.contentTopics, theirs.contentTopics)
  return pubsubTopics && contentTopics && { pubsubTopics, contentTopics }
}

function common(ours: readonly string[], theirs: readonly string[]): readonly string[] | undefined {
  if (ours.length === 0) {
    return theirs
  }
  const both = ours.filter(toAllows(theirs))
  return both.length === 0 ? undefined : both
}
