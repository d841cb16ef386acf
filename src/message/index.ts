/**
 * The message model: fields, limits, the deterministic hash, topics and shards, time. Pure: no clock, no I/O.
 *
 * @packageDocumentation
 */
export { fromHex, toHex } from '../lib/bytes.ts'
export {
  fromMilliseconds,
  NANOSECONDS_PER_MS,
  type TimeInput,
  toDate,
  toNanoseconds
} from '../lib/time.ts'
export {
  assertMessage,
  DEFAULT_MAX_MESSAGE_BYTES,
  MAX_META_BYTES,
  messageSizeBytes,
  type WakuMessage
} from './message.ts'
export { type HashedFields, MESSAGE_HASH_BYTES, messageHash } from './message-hash.ts'
export {
  type AutoSharding,
  assertNetworkConfig,
  type ContentTopicParts,
  formatPubsubTopic,
  type NetworkConfig,
  parseContentTopic,
  parsePubsubTopic,
  type Shard,
  type StaticSharding,
  toPubsubTopic,
  toShard
} from './topics.ts'
