// What bench/round-trips.bench.ts measures, for Node and for a page alike: milliseconds, of one light node after the other.
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode, type LightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'

export const CLUSTER_ID = 66
export const SHARD_COUNT = 8
const CONTENT_TOPIC = '/bench/1/round-trips/bytes'
const PAGE_LIMIT = 5

/** Messages that the node must hold for the pages. */
export const MESSAGE_COUNT = 60

export interface Times {
  /** `createLightNode` to the first acknowledged push. */
  readonly firstPush: number
  /** The same where the network has to be learnt from the node. */
  readonly firstPushLearning: number
  /** `createLightNode` to the first page. */
  readonly firstPage: number
  readonly warmPush: number
  readonly nextPage: number
}

/** Measures all of it a number of times; medians. */
export async function measure(address: string, sendAhead: boolean, rounds: number): Promise<Times> {
  const rows: Times[] = []
  for (let round = 0; round < rounds; round++) {
    rows.push(await measureOnce(address, sendAhead))
  }
  const middle = (name: keyof Times): number => median(rows.map((row) => row[name]))
  return {
    firstPush: middle('firstPush'),
    firstPushLearning: middle('firstPushLearning'),
    firstPage: middle('firstPage'),
    warmPush: middle('warmPush'),
    nextPage: middle('nextPage')
  }
}

/** One cold start that pushes, and nothing else. */
export async function startAndPush(address: string, sendAhead: boolean): Promise<void> {
  const node = await create(address, sendAhead)
  await push(new LightPushClient(node))
  await node.close()
}

async function measureOnce(address: string, sendAhead: boolean): Promise<Times> {
  const [firstPush, pushing] = await timed(async () => {
    const node = await create(address, sendAhead)
    await push(new LightPushClient(node))
    return node
  })
  const warmPushes: number[] = []
  for (let count = 0; count < 5; count++) {
    warmPushes.push((await timed(() => push(new LightPushClient(pushing))))[0])
  }
  await pushing.close()

  const [firstPage, paging] = await timed(async () => {
    const node = await create(address, sendAhead)
    const pages = new StoreClient(node).queryPages(
      { contentTopics: [CONTENT_TOPIC] },
      { pageLimit: PAGE_LIMIT }
    )
    await pages.next()
    return { node, pages }
  })
  const nextPages: number[] = []
  for (let count = 0; count < 5; count++) {
    nextPages.push((await timed(() => paging.pages.next()))[0])
  }
  await paging.node.close()

  const [firstPushLearning, learning] = await timed(async () => {
    const node = await createLightNode({ serviceNodes: [address], sendAhead })
    await push(new LightPushClient(node))
    return node
  })
  await learning.close()
  return {
    firstPush,
    firstPushLearning,
    firstPage,
    warmPush: median(warmPushes),
    nextPage: median(nextPages)
  }
}

async function create(address: string, sendAhead: boolean): Promise<LightNode> {
  return await createLightNode({
    serviceNodes: [address],
    clusterId: CLUSTER_ID,
    shardCount: SHARD_COUNT,
    sendAhead
  })
}

/** One push that has to be acknowledged. */
export async function push(client: LightPushClient): Promise<void> {
  const payload = crypto.getRandomValues(new Uint8Array(100))
  const { status, attempts } = await client.push({ contentTopic: CONTENT_TOPIC, payload })
  if (status !== 'published') {
    throw new Error(
      `push ended as ${status}: ${attempts.map(({ error }) => String(error)).join('; ')}`
    )
  }
}

async function timed<T>(run: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now()
  const result = await run()
  return [performance.now() - start, result]
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
