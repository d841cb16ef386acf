import { InvalidArgumentError, InvalidMessageError } from '../errors.ts'
import {
  assertHash,
  assertSyncTime,
  HASH_BYTES,
  type SyncReader,
  type SyncWriter
} from './sync-bytes.ts'
import { compareSyncIds, type ItemSetRange, type SyncId, type SyncRange } from './sync-payload.ts'

/** Sorts before any hash. */
const NO_HASH = /* @__PURE__ */ new Uint8Array()

const TYPES = ['skip', 'fingerprint', 'item-set'] as const

/** Writes a range; its lower bound has to be where the one before it ended. */
export function writeRange(writer: SyncWriter, range: SyncRange, previous: bigint): void {
  const { lower, upper, upperHash, type } = range
  assertSyncTime(upper)
  if (lower !== previous || !ascends(range)) {
    throw new InvalidArgumentError('payload.ranges', 'must follow on each other, and ascend within')
  }
  writer.varint(upper - lower)
  if (upperHash !== undefined) {
    assertHash(upperHash)
    const length = upperHash.findLastIndex((byte) => byte !== 0) + 1
    writer.varint(length)
    writer.put(upperHash.subarray(0, length))
  }
  writer.varint(TYPES.indexOf(type))
  if (type === 'fingerprint') {
    assertHash(range.fingerprint)
    writer.put(range.fingerprint)
  } else if (type === 'item-set') {
    const { items, reconciled } = range
    writer.varint(items.length)
    let before = 0n
    for (const { timestamp, hash } of items) {
      assertHash(hash)
      writer.varint(timestamp - before)
      writer.put(hash)
      before = timestamp
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
  const type = TYPES[reader.number(2)]
  const range: SyncRange =
    type === 'item-set'
      ? { ...bounds, type, ...readItems(reader, itemsBefore, maxItems) }
      : type === 'fingerprint'
        ? { ...bounds, type, fingerprint: reader.hash() }
        : { ...bounds, type: 'skip' }
  if (!ascends(range)) {
    throw new InvalidMessageError('a range that does not ascend')
  }
  return range
}

function readItems(
  reader: SyncReader,
  itemsBefore: number,
  maxItems: number
): Pick<ItemSetRange, 'items' | 'reconciled'> {
  const count = reader.count(maxItems, 'items', itemsBefore)
  reader.expect(count * (HASH_BYTES + 1))
  const items: SyncId[] = []
  for (let timestamp = 0n; items.length < count; ) {
    timestamp = reader.time(timestamp)
    items.push({ timestamp, hash: reader.hash() })
  }
  return { items, reconciled: reader.number(1) === 1 }
}

function readUpperHash(reader: SyncReader): Uint8Array {
  const upperHash = new Uint8Array(HASH_BYTES)
  upperHash.set(reader.view(reader.number(HASH_BYTES)))
  return upperHash
}

/** Whether bounds ascend, and items within them. Where an upper hash counts, the reference node includes it. */
function ascends(range: SyncRange): boolean {
  const { lower, upper, upperHash } = range
  // what sorts before all and after all that may be listed
  let previous: SyncId = { timestamp: lower, hash: NO_HASH }
  const end: SyncId = { timestamp: upper, hash: upperHash ?? NO_HASH }
  const follows = (item: SyncId): boolean => {
    const isNext = compareSyncIds(previous, item) < 0 && compareSyncIds(item, end) <= 0
    previous = item
    return isNext
  }
  return (
    upper >= lower &&
    (upper === lower) === (upperHash !== undefined) &&
    !upperHash?.every((byte) => byte === 0) &&
    (range.type !== 'item-set' || range.items.every(follows))
  )
}
