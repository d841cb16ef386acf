import { encodeText } from '../lib/bytes.ts'
import { DELIMITED, type FieldKind, type Fields, toWireType } from './fields.ts'

/**
 * Writes a message of the given fields, in the order of their numbers; what is undefined is left out. The table does for all
 * messages what protons writes out for each.
 *
 * Writing is done here and not by protons-runtime, which brings every base of multiformats with it: 7 kB of a client that is
 * bundled without the node.
 *
 * @returns bytes in a buffer of their own, so that they can be transferred or stored as they are
 */
export function writeFields<T extends object>(
  message: Partial<T>,
  fields: Fields
): Uint8Array<ArrayBuffer> {
  const parts: Part[] = []
  for (const fieldNumber in fields) {
    const [name = '', kind = 'bytes'] = fields[fieldNumber] ?? []
    const wireType = toWireType(kind)
    const given = (message as Record<string, unknown>)[name] ?? []
    for (const value of Array.isArray(given) ? given : [given]) {
      const part = toPart(kind, value)
      parts.push(Number(fieldNumber) * 8 + wireType)
      if (wireType === DELIMITED) {
        parts.push((part as Uint8Array).length)
      }
      parts.push(part)
    }
  }
  return join(parts)
}

/** Bytes as they are, or a number below 2^32 that becomes a varint. */
type Part = Uint8Array | number

/** What stands for a value, behind its tag and length. */
function toPart(kind: FieldKind, value: unknown): Part {
  switch (kind) {
    case 'bytes':
      return value as Uint8Array
    case 'string':
      return encodeText(value as string)
    case 'bool':
    case 'uint32':
      return Number(value) >>> 0
    case 'float': {
      const bytes = new Uint8Array(4)
      new DataView(bytes.buffer).setFloat32(0, value as number, true)
      return bytes
    }
    case 'sint64':
      return longVarint(((value as bigint) << 1n) ^ ((value as bigint) >> 63n))
    default:
      return typeof kind === 'function'
        ? writeFields(value as object, kind())
        : longVarint(value as bigint)
  }
}

/** Of 64 bits; negative numbers in two's complement. */
function longVarint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 0x7fn; rest >>= 7n) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
  }
  return Uint8Array.of(...bytes, Number(rest))
}

function join(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  let length = 0
  for (const part of parts) {
    length += typeof part === 'number' ? varintLength(part) : part.length
  }
  const bytes = new Uint8Array(length)
  let end = 0
  for (const part of parts) {
    if (typeof part !== 'number') {
      bytes.set(part, end)
      end += part.length
      continue
    }
    let rest = part
    for (; rest > 0x7f; rest >>>= 7) {
      bytes[end++] = (rest & 0x7f) | 0x80
    }
    bytes[end++] = rest
  }
  return bytes
}

function varintLength(value: number): number {
  let length = 1
  for (let rest = value; rest > 0x7f; rest >>>= 7) {
    length++
  }
  return length
}

/** The bytes, unless there are none: what several encoders write for a field that is not set. */
export function unlessEmpty<T extends Uint8Array>(bytes: T | undefined): T | undefined {
  return bytes?.length ? bytes : undefined
}
