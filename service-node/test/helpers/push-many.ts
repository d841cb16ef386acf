import { expect } from 'chai'
import { messageHash, toHex } from 'waku-light/message'
import type { ServiceNode } from 'waku-light-service-node'
import { encodeMessage, makeMessage, TOPIC } from './messages.ts'
import { push } from './push.ts'
import type { Resources } from './resources.ts'

/** Pushes messages of a time on, a nanosecond apart; returns their hashes. */
export async function pushMany(
  resources: Resources,
  node: ServiceNode,
  time: bigint,
  count: number
): Promise<string[]> {
  const client = await resources.client()
  const messages = Array.from({ length: count }, (_, index) =>
    makeMessage({ timestamp: time + BigInt(index) })
  )
  for (const message of messages) {
    const { statusCode } = await push(client, node.multiaddrs[0], encodeMessage(message))
    expect(statusCode).to.equal(200)
  }
  await client.stop()
  return messages.map((message) => toHex(messageHash(TOPIC, message)))
}
