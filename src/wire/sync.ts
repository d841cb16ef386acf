import { InvalidArgumentError } from '../errors.ts'
import { assertLimit, assertSyncTime, SyncReader, SyncWriter } from './sync-bytes.ts'
import {
  type EmptySyncPayload,
  SYNC_PAYLOAD_LIMITS,
  type SyncPayload,
  type SyncPayloadLimits,
  type SyncRange
} from './sync-payload.ts'
import { readRange, writeRange } from './sync-range.ts'
import { readScope, writeScope } from './sync-scope.ts'

/** Protocol id of Waku Sync's reconciliation; both payload layouts share it. */
export const RECONCILIATION_PROTOCOL = '/vac/waku/reconciliation/1.0.0'

const NO_RANGES = 0

type Layout = SyncPayload['scope']['layout']

/**
 * Encodes a payload.
 *
 * The reference node reads a time only if nine bytes are left: a payload of nothing but Skips with times before 1972 is one
 * that it cannot read.
 *
 * @throws {@link InvalidArgumentError} for bounds that do not ascend or do not meet, items out of order or out of their range,
 * a time out of range, a hash of another length than 32, or an upper hash where it would not travel
 * @see WAKU-STORE-SYNC as the reference node v0.37 and later has it
 */
export function encodeSyncPayload(
  payload: SyncPayload | EmptySyncPayload
): Uint8Array<ArrayBuffer> {
  if (typeof payload === 'string') {
    return new Uint8Array(payload === 'mismatch' ? 0 : 1)
  }
  const [first] = payload.ranges
  if (first === undefined) {
    throw new InvalidArgumentError('payload.ranges', 'must not be empty')
  }
  const writer = new SyncWriter()
  writeScope(writer, payload.scope)
  assertSyncTime(first.lower)
  writer.varint(first.lower)
  let previous = first.lower
  for (const range of payload.ranges) {
    writeRange(writer, range, previous)
    previous = range.upper
  }
  return writer.toBytes()
}

/**
 * Decodes a payload, of the given layout, or of the newer or else the older one: nothing but the content tells them apart.
 * What both could have written, which takes cluster 0, passes for the newer, unless a topic would be empty or unprintable.
 *
 * @throws {@link InvalidMessageError} for bytes that are of neither layout: truncated or followed by others, varints that are
 * longer than they need be or than nine bytes, bounds or items that do not strictly ascend, items out of their range, topics
 * that are empty or no plain text
 * @throws {@link LimitExceededError} if a limit is exceeded, before anything is allocated for it
 */
export function decodeSyncPayload(
  bytes: Uint8Array,
  limits: SyncPayloadLimits = SYNC_PAYLOAD_LIMITS,
  layout?: Layout
): SyncPayload | EmptySyncPayload {
  if (bytes.length === 0) {
    return 'mismatch'
  }
  if (bytes.length === 1 && bytes[0] === NO_RANGES) {
    return 'no-ranges'
  }
  assertLimit(bytes.length, limits.maxPayloadBytes, 'bytes in a frame')
  try {
    return decodeLayout(bytes, limits, layout ?? 'topics')
  } catch (error) {
    if (layout === undefined) {
      try {
        return decodeLayout(bytes, limits, 'shards')
      } catch {
        // what is of neither is told as what it would be in the newer
      }
    }
    throw error
  }
}

function decodeLayout(bytes: Uint8Array, limits: SyncPayloadLimits, layout: Layout): SyncPayload {
  const reader = new SyncReader(bytes)
  const scope = readScope(reader, limits, layout)
  let lower = reader.time(0n)
  const ranges: SyncRange[] = []
  let items = 0
  while (!reader.isAtEnd) {
    assertLimit(ranges.length + 1, limits.maxRanges, 'ranges')
    const range = readRange(reader, lower, items, limits.maxItems)
    ranges.push(range)
    items += range.type === 'item-set' ? range.items.length : 0
    lower = range.upper
  }
  return { scope, ranges }
}
