// What it costs to read a long history: page by page, from several nodes, into an archive, and to look again for what has healed.
// 100,000 messages of 300 bytes over an hour (MESSAGES=10000 or --messages 10000 for another number), at three service nodes
// on loopback each of which lacks one of a hundred. Each node and each way has a process of its own.
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Cost } from './lib/history-client.ts'
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
    const node = fork(NODE, [file], { execArgv: ['--import=tsx'] })
    nodes.push(node)
    addresses.push(await answerOf<string>(node))
  }
  const costs: Cost[] = []
  for (const [way, nodeCount] of WAYS) {
    const args = [way, CONTENT_TOPIC, endMs, ...addresses.slice(0, nodeCount)]
    const client = fork(CLIENT, args, { execArgv: ['--expose-gc'] })
    costs.push(...(await answerOf<Cost[]>(client)))
  }
  const rows = costs.map((cost) => ({ ...cost }))
  printTable(rows)
  keepResults('history', { messages: count, payloadBytes: 300, pageLimit: 100, nodes: NODES }, rows)
} finally {
  for (const node of nodes) {
    node.kill()
  }
  rmSync(folder, { recursive: true, force: true })
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a process ended with ${String(code)}`)
  })
  const [answer] = (await Promise.race([once(child, 'message'), ended])) as [T]
  ended.catch(() => undefined)
  return answer
}
