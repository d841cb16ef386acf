import { LimitExceededError } from '../errors.ts'
import { readFields, smallVarint, varintEnd, visitFields } from './fields.ts'
import {
  type WakuMetadata as EncodedWakuMetadata,
  WakuMetadataFields
} from './generated/metadata.ts'
import { writeFields } from './write-fields.ts'

/** Protocol id of metadata. */
export const METADATA_PROTOCOL = '/vac/waku/metadata/1.0.0'

/** Largest metadata frame, in bytes; the reference node's own limit. */
export const MAX_METADATA_BYTES = 1024

/** Field 2, a varint. */
const UNPACKED_SHARD_TAG = 0x10

/** What a peer says of its network. */
export interface Metadata {
  /** Absent if the peer says nothing; 0 is a cluster like any other. */
  readonly clusterId?: number
  /** Shards that the peer relays, ascending, each once. */
  readonly shards: readonly number[]
}

/** Encodes the metadata of a node that relays nothing: its cluster id, written even when it is 0. */
export function encodeClusterId(clusterId: number | undefined): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedWakuMetadata>({ clusterId }, WakuMetadataFields)
}

/**
 * Encodes metadata; the cluster id is written even when it is 0, shards only where there are any. They are written twice, as
 * the reference node does: in the specification's field 2, the only one that js-waku reads, unless that makes the frame too
 * long, and packed in field 3.
 */
export function encodeMetadata({ clusterId, shards }: Metadata): Uint8Array<ArrayBuffer> {
  const cluster = encodeClusterId(clusterId)
  if (shards.length === 0) {
    return cluster
  }
  const older = toVarints(shards.flatMap((shard) => [UNPACKED_SHARD_TAG, shard]))
  const newer = writeFields<EncodedWakuMetadata>({ shards: toVarints(shards) }, WakuMetadataFields)
  const fits = cluster.length + older.length + newer.length <= MAX_METADATA_BYTES
  return Uint8Array.of(...cluster, ...(fits ? older : []), ...newer)
}

/**
 * Decodes metadata. Shards are read from field 3, else from the older field 2, each packed or not.
 *
 * @throws {@link InvalidMessageError} if it does not decode
 * @throws {@link LimitExceededError} for more than {@link MAX_METADATA_BYTES}
 */
export function decodeMetadata(bytes: Uint8Array): Metadata {
  if (bytes.length > MAX_METADATA_BYTES) {
    throw new LimitExceededError(`metadata of ${bytes.length} bytes`, MAX_METADATA_BYTES)
  }
  const { clusterId } = readFields<EncodedWakuMetadata>(bytes, WakuMetadataFields)
  const shards: Record<number, number[]> = { 2: [], 3: [] }
  visitFields(bytes, (fieldNumber, wireType, start, end) => {
    const list = shards[fieldNumber]
    if (list === undefined) {
      return
    }
    if (wireType === 0) {
      list.push(smallVarint(bytes, start, end))
    }
    for (let position = start; wireType === 2 && position < end; ) {
      const next = varintEnd(bytes, position, end, 5)
      list.push(smallVarint(bytes, position, next))
      position = next
    }
  })
  const stated = shards[3]?.length ? shards[3] : (shards[2] ?? [])
  return {
    shards: [...new Set(stated)].sort((a, b) => a - b),
    ...(clusterId === undefined ? undefined : { clusterId })
  }
}

function toVarints(values: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = []
  for (let rest of values) {
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) {
      bytes.push((rest % 128) | 0x80)
    }
    bytes.push(rest)
  }
  return Uint8Array.from(bytes)
}
