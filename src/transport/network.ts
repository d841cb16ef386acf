import { InvalidArgumentError, ProtocolViolationError, UnsupportedError } from '../errors.ts'
import {
  assertNetworkConfig,
  formatPubsubTopic,
  type NetworkConfig,
  parsePubsubTopic
} from '../message/topics.ts'
import type { Metadata } from '../wire/metadata.ts'

/** How many shards the networks have whose nodes may serve a part of them only, by cluster id. */
const SHARD_COUNTS: Readonly<Record<number, number>> = { 1: 8, 2: 8, 3: 8, 16: 1 }

const MAX_CLUSTER_ID = 0xffff
const MAX_SHARD = 1023

/**
 * The network that a node's metadata stands for. Metadata says which shards the node serves, not how many there are; so the
 * count is that of a well-known cluster, else the node is taken to serve all of them, `0` to `n - 1`. Shards with holes are
 * taken as static ones.
 *
 * @throws {@link UnsupportedError} if the node states no cluster or no shards
 * @throws {@link ProtocolViolationError} if what it states is out of range
 */
export function toNetworkConfig({ clusterId, shards }: Metadata): NetworkConfig {
  if (clusterId === undefined) {
    throw new UnsupportedError('the node states no cluster; give clusterId and shardCount')
  }
  if (clusterId > MAX_CLUSTER_ID || shards.some((shard) => shard > MAX_SHARD)) {
    throw new ProtocolViolationError('metadata', 'the node states a cluster or shard out of range')
  }
  const known = SHARD_COUNTS[clusterId]
  if (known !== undefined) {
    return { clusterId, shardCount: known }
  }
  if (shards.length === 0) {
    throw new UnsupportedError('the node states no shards; give shardCount or pubsubTopics')
  }
  return shards.every((shard, index) => shard === index)
    ? { clusterId, shardCount: shards.length }
    : { clusterId, pubsubTopics: shards.map((shard) => formatPubsubTopic({ clusterId, shard })) }
}

/** The network as callers give it: nothing, a cluster with its shard count, or static pubsub topics. */
export interface NetworkOptions {
  /** Cluster id, 0 to 65535. Left out: learnt from the first node, or read from `pubsubTopics`. */
  readonly clusterId?: number
  /** Number of shards under automatic sharding, 1 to 1024. Not together with `pubsubTopics`. */
  readonly shardCount?: number
  /** Pubsub topics under static sharding. */
  readonly pubsubTopics?: readonly string[]
}

/**
 * The network that options stand for; undefined where it is to be learnt.
 *
 * @throws {@link InvalidArgumentError} if they are wrong or do not go together
 */
export function fromNetworkOptions({
  clusterId,
  shardCount,
  pubsubTopics
}: NetworkOptions): NetworkConfig | undefined {
  if (clusterId === undefined && shardCount === undefined && pubsubTopics === undefined) {
    return undefined
  }
  if (shardCount !== undefined && pubsubTopics !== undefined) {
    throw new InvalidArgumentError('pubsubTopics', 'must not be given together with shardCount')
  }
  // the others are checked against the first that names one
  const named = Array.from(pubsubTopics ?? [], (topic) => parsePubsubTopic(String(topic)))
  const given = clusterId ?? named.find((shard) => shard !== undefined)?.clusterId
  if (given === undefined || (shardCount ?? pubsubTopics) === undefined) {
    throw new InvalidArgumentError(
      'clusterId',
      'must be given together with shardCount or pubsubTopics'
    )
  }
  const network: NetworkConfig =
    shardCount === undefined
      ? { clusterId: given, pubsubTopics: pubsubTopics ?? [] }
      : { clusterId: given, shardCount }
  assertNetworkConfig(network)
  // a caller may change its array later; those that frameworks watch are no arrays to structuredClone
  return 'shardCount' in network ? network : { ...network, pubsubTopics: [...network.pubsubTopics] }
}
