import { messageHash } from 'waku-light/message'
import type { StoredMessage } from 'waku-light/store'

/** A stored message; its hash is the real one. */
export function stored(
  timestamp: bigint | undefined,
  text: string,
  fields: Partial<StoredMessage> = {}
): StoredMessage {
  const pubsubTopic = fields.pubsubTopic ?? '/waku/2/rs/66/1'
  const message = {
    contentTopic: '/app/1/a/proto',
    payload: new TextEncoder().encode(text),
    ...(timestamp === undefined ? undefined : { timestamp }),
    ...fields
  }
  return { messageHash: messageHash(pubsubTopic, message), pubsubTopic, ...message }
}

/** Some messages, a second apart from each other. */
export function history(count: number, from = 1_700_000_000n): StoredMessage[] {
  return Array.from({ length: count }, (_, index) =>
    stored((from + BigInt(index)) * 1_000_000_000n, `m${index}`)
  )
}

/** The payloads as text. */
export function textsOf(messages: readonly (StoredMessage | undefined)[]): string[] {
  return messages.map((message) =>
    message === undefined ? '-' : new TextDecoder().decode(message.payload)
  )
}
