// Pushes 10,000 messages of 300 bytes, then pages them out again with every hash recomputed, between processes on one
// machine. Rates depend on the machine; compare them with each other.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'

const COUNT = Number(process.env.COUNT ?? 10_000)
const PAYLOAD_BYTES = 300
const CONTENT_TOPIC = '/bench/1/throughput/bytes'

const child = fork(fileURLToPath(new URL('lib/service-node.ts', import.meta.url)), {
  execArgv: ['--import=tsx']
})
try {
  const [address] = (await once(child, 'message')) as [string]
  const node = await createLightNode({ serviceNodes: [address], clusterId: 66, shardCount: 8 })
  await node.network()
  await push(new LightPushClient(node))
  await walk(new StoreClient(node))
  await walk(new StoreClient(node))
  await node.close()
} finally {
  child.kill()
}

async function push(client: LightPushClient): Promise<void> {
  const payload = (): Uint8Array => crypto.getRandomValues(new Uint8Array(PAYLOAD_BYTES))
  const one = async (): Promise<void> => {
    const { status, attempts } = await client.push({
      contentTopic: CONTENT_TOPIC,
      payload: payload()
    })
    if (status !== 'published') {
      throw new Error(`push ended as ${status}: ${JSON.stringify(attempts)}`)
    }
  }
  await one()
  const alone = Math.min(1_000, COUNT / 10)
  await timed('push, one after another', alone, async () => {
    for (let index = 0; index < alone; index++) {
      await one()
    }
  })
  const rest = COUNT - alone - 1
  await timed('push, 32 at a time', rest, async () => {
    let left = rest
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        while (left-- > 0) {
          await one()
        }
      })
    )
  })
}

async function walk(client: StoreClient): Promise<void> {
  globalThis.gc?.()
  const idle = process.memoryUsage.rss()
  let peak = idle
  await timed('page through history, verified', COUNT, async () => {
    let count = 0
    for await (const page of client.queryPages({ contentTopics: [CONTENT_TOPIC] })) {
      count += page.messages.length
      peak = Math.max(peak, process.memoryUsage.rss())
    }
    if (count !== COUNT) {
      throw new Error(`${count} of ${COUNT} messages came back`)
    }
  })
  console.log(`  memory over idle, at its peak: ${((peak - idle) / 2 ** 20).toFixed(1)} MiB`)
}

async function timed(what: string, count: number, run: () => Promise<void>): Promise<void> {
  const start = performance.now()
  await run()
  const seconds = (performance.now() - start) / 1_000
  console.log(
    `${what}: ${count} in ${seconds.toFixed(2)} s, ${Math.round(count / seconds)} a second`
  )
}
