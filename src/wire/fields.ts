import { InvalidMessageError, LimitExceededError } from '../errors.ts'

/** What a field is expected to hold: a scalar, a repeated one with a bound, or a message with a table of its own. */
export type FieldKind = ScalarKind | RepeatedField | FieldTable

type ScalarKind = 'bool' | 'uint32' | 'uint64' | 'fixed32' | 'bytes' | 'string'

/** A repeated field that may occur `maxCount` times. */
interface RepeatedField {
  readonly repeated: 'bytes' | 'string' | FieldTable
  readonly maxCount: number
}

/** The fields of a message, by number. */
export interface FieldTable {
  readonly [fieldNumber: number]: FieldKind
}

/**
 * Bound of repeated fields where the caller gives none. A field of nothing but its tag and length becomes an object of some
 * hundred bytes, so that without a bound a frame of 15 MiB could take a gigabyte.
 */
export const DEFAULT_MAX_COUNT = 100_000

const VARINT = 0
const FIXED64 = 1
const DELIMITED = 2
const FIXED32 = 5

/**
 * Called for each field: its number, its wire type, the bounds of its value (without the length of a delimited one), and
 * where its tag starts.
 */
export type FieldVisitor = (
  fieldNumber: number,
  wireType: number,
  start: number,
  end: number,
  tagStart: number
) => void

/**
 * Walks over the top-level fields of an encoded protobuf message.
 *
 * The generated decoders trust their input in places: some truncated numbers pass, groups recurse. This walk is strict, so
 * what it lets through they read as it was meant.
 *
 * @throws {@link InvalidMessageError} for truncation, a varint that is longer than it need be or than 64 bits, field number
 * 0, or a wire type that is not in use
 */
export function visitFields(
  bytes: Uint8Array,
  visit: FieldVisitor,
  from = 0,
  to = bytes.length
): void {
  for (let position = from; position < to; ) {
    const tagStart = position
    const tagEnd = varintEnd(bytes, tagStart, to, 5)
    const tag = smallVarint(bytes, tagStart, tagEnd)
    const fieldNumber = Math.floor(tag / 8)
    const wireType = tag % 8
    if (fieldNumber === 0) {
      throw new InvalidMessageError('field number 0')
    }
    let start = tagEnd
    if (wireType === VARINT) {
      position = varintEnd(bytes, start, to, 10)
    } else if (wireType === DELIMITED) {
      start = varintEnd(bytes, tagEnd, to, 5)
      position = start + smallVarint(bytes, tagEnd, start)
    } else if (wireType === FIXED64 || wireType === FIXED32) {
      position = start + (wireType === FIXED64 ? 8 : 4)
    } else {
      throw new InvalidMessageError(`wire type ${wireType}`)
    }
    if (position > to) {
      throw new InvalidMessageError(`field ${fieldNumber} is truncated`)
    }
    visit(fieldNumber, wireType, start, position, tagStart)
  }
}

/**
 * Decodes with generated code, after a check that the bytes are a message of the given fields. Fields that are not in the
 * table are skipped, and so are those with another wire type than the table's, as the reference node does.
 *
 * @throws {@link InvalidMessageError} as {@link visitFields}, and for a number over 32 bits where 32 are specified, a boolean
 * other than 0 and 1, or a string that is not UTF-8
 * @throws {@link LimitExceededError} for more occurrences of a field than its `maxCount`
 */
export function decodeChecked<T>(
  decode: (bytes: Uint8Array) => T,
  bytes: Uint8Array,
  table: FieldTable
): T {
  const mistyped: number[] = []
  checkFields(bytes, table, 0, bytes.length, mistyped)
  return decode(mistyped.length === 0 ? bytes : hideFields(bytes, mistyped))
}

function checkFields(
  bytes: Uint8Array,
  table: FieldTable,
  from: number,
  to: number,
  mistyped: number[]
): void {
  const counts: Record<number, number> = {}
  visitFields(
    bytes,
    (fieldNumber, wireType, start, end, tagStart) => {
      let kind = table[fieldNumber]
      if (kind === undefined) {
        return
      }
      if (isRepeated(kind)) {
        const { repeated, maxCount } = kind
        if (wireType === DELIMITED) {
          const count = (counts[fieldNumber] ?? 0) + 1
          counts[fieldNumber] = count
          if (count > maxCount) {
            throw new LimitExceededError(
              `field ${fieldNumber} occurs more than ${maxCount} times`,
              maxCount
            )
          }
        }
        kind = repeated
      }
      if (wireType !== toWireType(kind)) {
        mistyped.push(tagStart)
      } else if (kind === 'bool' && (bytes[start] ?? 0) > 1) {
        throw new InvalidMessageError(`field ${fieldNumber} is neither 0 nor 1`)
      } else if (kind === 'uint32') {
        if (end - start > 5 || (end - start === 5 && (bytes[end - 1] ?? 0) > 0x0f)) {
          throw new InvalidMessageError(`field ${fieldNumber} exceeds 32 bits`)
        }
      } else if (kind === 'string') {
        assertUtf8(bytes, start, end)
      } else if (typeof kind === 'object') {
        checkFields(bytes, kind, start, end, mistyped)
      }
    },
    from,
    to
  )
}

function isRepeated(kind: FieldKind): kind is RepeatedField {
  return typeof kind === 'object' && 'repeated' in kind
}

function toWireType(kind: ScalarKind | FieldTable): number {
  if (kind === 'uint32' || kind === 'uint64' || kind === 'bool') {
    return VARINT
  }
  return kind === 'fixed32' ? FIXED32 : DELIMITED
}

/**
 * A copy in which some fields have another number, so that the generated decoders, which never look at a known field's wire
 * type, skip them. No table uses 15 or 2047, the last numbers whose tags have one and two bytes; all its own are below.
 */
function hideFields(bytes: Uint8Array, tagStarts: readonly number[]): Uint8Array {
  const copy = Uint8Array.from(bytes)
  for (const tagStart of tagStarts) {
    const tag = bytes[tagStart] ?? 0
    copy[tagStart] = (tag & 0x87) | 0x78
    if (tag >= 0x80) {
      copy[tagStart + 1] = 0x7f
    }
  }
  return copy
}

/** The value of a varint of at most 32 bits; `end` as {@link varintEnd} gives it. */
export function smallVarint(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  let factor = 1
  for (let index = start; index < end; index++) {
    value += ((bytes[index] ?? 0) & 0x7f) * factor
    factor *= 128
  }
  if (value > 0xffffffff) {
    throw new InvalidMessageError('varint exceeds 32 bits')
  }
  return value
}

/** Where the varint that starts at `start` ends. */
export function varintEnd(bytes: Uint8Array, start: number, to: number, maxBytes: number): number {
  for (let index = start; index < to && index < start + maxBytes; index++) {
    const byte = bytes[index] ?? 0
    if (byte < 0x80) {
      if (byte === 0 && index > start) {
        throw new InvalidMessageError('overlong varint')
      }
      if (index === start + 9 && byte > 1) {
        throw new InvalidMessageError('varint exceeds 64 bits')
      }
      return index + 1
    }
  }
  throw new InvalidMessageError(
    start + maxBytes <= to ? 'varint is too long' : 'varint is truncated'
  )
}

/**
 * The form in which the generated encoders write a signed 64-bit number correctly: protons-runtime 7.1.2 gets negative
 * multiples of 2^32 from -2^53 on wrong, but takes the same 64 bits as an unsigned number.
 */
export function toSigned64<T extends bigint | undefined>(value: T): T {
  return (value === undefined ? undefined : BigInt.asUintN(64, value)) as T
}

/** The bytes, unless there are none: what several encoders write for a field that is not set. */
export function unlessEmpty<T extends Uint8Array>(bytes: T | undefined): T | undefined {
  return bytes?.length ? bytes : undefined
}

function assertUtf8(bytes: Uint8Array, start: number, end: number): void {
  for (let index = start; index < end; index++) {
    if ((bytes[index] ?? 0) >= 0x80) {
      try {
        new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(start, end))
        return
      } catch (cause) {
        throw new InvalidMessageError('a string is not UTF-8', { cause })
      }
    }
  }
}
