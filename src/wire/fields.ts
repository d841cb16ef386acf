import { InvalidMessageError, LimitExceededError, WakuLightError } from '../errors.ts'

/** What a field is expected to hold: a scalar, or a message described by a table of its own. */
export type FieldKind = 'uint32' | 'uint64' | 'fixed32' | 'bytes' | 'string' | FieldTable

/** The fields of a message, by number. */
export interface FieldTable {
  readonly [fieldNumber: number]: FieldKind
}

const VARINT = 0
const FIXED64 = 1
const DELIMITED = 2
const FIXED32 = 5

/** Called for each field: its number, its wire type, and the bounds of its value (without the length of a delimited one). */
export type FieldVisitor = (fieldNumber: number, wireType: number, start: number, end: number) => void

/**
 * Walks over the top-level fields of an encoded protobuf message.
 *
 * The generated decoders trust their input in places: some truncated numbers pass, groups recurse. This walk is strict, so
 * what it lets through they read as it was meant.
 *
 * @throws {@link InvalidMessageError} for truncation, a varint that is longer than it need be or than 64 bits, field number
 * 0, or a wire type that is not in use
 */
export function visitFields(bytes: Uint8Array, visit: FieldVisitor, from = 0, to = bytes.length): void {
  for (let position = from; position < to; ) {
    const tagEnd = varintEnd(bytes, position, to, 5)
    const tag = smallVarint(bytes, position, tagEnd)
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
    visit(fieldNumber, wireType, start, position)
  }
}

/**
 * Checks that bytes are a message of the given fields; fields that are not in the table are skipped.
 *
 * @param table - what each field holds
 * @param limits - largest number of occurrences, by field number
 * @throws {@link InvalidMessageError} as {@link visitFields}, and for a wrong wire type, a number over 32 bits where 32 are
 * specified, or a string that is not UTF-8
 * @throws {@link LimitExceededError} for more occurrences of a field than its limit
 */
function checkFields(bytes: Uint8Array, table: FieldTable, limits: Readonly<Record<number, number>>, from: number, to: number): void {
  const counts: Record<number, number> = {}
  visitFields(
    bytes,
    (fieldNumber, wireType, start, end) => {
      const kind = table[fieldNumber]
      if (kind === undefined) {
        return
      }
      const limit = limits[fieldNumber]
      if (limit !== undefined) {
        const count = (counts[fieldNumber] ?? 0) + 1
        counts[fieldNumber] = count
        if (count > limit) {
          throw new LimitExceededError(`field ${fieldNumber} occurs more than ${limit} times`, limit)
        }
      }
      if (wireType !== expectedWireType(kind)) {
        throw new InvalidMessageError(`field ${fieldNumber} has wire type ${wireType}`)
      }
      if (kind === 'uint32') {
        if (end - start > 5 || (end - start === 5 && (bytes[end - 1] ?? 0) > 0x0f)) {
          throw new InvalidMessageError(`field ${fieldNumber} exceeds 32 bits`)
        }
      } else if (kind === 'string') {
        assertUtf8(bytes, start, end)
      } else if (typeof kind === 'object') {
        checkFields(bytes, kind, {}, start, end)
      }
    },
    from,
    to
  )
}

/**
 * Decodes with generated code what {@link checkFields} lets through.
 *
 * @throws {@link InvalidMessageError} and {@link LimitExceededError} as there
 */
export function decodeChecked<T>(
  decode: (bytes: Uint8Array) => T,
  bytes: Uint8Array,
  table: FieldTable,
  limits: Readonly<Record<number, number>> = {}
): T {
  checkFields(bytes, table, limits, 0, bytes.length)
  try {
    return decode(bytes)
  } catch (cause) {
    throw cause instanceof WakuLightError ? cause : new InvalidMessageError('the message does not decode', { cause })
  }
}

/** The value of a varint of at most 32 bits; `end` as {@link visitFields} gives it. */
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
  throw new InvalidMessageError(start + maxBytes <= to ? 'varint is too long' : 'varint is truncated')
}

function expectedWireType(kind: FieldKind): number {
  if (kind === 'uint32' || kind === 'uint64') {
    return VARINT
  }
  return kind === 'fixed32' ? FIXED32 : DELIMITED
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
