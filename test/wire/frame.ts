import { fromHex } from 'waku-light/message'

/** The body of the first length-prefixed frame of some hex text. */
export function unframe(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = fromHex(hex)
  let length = 0
  let position = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[position++] ?? 0
    length += (byte % 128) * factor
    if (byte < 128) {
      break
    }
  }
  if (position + length > bytes.length) {
    throw new Error('the frame is cut')
  }
  return bytes.slice(position, position + length)
}

/** A value without those of its properties, and theirs, that are undefined; typed arrays as they are. */
export function clean(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(clean)
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) {
    return value
  }
  const entries = Object.entries(value).filter(([, property]) => property !== undefined)
  return Object.fromEntries(entries.map(([name, property]) => [name, clean(property)]))
}
