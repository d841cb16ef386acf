import { UnsupportedError } from 'waku-light/errors'
import {
  LIGHT_PUSH_2,
  LIGHT_PUSH_3,
  LightPushClient,
  type OutgoingMessage,
  type PushResult
} from 'waku-light/light-push'
import { toHex } from 'waku-light/message'
import { createLightNode, type LightNode } from 'waku-light/node'
import { StoreClient, type StoreGeneration } from 'waku-light/store'
import { serviceNodes } from '../browser/service-nodes.ts'
import type { ServiceNodes } from '../browser/start-service-nodes.ts'

/** A client on either end of the nodes under test. */
export interface Context {
  /** The nodes under test: the first one is pushed to, the last one is read from. */
  readonly target: ServiceNodes
  /** Of the first node. */
  readonly writer: LightNode
  /** Of the last node. */
  readonly reader: LightNode
  close(): Promise<void>
}

/** Connects to the nodes under test, and waits until a message passes from one end to the other. */
export async function openContext(): Promise<Context> {
  const target = await serviceNodes()
  const [first = [], last = first] = [target.addresses[0], target.addresses.at(-1)]
  const writer = await createLightNode({ serviceNodes: first, allowPrivateAddresses: true })
  const reader = await createLightNode({ serviceNodes: last, allowPrivateAddresses: true })
  const context: Context = {
    target,
    writer,
    reader,
    close: async () => {
      await Promise.all([writer.close(), reader.close()])
      await target.close()
    }
  }
  await publish(context, [{ contentTopic: freshTopic(), payload: Uint8Array.of(0) }])
  return context
}

/** A content topic that no other test uses. */
export function freshTopic(application = 'conformance'): string {
  return `/${application}/1/${toHex(crypto.getRandomValues(new Uint8Array(8)))}/bytes`
}

/**
 * Pushes messages and waits until the last node has them all.
 *
 * @returns the results, in the order of the messages
 */
export async function publish(
  context: Context,
  messages: readonly OutgoingMessage[]
): Promise<PushResult[]> {
  const client = new LightPushClient(context.writer, { generations: [LIGHT_PUSH_3, LIGHT_PUSH_2] })
  const results: PushResult[] = []
  for (const message of messages) {
    const timestamp = message.timestamp ?? BigInt(Date.now()) * 1_000_000n
    const result = await until(`${message.contentTopic} is published`, async () => {
      const attempt = await client.push({ ...message, timestamp })
      return attempt.status === 'published' ? attempt : undefined
    })
    results.push(result)
  }
  const stored = messages.filter(({ ephemeral }) => ephemeral !== true)
  await until(`${stored.length} messages are stored`, async () => {
    const topics = [...new Set(stored.map(({ contentTopic }) => contentTopic))]
    let count = 0
    for await (const _ of new StoreClient(context.reader).query({ contentTopics: topics })) {
      count++
    }
    return count >= stored.length ? true : undefined
  })
  return results
}

/** Asks again until there is an answer; what cannot become true within 15 s fails. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 15_000
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) {
      return answer
    }
    if (Date.now() > deadline) {
      throw new Error(`not within 15 s: ${what}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** False if the node does not speak the generation, so that its cases do not apply. */
export async function speaks(node: LightNode, generation: StoreGeneration): Promise<boolean> {
  try {
    const client = new StoreClient(node, { generations: [generation] })
    await client.last({ contentTopics: [freshTopic()] }, 1)
    return true
  } catch (error) {
    if ((error as Error).cause instanceof UnsupportedError) {
      return false
    }
    throw error
  }
}
