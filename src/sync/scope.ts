import { formatPubsubTopic, parsePubsubTopic } from '../message/topics.ts'
import type { ShardScope, SyncPayload, TopicScope } from '../wire/sync-payload.ts'
import type { SyncFilter } from './topic-table.ts'

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
  const shards = parsed.flatMap((shard) =>
    shard !== undefined && shard.clusterId === clusterId ? [shard.shard] : []
  )
  if (clusterId === undefined || shards.length < parsed.length) {
    return undefined
  }
  return { layout, clusterId, shards }
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
    const union = new Set([...ours.pubsubTopics, ...pubsubTopics])
    const agreed =
      ours.pubsubTopics.length === 0 ||
      (union.size === new Set(pubsubTopics).size && union.size === new Set(ours.pubsubTopics).size)
    return agreed && union.size > 0 ? { pubsubTopics, contentTopics: [] } : undefined
  }
  const pubsubTopics = common(ours.pubsubTopics, theirs.pubsubTopics)
  const contentTopics = common(ours.contentTopics, theirs.contentTopics)
  return pubsubTopics && contentTopics && { pubsubTopics, contentTopics }
}

function common(ours: readonly string[], theirs: readonly string[]): readonly string[] | undefined {
  if (ours.length === 0 || theirs.length === 0) {
    return ours.length === 0 ? theirs : ours
  }
  const set = new Set(theirs)
  const both = ours.filter((topic) => set.has(topic))
  return both.length === 0 ? undefined : both
}
