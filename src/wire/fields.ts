import { InvalidMessageError, LimitExceededError } from '../errors.ts'

/** What a field holds: a scalar, or a message with fields of its own. */
export type FieldKind = ScalarKind | (() => Fields)

type ScalarKind = 'bool' | 'uint32' | 'uint64' | 'int64' | 'sint64' | 'float' | 'bytes' | 'string'

/** The fields of a message, by number: the name, what it holds, and whether it is repeated. */
export interface Fields {
  readonly [fieldNumber: string]: readonly [name: string, kind: FieldKind, isRepeated?: true]
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

/** Called for each field: its number, its wire type, and the bounds of its value (without the length of a delimited one). */
export type FieldVisitor = (
  fieldNumber: number,
  wireType: number,
  start: number,
  end: number
) => void

/**
 * Walks over the top-level fields of an encoded protobuf message.
 *
 * @throws {@link InvalidMessageError} for truncation, a varint that is longer than it need be or than 64 bits, field number
 * 0, or a wire type that is not in use
 */
export function visitFields(bytes: Uint8Array, visit: FieldVisitor): void {
  const to = bytes.length
  for (let position = 0; position < to; ) {
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
 * Reads a message of the given fields. What is not in the table is skipped, and so is a field with another wire type than the
 * table's, as the reference node does; of a field that is not repeated, the last one counts. Bytes are views of the input.
 *
 * Reading is done here and not by protons-runtime, whose reader trusts its input in places: some truncated numbers pass,
 * groups recurse, and a wrong wire type is read as if it were right.
 *
 * @param maxCount - how often a repeated field may occur
 * @throws {@link InvalidMessageError} as {@link visitFields}, and for a number over 32 bits where 32 are specified, a boolean
 * other than 0 and 1, or a string that is not UTF-8
 * @throws {@link LimitExceededError} for more occurrences of a field than `maxCount`
 */
export function readFields<T>(bytes: Uint8Array, fields: Fields, maxCount = DEFAULT_MAX_COUNT): T {
  const message: Record<string, unknown> = {}
  for (const [name, , isRepeated] of Object.values(fields)) {
    if (isRepeated) {
      message[name] = []
    }
  }
  visitFields(bytes, (fieldNumber, wireType, start, end) => {
    const field = fields[fieldNumber]
    if (field === undefined || wireType !== toWireType(field[1])) {
      return
    }
    const [name, kind] = field
    const content = bytes.subarray(start, end)
    const value =
      typeof kind === 'function' ? readFields(content, kind(), maxCount) : readScalar(content, kind)
    const list = message[name]
    if (!Array.isArray(list)) {
      message[name] = value
    } else if (list.push(value) > maxCount) {
      throw new LimitExceededError(`${name} occurs more than ${maxCount} times`, maxCount)
    }
  })
  return message as T
}

/** How a field is framed. */
export function toWireType(kind: FieldKind): number {
  if (kind === 'bytes' || kind === 'string' || typeof kind === 'function') {
    return DELIMITED
  }
  return kind === 'float' ? FIXED32 : VARINT
}

function readScalar(bytes: Uint8Array, kind: ScalarKind): unknown {
  switch (kind) {
    case 'bytes':
      return bytes
    case 'string':
      return decodeText(bytes, 'a string')
    case 'uint32':
      return smallVarint(bytes, 0, bytes.length)
    case 'float':
      return new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true)
    case 'bool': {
      const value = smallVarint(bytes, 0, bytes.length)
      if (value > 1) {
        throw new InvalidMessageError('a boolean is neither 0 nor 1')
      }
      return value === 1
    }
    default: {
      const value = varint(bytes)
      if (kind === 'sint64') {
        return (value >> 1n) ^ -(value & 1n)
      }
      return kind === 'int64' ? BigInt.asIntN(64, value) : value
    }
  }
}

/** The value of a varint that is all of these bytes: seven of them at a time fit into a number exactly. */
export function varint(bytes: Uint8Array): bigint {
  const high = bytes.length > 7 ? BigInt(groups(bytes, 7, bytes.length)) << 49n : 0n
  return high | BigInt(groups(bytes, 0, Math.min(7, bytes.length)))
}

function groups(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let index = end - 1; index >= start; index--) {
    value = value * 128 + ((bytes[index] ?? 0) & 0x7f)
  }
  return value
}

/** The value of a varint of at most 32 bits; `end` as {@link varintEnd} gives it, so that more than five bytes are more. */
export function smallVarint(bytes: Uint8Array, start: number, end: number): number {
  const value = groups(bytes, start, end)
  if (value > 0xffffffff) {
    throw new InvalidMessageError('varint is too long')
  }
  return value
}

/** Where the varint that starts at `start` ends. */
export function varintEnd(bytes: Uint8Array, start: number, to: number, maxBytes: number): number {
  for (let index = start; index < to && index < start + maxBytes; index++) {
    const byte = bytes[index] ?? 0
    if (byte < 0x80) {
      if ((byte === 0 && index > start) || (byte > 1 && index === start + 9)) {
        throw new InvalidMessageError('varint is too long')
      }
      return index + 1
    }
  }
  throw new InvalidMessageError(`varint ${start + maxBytes <= to ? 'is too long' : 'is truncated'}`)
}

const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The text of UTF-8 bytes.
 *
 * @param what - its name in the error
 * @throws {@link InvalidMessageError} for anything else
 */
export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new InvalidMessageError(`${what} is not UTF-8`, { cause })
  }
}
