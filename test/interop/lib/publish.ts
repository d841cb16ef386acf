import type { LightPushClient, OutgoingMessage } from 'waku-light/light-push'
import { toHex } from 'waku-light/message'

/** A message that was published. */
export interface Published extends OutgoingMessage {
  readonly timestamp: bigint
  readonly pubsubTopic: string
  /** In hex. */
  readonly hash: string
}

/** Publishes messages one after the other; fails unless each of them is published. */
export async function publishAll(
  lightPush: LightPushClient,
  messages: readonly OutgoingMessage[]
): Promise<Published[]> {
  const published: Published[] = []
  for (const message of messages) {
    const { status, messageHash, timestamp, pubsubTopic, attempts } = await lightPush.push(message)
    if (status !== 'published' || !messageHash || timestamp === undefined || !pubsubTopic) {
      throw new Error(`push ${status}: ${attempts.map(({ statusDesc }) => statusDesc).join('; ')}`)
    }
    published.push({ ...message, timestamp, pubsubTopic, hash: toHex(messageHash) })
  }
  return published
}

/** Five messages to a timestamp, so that their order needs more than the time. */
export function makeMessages(
  contentTopic: string,
  count: number,
  start: bigint
): (OutgoingMessage & { readonly timestamp: bigint })[] {
  return Array.from({ length: count }, (_, index) => ({
    contentTopic,
    payload: Uint8Array.of(1, index),
    timestamp: start + BigInt(Math.floor(index / 5)) * 1_000n
  }))
}

/** Hashes in hex. */
export function hashesOf(messages: readonly { readonly messageHash: Uint8Array }[]): string[] {
  return messages.map(({ messageHash }) => toHex(messageHash))
}
