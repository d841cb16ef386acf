// Walks through what one service node holds, in a process of its own: `growth-client.ts DATABASE_FILE COUNT CONTENT_TOPIC`. Sends
// what it measured to the process that made it.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { toPubsubTopic } from 'waku-light/message'
import { createLightNode, type LightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'
import {
  decodeStoreQueryResponse,
  encodeStoreQueryRequest,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'

/** What a walk costs for each message, in microseconds, and what else was seen. */
export interface Growth {
  /** By the clock, each message verified. */
  readonly walkUs: number
  /** Processor time of the client. */
  readonly clientCpuUs: number
  /** Processor time of the service node. */
  readonly nodeCpuUs: number
  /** By the clock, the same pages read as frames and not decoded: the node, and the way to it. */
  readonly rawUs: number
  /** The first pages alone. */
  readonly frontUs: number
  /** As many pages from the middle. */
  readonly middleUs: number
  /** The process at its peak over what it was before the walk; what is collected late counts. */
  readonly peakMiB: number
  /** Its peak in the second half of a walk over that in the first: 0 where it does not grow with the history. */
  readonly laterPeakMiB: number
  /** What is still held after the walk, and after collecting, over what was held before it. */
  readonly keptMiB: number
}

const NETWORK = { clusterId: 66, shardCount: 8 }
const PAGE_LIMIT = 100
/** So many messages at least are walked through before anything is timed, and while it is. */
const WARM_COUNT = 5_000
const TIMED_COUNT = 20_000
/** From the front, and from the middle. */
const PART_PAGES = 5

const [databaseFile = '', counted = '', contentTopic = ''] = process.argv.slice(2)
const count = Number(counted)
const child = fork(fileURLToPath(new URL('service-node.ts', import.meta.url)), [databaseFile])
try {
  const [address] = (await once(child, 'message')) as [string]
  const node = await createLightNode({ serviceNodes: [address], ...NETWORK })
  process.send?.(await measure(node))
  await node.close()
} finally {
  child.kill()
  process.disconnect?.()
}

async function measure(node: LightNode): Promise<Growth> {
  const store = new StoreClient(node)
  const middle = await middleTime(store)
  await repeated(WARM_COUNT, () => walk(store, { pages: PART_PAGES }))
  await repeated(WARM_COUNT, () => readRaw(node, PART_PAGES))

  const heldBefore = heldBytes()
  const idle = process.memoryUsage.rss()
  const peaks: [number, number] = [idle, idle]
  const nodeStart = await nodeCpuUs()
  const ownStart = process.cpuUsage()
  const walkUs = await repeated(TIMED_COUNT, () =>
    walk(store, {
      onPage: (seen) => {
        const half = seen > count / 2 ? 1 : 0
        peaks[half] = Math.max(peaks[half], process.memoryUsage.rss())
      }
    })
  )
  const own = process.cpuUsage(ownStart)
  const nodeEnd = await nodeCpuUs()
  const keptMiB = (heldBytes() - heldBefore) / 2 ** 20
  const walked = Math.max(1, Math.ceil(TIMED_COUNT / count)) * count
  return {
    walkUs,
    clientCpuUs: (own.user + own.system) / walked,
    nodeCpuUs: (nodeEnd - nodeStart) / walked,
    rawUs: await repeated(TIMED_COUNT, () => readRaw(node)),
    frontUs: await repeated(TIMED_COUNT, () => walk(store, { pages: PART_PAGES })),
    middleUs: await repeated(TIMED_COUNT, () => walk(store, { pages: PART_PAGES, middle })),
    peakMiB: (Math.max(...peaks) - idle) / 2 ** 20,
    laterPeakMiB: Math.max(0, peaks[1] - peaks[0]) / 2 ** 20,
    keptMiB
  }
}

function heldBytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Does it until so many messages went by; microseconds for each of them. */
async function repeated(atLeast: number, run: () => Promise<number>): Promise<number> {
  let seen = 0
  const startMs = performance.now()
  while (seen < atLeast) {
    seen += await run()
  }
  return ((performance.now() - startMs) * 1_000) / seen
}

/** @returns how many messages there were */
async function walk(
  store: StoreClient,
  {
    pages = Number.POSITIVE_INFINITY,
    middle = undefined as bigint | undefined,
    onPage = (_seen: number): void => undefined
  } = {}
): Promise<number> {
  let seen = 0
  let left = pages
  const criteria = { contentTopics: [contentTopic], timeStart: middle }
  for await (const { messages } of store.queryPages(criteria, { pageLimit: PAGE_LIMIT })) {
    seen += messages.length
    onPage(seen)
    if (--left === 0) break
  }
  if (pages === Number.POSITIVE_INFINITY && seen !== count) {
    throw new Error(`${seen} messages of ${count} came`)
  }
  return seen
}

async function readRaw(node: LightNode, pages = Number.POSITIVE_INFINITY): Promise<number> {
  const [peer] = node.servicePeers.candidates()
  if (peer === undefined) {
    throw new Error('there is no node')
  }
  let seen = 0
  let left = pages
  let cursor: Uint8Array<ArrayBuffer> | undefined
  do {
    const request = encodeStoreQueryRequest({
      requestId: 'raw',
      includeData: true,
      pubsubTopic: toPubsubTopic(contentTopic, NETWORK),
      contentTopics: [contentTopic],
      messageHashes: [],
      paginationForward: true,
      paginationLimit: BigInt(PAGE_LIMIT),
      paginationCursor: cursor
    })
    const { bytes } = await node.servicePeers.request(
      peer,
      {
        protocols: [STORE_QUERY_3_PROTOCOL],
        encode: () => request,
        maxResponseBytes: 4 * 2 ** 20
      },
      AbortSignal.timeout(30_000)
    )
    const response = decodeStoreQueryResponse(bytes, PAGE_LIMIT)
    if (response.statusCode !== 200) {
      throw new Error(`the node answered ${response.statusCode} ${response.statusDesc}`)
    }
    cursor = response.paginationCursor
    seen += response.messages.length
  } while (cursor !== undefined && --left > 0)
  return seen
}

/** The time half-way between the oldest message and the newest. */
async function middleTime(store: StoreClient): Promise<bigint> {
  const [newest] = await store.last({ contentTopics: [contentTopic] }, 1)
  for await (const oldest of store.query({ contentTopics: [contentTopic] })) {
    return ((oldest.timestamp ?? 0n) + (newest?.timestamp ?? 0n)) / 2n
  }
  throw new Error('the node holds nothing')
}

async function nodeCpuUs(): Promise<number> {
  child.send('usage')
  const [used] = (await once(child, 'message')) as [number]
  return used
}
