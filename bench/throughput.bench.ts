// How many messages of 300 bytes a second are pushed and paged, and what memory paging takes, beside @waku/sdk doing the
// same at the same service node. Each client and the node have a process of their own. Rates depend on the machine; the
// ratios are what to compare.
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { keepResults, packageVersion, printTable, type Row } from './lib/results.ts'

const COUNT = Number(process.env.COUNT ?? 10_000)
const CLUSTER_ID = 66
const SHARD_COUNT = 8
const SDK = 'test/interop/js-waku/node_modules/@waku/sdk'

interface Rates {
  readonly pushes: number
  readonly pushesAt32: number
  /** Processor time of the client, with 32 at a time. */
  readonly pushCpuUs: number
  /** The way that is the default. */
  readonly messages: number
  readonly messageCpuUs: number
  readonly messagesAtBest: number
  readonly messageCpuAtBestUs: number
  readonly peakMiB: number
  /** Pushes that failed and were made again. */
  readonly failedPushes?: number
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const sdkVersion = packageVersion(`${SDK}/package.json`)
const rows: Row[] = []
for (const client of sdkVersion === undefined ? ['waku-light'] : ['waku-light', '@waku/sdk']) {
  rows.push({ client, ...(await measure(client)) })
}
printTable(rows)
if (sdkVersion === undefined) {
  console.log('@waku/sdk is not installed: npm ci in test/interop/js-waku')
}
keepResults('throughput', { count: COUNT, payloadBytes: 300 }, rows, { '@waku/sdk': sdkVersion })

/** A fresh node for each client, so that neither finds the other's messages. */
async function measure(client: string): Promise<Rates> {
  const node = fork(path('lib/service-node.ts'), { execArgv: [] })
  try {
    const [address] = (await once(node, 'message')) as [string]
    const args = ['--expose-gc', path('lib/throughput-client.js'), client, address]
    const counts = [CLUSTER_ID, SHARD_COUNT, COUNT].map(String)
    const output = execFileSync(process.execPath, [...args, ...counts], { encoding: 'utf8' })
    return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Rates
  } finally {
    node.kill()
  }
}
