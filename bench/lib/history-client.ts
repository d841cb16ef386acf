// One way through the history of some service nodes, in a process of its own:
// `history-client.ts WALK CONTENT_TOPIC END_MS ADDRESS...`. Sends what it measured to the process that made it.
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { createMemoryArchive } from 'waku-light/archive'
import { createLightNode } from 'waku-light/node'
import { createResume, type ResumeStore } from 'waku-light/resume'
import {
  fillGaps,
  parallel,
  StoreClient,
  type StoreProgress,
  sources,
  type Walker
} from 'waku-light/store'

/** What one way cost. */
export interface Cost {
  readonly way: string
  /** Messages that came, or hashes. */
  readonly messages: number
  readonly seconds: number
  /** Bytes at the sockets, with all that is around the answers. */
  readonly receivedMB: number
  readonly sentMB: number
  readonly requests: number
  /** Memory at its peak over what it was before. */
  readonly peakMiB: number
}

const WALKERS: Readonly<Record<string, (count: number) => Walker>> = { sources, fillGaps, parallel }

const sockets = new Set<Socket>()
subscribe('net.client.socket', (message) => {
  sockets.add((message as { socket: Socket }).socket)
})

const [way = '', contentTopic = '', endMs = '', ...addresses] = process.argv.slice(2)
const criteria = { contentTopics: [contentTopic] }
const node = await createLightNode({ serviceNodes: addresses, clusterId: 66, shardCount: 8 })
const store = new StoreClient(node)
await store.last(criteria, 1) // connected, and compiled a little
let requests = 0
let peak = 0
const onProgress = ({ type }: StoreProgress): void => {
  requests += type === 'store:page' ? 1 : 0
  peak = Math.max(peak, process.memoryUsage.rss())
}

process.send?.(await measureAll())
await node.close()

async function measureAll(): Promise<Cost[]> {
  switch (way) {
    case 'page by page':
      return [await measure(way, () => walk())]
    case 'hashes':
      return [await measure(way, () => count(store.queryHashes(criteria, { onProgress })))]
    case 'resume':
      return await resumeThrice()
    default: {
      const [name = '', count] = way.split(/[()]/)
      return [await measure(way, () => walk(WALKERS[name]?.(Number(count))))]
    }
  }
}

async function walk(walker?: Walker): Promise<number> {
  return await count(store.query(criteria, { walker, onProgress }))
}

async function count(items: AsyncIterable<unknown>): Promise<number> {
  let seen = 0
  for await (const _ of items) {
    seen++
  }
  return seen
}

/** All of it into an archive in memory; then what may have healed, by hash, and in full. */
async function resumeThrice(): Promise<Cost[]> {
  const archive = createMemoryArchive()
  let nowMs = Number(endMs)
  const noting: ResumeStore = {
    follow: (given, options) => store.follow(given, options),
    queryPages: (given, options) => store.queryPages(given, { ...options, onProgress }),
    queryHashes: (given, options) => store.queryHashes(given, { ...options, onProgress }),
    lookup: (hashes, options) => store.lookup(hashes, { ...options, onProgress })
  }
  const run = async (resumeStore: ResumeStore): Promise<number> => {
    const resume = createResume(
      { archive, store: resumeStore, node },
      { ...criteria, now: () => nowMs }
    )
    const result = await resume.run()
    if (result.status !== 'done') {
      throw new Error(`resume is ${result.status}`)
    }
    nowMs += 1_000
    return result.fetched
  }
  return [
    await measure('resume into an archive in memory', () => run(noting)),
    await measure('65 minutes again, by hash', () => run(noting)),
    await measure('65 minutes again, in full', () => run({ ...noting, queryHashes: undefined }))
  ]
}

async function measure(name: string, run: () => Promise<number>): Promise<Cost> {
  globalThis.gc?.()
  const idle = process.memoryUsage.rss()
  const before = passed()
  peak = idle
  requests = 0
  const startMs = performance.now()
  const messages = await run()
  const seconds = (performance.now() - startMs) / 1_000
  const after = passed()
  return {
    way: name,
    messages,
    seconds,
    receivedMB: (after.received - before.received) / 1e6,
    sentMB: (after.sent - before.sent) / 1e6,
    requests,
    peakMiB: (peak - idle) / 2 ** 20
  }
}

function passed(): { received: number; sent: number } {
  let [received, sent] = [0, 0]
  for (const { bytesRead, bytesWritten } of sockets) {
    received += bytesRead
    sent += bytesWritten
  }
  return { received, sent }
}
