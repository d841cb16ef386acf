/** The order of a store generation: (timestamp, hash), (timestamp, digest), or (received time, digest). */
export type ArchiveOrder = 'timestamp-hash' | 'timestamp-digest' | 'received-digest'

/** A position in an order; exclusive. Fields from the first absent one on take part in no comparison. */
export interface ArchiveKey {
  /** `timestamp` in nanoseconds, or the received time in seconds. */
  readonly time: bigint | number
  readonly digest?: Uint8Array
  readonly hash?: Uint8Array
}

/** The columns of each order; the hash last, so that it is total: many messages may share time and digest. */
export const ORDER_COLUMNS = {
  'timestamp-hash': ['timestamp', 'hash'],
  'timestamp-digest': ['timestamp', 'digest', 'hash'],
  'received-digest': ['received_time', 'digest', 'hash']
} as const

/** The values of a key in the sequence of {@link ORDER_COLUMNS}, as far as it goes. */
export function keyValues(
  order: ArchiveOrder,
  { time, digest, hash }: ArchiveKey
): (bigint | number | Uint8Array)[] {
  const values = order === 'timestamp-hash' ? [time, hash] : [time, digest, hash]
  const end = values.indexOf(undefined)
  return values.slice(0, end === -1 ? values.length : end).filter((value) => value !== undefined)
}

/** Negative, zero or positive as key `a` sorts before, with, or after key `b`. */
export function compareKeys(a: ArchiveKey, b: ArchiveKey): number {
  if (a.time !== b.time) {
    return a.time < b.time ? -1 : 1
  }
  return compareOptional(a.digest, b.digest) || compareOptional(a.hash, b.hash)
}

function compareOptional(a: Uint8Array | undefined, b: Uint8Array | undefined): number {
  return a === undefined || b === undefined ? 0 : Buffer.compare(a, b)
}
