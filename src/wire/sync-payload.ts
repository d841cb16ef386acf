import { compareBytes } from '../lib/bytes.ts'

/** What is compared: the time and the deterministic hash of a message. Ordered by time, then by hash. */
export interface SyncId {
  /** Nanoseconds since the Unix epoch, 0 to 2^63 - 1. */
  readonly timestamp: bigint
  /** 32 bytes. */
  readonly hash: Uint8Array
}

/**
 * From where to where a range goes: (`lower`, hash 0) inclusive to (`upper`, `upperHash`) exclusive. The hash of a lower
 * bound does not travel, that of an upper one only where both times are equal; ours never are.
 */
export interface RangeBounds {
  readonly lower: bigint
  readonly upper: bigint
  /** 32 bytes; only where `upper` equals `lower`. */
  readonly upperHash?: Uint8Array
}

/** A range in which nothing is left to do. */
export interface SkipRange extends RangeBounds {
  readonly type: 'skip'
}

/** A range and the exclusive or of all message hashes that the sender holds in it, 32 bytes. */
export interface FingerprintRange extends RangeBounds {
  readonly type: 'fingerprint'
  readonly fingerprint: Uint8Array
}

/** A range and all that the sender holds in it. */
export interface ItemSetRange extends RangeBounds {
  readonly type: 'item-set'
  /** Strictly ascending, within the bounds. */
  readonly items: readonly SyncId[]
  /** True if the sender knows the receiver's item set already, and expects none in return. */
  readonly reconciled: boolean
}

/** One range of a payload. */
export type SyncRange = SkipRange | FingerprintRange | ItemSetRange

/** What a session is about, as the reference node has it since v0.37: an empty list stands for everything. */
export interface TopicScope {
  readonly layout: 'topics'
  readonly pubsubTopics: readonly string[]
  readonly contentTopics: readonly string[]
}

/** What a session is about in the older layout, which is that of the specification. */
export interface ShardScope {
  readonly layout: 'shards'
  readonly clusterId: number
  readonly shards: readonly number[]
}

/** A payload with ranges: contiguous, strictly ascending. */
export interface SyncPayload {
  readonly scope: TopicScope | ShardScope
  readonly ranges: readonly SyncRange[]
}

/** The two empty forms: the byte 00, "nothing is left to do"; and nothing at all, "we have no topic in common". */
export type EmptySyncPayload = 'no-ranges' | 'mismatch'

/** Bounds of what one payload may hold. */
export interface SyncPayloadLimits {
  readonly maxPayloadBytes: number
  readonly maxRanges: number
  /** Items of all item sets together. */
  readonly maxItems: number
  /** Topics of each list, or shards. */
  readonly maxTopics: number
  readonly maxTopicBytes: number
}

/** The limits where none are given; 100,000 items with the times between them are about 4 MB. */
export const SYNC_PAYLOAD_LIMITS: SyncPayloadLimits = {
  maxPayloadBytes: 4 * 1024 * 1024,
  maxRanges: 50_000,
  maxItems: 100_000,
  maxTopics: 1_024,
  maxTopicBytes: 1_024
}

/** Negative, zero or positive as `a` sorts before, with, or after `b`: by time, then by hash. */
export function compareSyncIds(a: SyncId, b: SyncId): number {
  if (a.timestamp !== b.timestamp) {
    return a.timestamp < b.timestamp ? -1 : 1
  }
  return compareBytes(a.hash, b.hash)
}
