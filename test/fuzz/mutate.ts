import type { Random } from './random.ts'

type Bytes = Uint8Array<ArrayBuffer>
type Mutation = (random: Random, bytes: Bytes, other: Bytes) => Bytes

/** What may come between a peer and its good intentions. */
const MUTATIONS: readonly Mutation[] = [
  flipBit,
  setByte,
  (random, bytes) => bytes.slice(0, random.int(bytes.length + 1)),
  (random, bytes) => splice(bytes, random.int(bytes.length + 1), 0, random.bytes(random.int(9))),
  (random, bytes) => splice(bytes, random.int(bytes.length + 1), random.int(9), new Uint8Array()),
  (random, bytes) => splice(bytes, random.int(bytes.length + 1), 1, hugeVarint(random)),
  repeatSlice,
  crossOver,
  changeField,
  changeField,
  changeField
]

/** A frame with some changes; now and then nothing but noise. */
export function mutate(random: Random, bytes: Bytes, other: Bytes): Bytes {
  if (random.chance(0.02)) {
    return random.bytes(random.int(200))
  }
  let mutated = bytes
  for (let left = 1 + random.int(4); left > 0; left--) {
    mutated = random.pick(MUTATIONS)(random, mutated, other)
  }
  return mutated
}

/** The same bytes, cut anywhere. */
export function split(random: Random, bytes: Bytes): Bytes[] {
  const chunks: Bytes[] = []
  const most = random.pick([1, 3, 50, 5000])
  for (let at = 0; at < bytes.length; ) {
    const end = Math.max(at + 1 + random.int(most), at + Math.floor(bytes.length / 200))
    chunks.push(bytes.slice(at, end))
    at = end
  }
  return chunks
}

/** A varint that stands for something large, or for nothing at all. */
export function hugeVarint(random: Random): Bytes {
  const length = 1 + random.int(12)
  const bytes = random.bytes(length).map((byte) => byte | 0x80)
  if (random.chance(0.9)) {
    bytes[length - 1] = random.int(0x80)
  }
  return bytes
}

/** An unsigned LEB128 varint. */
function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))]
}

/** With the length in front of it. */
export function framed(body: Uint8Array): Bytes {
  return concat(Uint8Array.from(varint(body.length)), body)
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function splice(bytes: Bytes, at: number, remove: number, insert: Uint8Array): Bytes {
  return concat(bytes.subarray(0, at), insert, bytes.subarray(at + remove))
}

function flipBit(random: Random, bytes: Bytes): Bytes {
  const at = random.int(bytes.length)
  return bytes.map((byte, index) => (index === at ? byte ^ (1 << random.int(8)) : byte))
}

function setByte(random: Random, bytes: Bytes): Bytes {
  const at = random.int(bytes.length)
  const value = random.pick([0, 1, 0x7f, 0x80, 0xff])
  return bytes.map((byte, index) => (index === at ? value : byte))
}

function repeatSlice(random: Random, bytes: Bytes): Bytes {
  const from = random.int(bytes.length)
  const slice = bytes.subarray(from, from + 1 + random.int(64))
  return splice(bytes, from, 0, concat(...Array.from({ length: 1 + random.int(20) }, () => slice)))
}

function crossOver(random: Random, bytes: Bytes, other: Bytes): Bytes {
  return concat(
    bytes.subarray(0, random.int(bytes.length + 1)),
    other.subarray(random.int(other.length + 1))
  )
}

/** A field as it lies in a message. */
interface Field {
  readonly from: number
  readonly to: number
  /** Where a length-delimited value begins; undefined for the others. */
  readonly body?: number
}

/** Keeps the message well-formed and changes a field: dropped, twice, moved, of another number, or changed within. */
function changeField(random: Random, bytes: Bytes, other: Bytes): Bytes {
  const fields = readFields(bytes)
  if (fields.length === 0) {
    return setByte(random, bytes)
  }
  const { from, to, body } = random.pick(fields)
  const field = bytes.slice(from, to)
  switch (random.int(5)) {
    case 0:
      return splice(bytes, from, to - from, new Uint8Array())
    case 1:
      return splice(bytes, random.pick(fields).from, 0, field)
    case 2:
      return splice(bytes, from, 1, Uint8Array.from(varint(random.int(64) * 8 + random.int(8))))
    default: {
      if (body === undefined) {
        return splice(bytes, from + 1, to - from - 1, hugeVarint(random))
      }
      const value = mutate(random, bytes.slice(body, to), other)
      return splice(bytes, from, to - from, concat(tagOf(bytes, from), framed(value)))
    }
  }
}

function tagOf(bytes: Bytes, at: number): Bytes {
  return bytes.slice(at, readVarint(bytes, at).end)
}

/** The fields of a protobuf message, as far as they can be read. */
function readFields(bytes: Bytes): Field[] {
  const fields: Field[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at)
    const wireType = tag.value % 8
    const value = readVarint(bytes, tag.end)
    const to =
      wireType === 0
        ? value.end
        : wireType === 1
          ? tag.end + 8
          : wireType === 2
            ? value.end + value.value
            : tag.end + 4
    if (to > bytes.length || wireType === 3 || wireType === 4 || wireType > 5) {
      break
    }
    fields.push({ from: at, to, ...(wireType === 2 && { body: value.end }) })
    at = to
  }
  return fields
}

function readVarint(bytes: Bytes, from: number): { value: number; end: number } {
  let value = 0
  let at = from
  for (let scale = 1; at < bytes.length && at < from + 8; scale *= 0x80) {
    const byte = bytes[at++] ?? 0
    value += (byte & 0x7f) * scale
    if (byte < 0x80) {
      break
    }
  }
  return { value, end: at }
}
