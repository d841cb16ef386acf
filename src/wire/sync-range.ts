import { InvalidArgumentError, InvalidMessageError } from '../errors.ts'
import { compareBytes } from '../lib/bytes.ts'
import {
  assertHash,
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
  assertRange(range, (problem) => new InvalidArgumentError('payload.ranges', problem))
  writer.varint(upper - lower)
  if (upperHash !== undefined) {
    assertHash(upperHash, 'range.upperHash')
    const length = upperHash.findLastIndex((byte) => byte !== 0) + 1
    writer.varint(length)
    writer.put(upperHash.subarray(0, length))
  }
  writer.varint(TYPES.indexOf(type))
  if (type === 'fingerprint') {
    assertHash(range.fingerprint, 'fingerprint')
    writer.put(range.fingerprint)
  } else if (type === 'item-set') {
    const { items, reconciled } = range
    writer.varint(items.length)
    let previous = 0n
    for (const { timestamp, hash } of items) {
      assertSyncTime(timestamp, 'item.timestamp')
      assertHash(hash, 'item.hash')
      writer.varint(timestamp - previous)
      writer.put(hash)
      previous = timestamp
    }
    writer.varint(reconciled ? 1 : 0)
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
  const bounds = { lower, upper, ...(upper === lower && { upperHash: readUpperHash(reader) }) }
  const range = readContent(reader, bounds, itemsBefore, maxItems)
  assertRange(range, (problem) => new InvalidMessageError(`payload.ranges ${problem}`))
  return range
}

function readContent(
  reader: SyncReader,
  bounds: RangeBounds,
  itemsBefore: number,
  maxItems: number
): SyncRange {
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
      for (let timestamp = 0n; items.length < count; ) {
        timestamp = reader.time(timestamp)
        items.push({ timestamp, hash: reader.hash() })
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
  return upperHash
}

/** Throws unless bounds ascend, and items within them. Where an upper hash counts, the reference node includes it. */
function assertRange(range: SyncRange, toError: (problem: string) => Error): void {
  const { lower, upper, upperHash } = range
  if (
    upper < lower ||
    (upper === lower) !== (upperHash !== undefined) ||
    upperHash?.every((byte) => byte === 0)
  ) {
    throw toError('must ascend, by an upper hash where the times are equal')
  }
  let previous: SyncId | undefined
  for (const item of range.type === 'item-set' ? range.items : []) {
    if (
      item.timestamp < lower ||
      item.timestamp > upper ||
      (item.timestamp === upper &&
        (upperHash === undefined || compareBytes(item.hash, upperHash) > 0)) ||
      (previous !== undefined && compareSyncIds(previous, item) >= 0)
    ) {
      throw toError('must have items that ascend within their bounds')
    }
    previous = item
  }
}
