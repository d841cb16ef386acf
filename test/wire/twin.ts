// A slow and obvious protobuf decoder, written from the encoding's specification and from nothing in src/: what the codecs
// are compared with.

/** What a field holds. */
export type TwinType =
  | 'string'
  | 'bytes'
  | 'bool'
  | 'uint32'
  | 'uint64'
  | 'int64'
  | 'sint64'
  | 'float'
  | { readonly repeated: TwinType }
  | { readonly message: TwinSchema }

/** Field number and type, by name. */
export type TwinSchema = Readonly<Record<string, readonly [fieldNumber: number, type: TwinType]>>

export interface TwinField {
  readonly fieldNumber: number
  readonly wireType: number
  /** Of a varint. */
  readonly number: bigint
  /** Of all others. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where the field ends. */
  readonly end: number
}

/** Any complaint of the twin. */
export class TwinError extends Error {}

/** All fields of a message in their order. */
export function readFields(bytes: Uint8Array): TwinField[] {
  const fields: TwinField[] = []
  let position = 0
  const varint = (max: bigint): bigint => {
    const taken: number[] = []
    do {
      taken.push(take(1)[0] as number)
    } while ((taken.at(-1) as number) >= 0x80)
    const value = taken.reduce((sum, byte, i) => sum + (BigInt(byte & 0x7f) << BigInt(7 * i)), 0n)
    if (value > max || (taken.length > 1 && taken.at(-1) === 0)) {
      throw new TwinError('varint too large or overlong')
    }
    return value
  }
  const take = (count: number): Uint8Array<ArrayBuffer> => {
    if (position + count > bytes.length) {
      throw new TwinError('truncated')
    }
    position += count
    return Uint8Array.from(bytes.subarray(position - count, position))
  }
  while (position < bytes.length) {
    const tag = Number(varint(2n ** 32n - 1n))
    const fieldNumber = Math.floor(tag / 8)
    const wireType = tag % 8
    if (fieldNumber === 0) {
      throw new TwinError('field number 0')
    }
    let number = 0n
    let value: Uint8Array<ArrayBuffer> = new Uint8Array()
    switch (wireType) {
      case 0:
        number = varint(2n ** 64n - 1n)
        break
      case 1:
        value = take(8)
        break
      case 2:
        value = take(Number(varint(2n ** 32n - 1n)))
        break
      case 5:
        value = take(4)
        break
      default:
        throw new TwinError(`wire type ${wireType}`)
    }
    fields.push({ fieldNumber, wireType, number, bytes: value, end: position })
  }
  return fields
}

/** A message as an object: every repeated field as an array, absent fields left out, the last occurrence of a scalar. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the schema is a value here, not a type
export function twinDecode(schema: TwinSchema, bytes: Uint8Array): any {
  const result: Record<string, unknown> = {}
  for (const [name, [, type]] of Object.entries(schema)) {
    if (typeof type === 'object' && 'repeated' in type) {
      result[name] = []
    }
  }
  for (const field of readFields(bytes)) {
    const known = Object.entries(schema).find(([, [number]]) => number === field.fieldNumber)
    if (known === undefined) {
      continue
    }
    const [name, [, type]] = known
    const repeated = typeof type === 'object' && 'repeated' in type
    const single = repeated ? type.repeated : type
    if (field.wireType !== wireTypeOf(single)) {
      continue
    }
    const value = valueOf(single, field)
    if (repeated) {
      ;(result[name] as unknown[]).push(value)
    } else {
      result[name] = value
    }
  }
  return result
}

function wireTypeOf(type: TwinType): number {
  if (typeof type === 'object' || type === 'string' || type === 'bytes') {
    return 2
  }
  return type === 'float' ? 5 : 0
}

function valueOf(type: TwinType, { number, bytes }: TwinField): unknown {
  if (typeof type === 'object') {
    if ('repeated' in type) {
      throw new TwinError('repeated inside repeated')
    }
    return twinDecode(type.message, bytes)
  }
  switch (type) {
    case 'string':
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
      } catch {
        throw new TwinError('not UTF-8')
      }
    case 'bytes':
      return bytes
    case 'bool':
      if (number > 1n) {
        throw new TwinError('bool')
      }
      return number === 1n
    case 'uint32':
      if (number >= 2n ** 32n) {
        throw new TwinError('uint32')
      }
      return Number(number)
    case 'uint64':
      return number
    case 'int64':
      return number >= 2n ** 63n ? number - 2n ** 64n : number
    case 'sint64':
      return number % 2n === 0n ? number / 2n : -(number + 1n) / 2n
    case 'float':
      return new DataView(bytes.buffer).getFloat32(0, true)
  }
}

/** Bytes of a varint, by long division. */
function varintBytes(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value % 128n) + 128, ...varintBytes(value / 128n)]
}

/** Bytes of one field. */
export function fieldBytes(
  fieldNumber: number,
  wireType: number,
  value: bigint | Uint8Array | readonly number[]
): number[] {
  const tag = varintBytes(BigInt(fieldNumber) * 8n + BigInt(wireType))
  if (typeof value === 'bigint') {
    return [...tag, ...varintBytes(value)]
  }
  return [...tag, ...(wireType === 2 ? varintBytes(BigInt(value.length)) : []), ...value]
}
