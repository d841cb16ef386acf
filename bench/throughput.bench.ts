// How many messages of 300 bytes a second are pushed and paged, and what memory paging takes, beside @waku/sdk doing the
// same at the same service node. Each client and the node have a process of their own. Rates depend on the machine; the
// ratios are what to compare.
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const COUNT = Number(process.env.COUNT ?? 10_000)
const CLUSTER_ID = 66
const SHARD_COUNT = 8

interface Rates {
  readonly pushes: number
  readonly pushesAt32: number
  readonly messages: number
  readonly peakMiB: number
  /** Pushes that failed and were made again. */
  readonly failedPushes?: number
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const ours = await measure('waku-light')
const hasSdk = existsSync(path('../test/interop/js-waku/node_modules/@waku/sdk'))
const sdk = hasSdk ? await measure('@waku/sdk') : undefined
print('pushes a second, one after another', 'pushes')
print('pushes a second, 32 at a time', 'pushesAt32')
print(`messages a second, paging ${COUNT.toLocaleString('en')}`, 'messages')
print('peak memory over idle while paging, MiB', 'peakMiB')
if (sdk?.failedPushes !== undefined) {
  console.log(`@waku/sdk: ${sdk.failedPushes} pushes failed and were made again`)
}
if (sdk === undefined) {
  console.log('@waku/sdk is not installed: npm ci in test/interop/js-waku')
}

/** A fresh node for each client, so that neither finds the other's messages. */
async function measure(client: string): Promise<Rates> {
  const node = fork(path('lib/service-node.ts'), { execArgv: ['--import=tsx'] })
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

function print(what: string, key: Exclude<keyof Rates, 'failedPushes'>): void {
  const digits = key === 'peakMiB' ? 1 : 0
  const figures =
    sdk === undefined
      ? ours[key].toFixed(digits)
      : `${ours[key].toFixed(digits)}  @waku/sdk ${sdk[key].toFixed(digits)}  ratio ${(ours[key] / sdk[key]).toFixed(1)}`
  console.log(`${what}: ${figures}`)
}
