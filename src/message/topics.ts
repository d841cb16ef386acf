import { sha256 } from '@noble/hashes/sha2.js'
import { InvalidArgumentError } from '../errors.ts'
import { encodeText } from '../lib/bytes.ts'
import { assertInteger, assertText } from '../lib/checks.ts'

/** The parts of a content topic. */
export interface ContentTopicParts {
  /** 0 unless the topic names one. */
  readonly generation: number
  readonly application: string
  readonly version: string
  readonly name: string
  readonly encoding: string
}

/** What a pubsub topic of static or automatic sharding stands for. */
export interface Shard {
  readonly clusterId: number
  readonly shard: number
}

/** Automatic sharding: each content topic has its shard among `shardCount`. */
export interface AutoSharding {
  /** The network's cluster id, 0 to 65535. */
  readonly clusterId: number
  /** How many shards the network has, 1 to 1024. */
  readonly shardCount: number
}

/** Static sharding: the application names its pubsub topics. */
export interface StaticSharding {
  /** The network's cluster id, 0 to 65535. */
  readonly clusterId: number
  /** The pubsub topics in use; where there is one only, it is the default of every call. */
  readonly pubsubTopics: readonly string[]
}

/** Which network this is, and how its traffic is divided. */
export type NetworkConfig = AutoSharding | StaticSharding

const MAX_CLUSTER_ID = 0xffff
const MAX_SHARDS = 1024

/**
 * Takes a content topic apart.
 *
 * @param contentTopic - `/{application}/{version}/{name}/{encoding}`, optionally with `/{generation}` before it
 * @throws {@link InvalidArgumentError} if a part is missing or empty, or the generation is not a number
 * @see 23/WAKU2-TOPICS and 51/WAKU2-RELAY-SHARDING
 */
export function parseContentTopic(
  contentTopic: string,
  parameter = 'contentTopic'
): ContentTopicParts {
  const [empty, ...parts] = typeof contentTopic === 'string' ? contentTopic.split('/') : []
  const generation = parts.length === 5 ? parts.shift() : '0'
  const [application, version, name, encoding] = parts
  if (empty !== '' || parts.length !== 4 || !application || !version || !name || !encoding) {
    throw new InvalidArgumentError(
      parameter,
      'must have the form /{application}/{version}/{name}/{encoding}'
    )
  }
  if (!/^[0-9]{1,9}$/.test(generation ?? '')) {
    throw new InvalidArgumentError(parameter, 'must name its generation as a number')
  }
  return { generation: Number(generation), application, version, name, encoding }
}

/**
 * The shard of a content topic under automatic sharding: the last eight bytes of SHA-256 over application and version, as a
 * big-endian number, modulo the shard count.
 *
 * @throws {@link InvalidArgumentError} for a malformed topic, a generation other than 0, or a shard count out of range
 * @see 51/WAKU2-RELAY-SHARDING, automatic sharding
 */
export function toShard(
  contentTopic: string,
  shardCount: number,
  parameter = 'contentTopic'
): number {
  assertInteger('shardCount', shardCount, 1, MAX_SHARDS)
  const { generation, application, version } = parseContentTopic(contentTopic, parameter)
  if (generation !== 0) {
    throw new InvalidArgumentError(parameter, `is of generation ${generation}; only 0 is specified`)
  }
  const digest = sha256(encodeText(application + version))
  return Number(new DataView(digest.buffer).getBigUint64(digest.length - 8) % BigInt(shardCount))
}

/** The pubsub topic of a shard, `/waku/2/rs/{clusterId}/{shard}`. */
export function formatPubsubTopic({ clusterId, shard }: Shard): string {
  return `/waku/2/rs/${clusterId}/${shard}`
}

/** Cluster and shard of a pubsub topic; undefined for a topic of another form. */
export function parsePubsubTopic(pubsubTopic: string): Shard | undefined {
  const match = /^\/waku\/2\/rs\/(\d{1,5})\/(\d{1,5})$/.exec(pubsubTopic)
  const shard = { clusterId: Number(match?.[1]), shard: Number(match?.[2]) }
  return match !== null && shard.clusterId <= MAX_CLUSTER_ID && shard.shard <= 0xffff
    ? shard
    : undefined
}

/**
 * The pubsub topic that a content topic belongs to. This is the one place in which a shard is derived.
 *
 * @param contentTopic - the content topic
 * @param network - how the network is divided
 * @throws {@link InvalidArgumentError} if it cannot be told: a malformed content topic under automatic sharding, or several
 * pubsub topics under static sharding
 */
export function toPubsubTopic(
  contentTopic: string,
  network: NetworkConfig,
  parameter = 'contentTopic'
): string {
  if ('shardCount' in network) {
    const shard = toShard(contentTopic, network.shardCount, parameter)
    return formatPubsubTopic({ clusterId: network.clusterId, shard })
  }
  const [only, ...others] = network.pubsubTopics
  if (only === undefined || others.length > 0) {
    throw new InvalidArgumentError('pubsubTopic', 'must be given: several are in use')
  }
  return only
}

/**
 * Some content topics, each once, sorted.
 *
 * @param pubsubTopic - where one is given, they need not have the form from which it is derived
 * @throws {@link InvalidArgumentError} if they are no array of content topics
 */
export function toContentTopics(
  contentTopics: readonly string[],
  pubsubTopic: string | undefined,
  parameter: string
): string[] {
  if (!Array.isArray(contentTopics)) {
    throw new InvalidArgumentError(parameter, 'must be an array')
  }
  for (const contentTopic of contentTopics as readonly string[]) {
    assertText(parameter, contentTopic)
    if (pubsubTopic === undefined) {
      parseContentTopic(contentTopic, parameter)
    }
  }
  return [...new Set(contentTopics as readonly string[])].sort()
}

/**
 * Checks a network configuration.
 *
 * @throws {@link InvalidArgumentError} naming the field that is wrong
 */
export function assertNetworkConfig(network: NetworkConfig): void {
  assertInteger('clusterId', network.clusterId, 0, MAX_CLUSTER_ID)
  if ('shardCount' in network) {
    assertInteger('shardCount', network.shardCount, 1, MAX_SHARDS)
    return
  }
  if (!Array.isArray(network.pubsubTopics) || network.pubsubTopics.length === 0) {
    throw new InvalidArgumentError('pubsubTopics', 'must be a non-empty array')
  }
  for (const topic of network.pubsubTopics) {
    assertText('pubsubTopics', topic)
    const shard = parsePubsubTopic(topic)
    if (shard !== undefined && shard.clusterId !== network.clusterId) {
      throw new InvalidArgumentError(
        'pubsubTopics',
        `${topic} is not of cluster ${network.clusterId}`
      )
    }
  }
}
