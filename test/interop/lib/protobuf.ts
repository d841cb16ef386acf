/** A length-delimited protobuf field, short enough for lengths of one byte. */
export function delimited(fieldNumber: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value
  if (bytes.length > 0x7f) {
    throw new RangeError('too long for a length of one byte')
  }
  return Uint8Array.of((fieldNumber << 3) | 2, bytes.length, ...bytes)
}
