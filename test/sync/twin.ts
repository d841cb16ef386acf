// What the index and the sessions are compared with: sorted arrays, sets and sums, nothing else.
import { toHex } from 'waku-light/message'
import type { SyncId } from '../../src/wire/sync-payload.ts'

/** A message as far as synchronisation sees it. */
export interface Entry extends SyncId {
  readonly pubsubTopic: string
  readonly contentTopic: string
}

export const PUBSUB_TOPIC = '/waku/2/rs/16/0'
export const CONTENT_TOPIC = '/sync-test/1/a/proto'

/** Sorts as its time, then its hash. */
export function toKey({ timestamp, hash }: SyncId): string {
  return `${timestamp.toString().padStart(20, '0')} ${toHex(hash)}`
}

/** Sorted keys, each once. */
export function toKeys(ids: Iterable<SyncId>): string[] {
  return [...new Set([...ids].map(toKey))].sort()
}

/** What is in the first and not in the second. */
export function difference(a: Iterable<SyncId>, b: Iterable<SyncId>): string[] {
  const others = new Set(toKeys(b))
  return toKeys(a).filter((key) => !others.has(key))
}

/** Bit by bit, with numbers of 256 bits. */
export function fingerprint(ids: Iterable<SyncId>): string {
  let sum = 0n
  for (const { hash } of ids) {
    sum ^= BigInt(`0x${toHex(hash)}`)
  }
  return sum.toString(16).padStart(64, '0')
}

/** 32 bytes that look random, the same for the same number. */
export function toHash(seed: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(32)
  const view = new DataView(bytes.buffer)
  let state = seed ^ 0x9e3779b9
  for (let word = 0; word < 8; word++) {
    state = Math.imul(state ^ (state >>> 16), 0x85ebca6b) + word + 1
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35) ^ seed
    view.setUint32(4 * word, state ^ (state >>> 16))
  }
  return bytes
}

/** A message at a time, with a hash made from a number. */
export function toEntry(timestamp: bigint, seed: number, contentTopic = CONTENT_TOPIC): Entry {
  return { timestamp, hash: toHash(seed), pubsubTopic: PUBSUB_TOPIC, contentTopic }
}
