import { InvalidArgumentError, InvalidMessageError } from '../errors.ts'
import { compareBytes } from '../lib/bytes.ts'
import {
  assertLimit,
  assertSyncTime,
  HASH_BYTES,
  type SyncReader,
  type SyncWriter
} from './sync-bytes.ts'
import { compareSyncIds, type RangeBounds, type SyncId, type SyncRange } from './sync-payload.ts'

const TYPES = ['skip', 'fingerprint', 'item-set'] as const

/** Writes a range; its lower bound is where the one before it ended. */
export function writeRange(writer: SyncWriter, range: SyncRange): void {
  const { lower, upper, upperHash, type } = range
  assertSyncTime(upper, 'payload.ranges')
  if (upper < lower || (upper === lower) !== (upperHash !== undefined)) {
    throw new InvalidArgumentError('payload.ranges', 'must ascend; an upper hash needs equal times')
  }
  writer.varint(upper - lower)
  if (upperHash !== undefined) {
    const length = upperHash.findLastIndex((byte) => byte !== 0) + 1
    if (upperHash.length !== HASH_BYTES || length === 0) {
      throw new InvalidArgumentError('payload.ranges', 'must have upper hashes of 32 bytes, not 0')
    }
    writer.byte(length)
    writer.view(upperHash.subarray(0, length))
  }
  writer.byte(TYPES.indexOf(type))
  if (type === 'fingerprint') {
    writer.hash(range.fingerprint, 'fingerprint')
  } else if (type === 'item-set') {
    const { items, reconciled } = range
    writer.varint(items.length)
    let previous: SyncId | undefined
    for (const item of items) {
      assertSyncTime(item.timestamp, 'item.timestamp')
      if (!isBetween(item, previous, range)) {
        throw new InvalidArgumentError('items', 'must ascend within the bounds of their range')
      }
      writer.varint(item.timestamp - (previous?.timestamp ?? 0n))
      writer.hash(item.hash, 'item.hash')
      previous = item
    }
    writer.byte(reconciled ? 1 : 0)
  }
}

/** Reads the range that starts at `lower`; `maxItems` counts those of the ranges before it as well. */
export function readRange(
  reader: SyncReader,
  lower: bigint,
  itemsBefore: number,
  maxItems: number
): SyncRange {
  const upper = reader.time(lower)
  const bounds =
    upper === lower ? { lower, upper, upperHash: readUpperHash(reader) } : { lower, upper }
  const type = TYPES[reader.byte()]
  switch (type) {
    case 'skip':
      return { ...bounds, type }
    case 'fingerprint':
      return { ...bounds, type, fingerprint: reader.hash() }
    case 'item-set': {
      const count = reader.number()
      assertLimit(itemsBefore + count, maxItems, 'items')
      if (count * (HASH_BYTES + 1) > reader.remaining) {
        throw new InvalidMessageError('an item set is truncated')
      }
      const items: SyncId[] = []
      let previous: SyncId | undefined
      for (let index = 0; index < count; index++) {
        const timestamp = reader.time(previous?.timestamp ?? 0n)
        const item = { timestamp, hash: reader.hash() }
        if (!isBetween(item, previous, bounds)) {
          throw new InvalidMessageError('items do not ascend within the bounds of their range')
        }
        items.push(item)
        previous = item
      }
      const reconciled = reader.byte()
      if (reconciled > 1) {
        throw new InvalidMessageError('the reconciled flag is neither 0 nor 1')
      }
      return { ...bounds, type, items, reconciled: reconciled === 1 }
    }
    default:
      throw new InvalidMessageError('unknown range type')
  }
}

function readUpperHash(reader: SyncReader): Uint8Array {
  const length = reader.byte()
  const upperHash = new Uint8Array(HASH_BYTES)
  if (length > HASH_BYTES) {
    throw new InvalidMessageError('an upper hash is longer than 32 bytes')
  }
  upperHash.set(reader.view(length))
  if (upperHash.every((byte) => byte === 0)) {
    throw new InvalidMessageError('the bounds of a range do not ascend')
  }
  return upperHash
}

/**
 * Whether an item comes after the one before it, and lies within the bounds. Where an upper hash counts, the reference node
 * includes it.
 */
function isBetween(item: SyncId, previous: SyncId | undefined, bounds: RangeBounds): boolean {
  return (
    item.timestamp >= bounds.lower &&
    (item.timestamp < bounds.upper ||
      (item.timestamp === bounds.upper &&
        bounds.upperHash !== undefined &&
        compareBytes(item.hash, bounds.upperHash) <= 0)) &&
    (previous === undefined || compareSyncIds(previous, item) < 0)
  )
}
