import type { WakuMessage } from 'waku-light/message'
import { encodeWakuMessage } from 'waku-light/wire'

export const CLUSTER = 42
export const TOPIC = '/waku/2/rs/42/0'
export const CONTENT_TOPIC = '/toychat/2/huilong/proto'

/** A time for injected clocks, in nanoseconds. */
export const NOW = 1_700_000_000_000_000_000n

let counter = 0

/** A message that no other call makes. */
export function makeMessage(fields: Partial<WakuMessage> = {}): WakuMessage {
  const payload = new TextEncoder().encode(`message ${counter++}`)
  return {
    payload,
    contentTopic: CONTENT_TOPIC,
    timestamp: BigInt(Date.now()) * 1_000_000n,
    ...fields
  }
}

export function encodeMessage(fields: Partial<WakuMessage> = {}): Uint8Array<ArrayBuffer> {
  return encodeWakuMessage(makeMessage(fields))
}
