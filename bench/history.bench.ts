// What it costs to read a long history: page by page, from several nodes, into an archive, and to look again for what has healed.
// 100,000 messages of 300 bytes over an hour (MESSAGES=10000 or --messages 10000 for another number), at three service nodes
// on loopback each of which lacks one of a hundred. Each node and each way has a process of its own. Then 10,000 that 32 pushes
// at a time have put into a node, over a proxy with a fixed delay.
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import type { Cost } from './lib/history-client.ts'
import { startDelayingProxy } from './lib/proxy.ts'
import { keepResults, printTable } from './lib/results.ts'

const CONTENT_TOPIC = '/bench/1/history/bytes'
const NODES = 3

/** With how many nodes each has to do. */
const WAYS: readonly (readonly [way: string, nodes: number])[] = [
  ['page by page', 1],
  ['sources(2)', 2],
  ['fillGaps(2)', 2],
  ['sources(3)', 3],
  ['fillGaps(3)', 3],
  ['hashes', 1],
  ['resume', 1]
]

/** What is walked side by side over a long round trip. */
const FAR_WAYS = ['page by page', 'parallel(4)', 'parallel(8)', 'parallel(16)']
const ROUND_TRIP_MS = 100
const PUSHED = 10_000
const PUSHES_AT_A_TIME = 32
const PUSHED_BYTES = 200

const { values } = parseArgs({ options: { messages: { type: 'string' } }, strict: false })
const count = Number(values.messages ?? process.env['MESSAGES'] ?? 100_000)
const endMs = String(Date.now())

const FILL = fileURLToPath(import.meta.resolve('./lib/fill-gappy-archives.ts'))
const NODE = fileURLToPath(import.meta.resolve('./lib/service-node.ts'))
const CLIENT = fileURLToPath(import.meta.resolve('./lib/history-client.ts'))
const folder = mkdtempSync(join(tmpdir(), 'waku-light-history-'))
const files = Array.from({ length: NODES }, (_, index) => join(folder, `${index}.db`))
const nodes: ChildProcess[] = []
try {
  const fill = [FILL, String(count), CONTENT_TOPIC, endMs, ...files]
  execFileSync(process.execPath, ['--import=tsx', ...fill])
  const addresses: string[] = []
  for (const file of files) {
    addresses.push(await startNode(file))
  }
  const costs: Cost[] = []
  for (const [way, nodeCount] of WAYS) {
    costs.push(...(await measure(way, addresses.slice(0, nodeCount))))
  }
  const rows = costs.map((cost) => ({ ...cost }))
  printTable(rows)
  keepResults('history', { messages: count, payloadBytes: 300, pageLimit: 100, nodes: NODES }, rows)
  await measureFar()
} finally {
  for (const node of nodes) {
    node.kill()
  }
  rmSync(folder, { recursive: true, force: true })
}

/** Reads what was pushed a moment ago, from far away. */
async function measureFar(): Promise<void> {
  const direct = await startNode()
  await pushAll(direct)
  const port = Number(/\/tcp\/(\d+)/.exec(direct)?.[1])
  const proxy = await startDelayingProxy(port, ROUND_TRIP_MS / 2)
  const address = direct.replace(`/tcp/${port}/`, `/tcp/${proxy.port}/`)
  const costs: Cost[] = []
  for (const way of FAR_WAYS) {
    costs.push(...(await measure(way, [address])))
  }
  await proxy.close()
  const rows = costs.map((cost) => ({ ...cost }))
  const conditions = { roundTripMs: ROUND_TRIP_MS, pushesAtATime: PUSHES_AT_A_TIME }
  printTable(rows)
  keepResults('history-far', { ...conditions, payloadBytes: PUSHED_BYTES, pageLimit: 100 }, rows)
}

async function pushAll(address: string): Promise<void> {
  const node = await createLightNode({ serviceNodes: [address], clusterId: 66, shardCount: 8 })
  const client = new LightPushClient(node)
  let left = PUSHED
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const payload = crypto.getRandomValues(new Uint8Array(PUSHED_BYTES))
      const { status } = await client.push({ contentTopic: CONTENT_TOPIC, payload })
      if (status !== 'published') {
        throw new Error(`a push is ${status}`)
      }
    }
  }
  await Promise.all(Array.from({ length: PUSHES_AT_A_TIME }, lane))
  await node.close()
}

async function startNode(...file: string[]): Promise<string> {
  const node = fork(NODE, file, { execArgv: [] })
  nodes.push(node)
  return await answerOf<string>(node)
}

async function measure(way: string, addresses: readonly string[]): Promise<Cost[]> {
  const client = fork(CLIENT, [way, CONTENT_TOPIC, endMs, ...addresses], {
    execArgv: ['--expose-gc']
  })
  return await answerOf<Cost[]>(client)
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a process ended with ${String(code)}`)
  })
  const [answer] = (await Promise.race([once(child, 'message'), ended])) as [T]
  ended.catch(() => undefined)
  return answer
}
