// How many round trips things take: a proxy with a fixed delay stands between client and node, and time is divided by it.
// The websocket's upgrade counts, the TCP connection before it does not. Draws one cold start into docs/cold-start.svg.
// ROUND_TRIP_MS and ROUNDS change how long it takes; BROWSER=0 leaves Chromium out.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import { type DelayingProxy, startDelayingProxy } from './lib/proxy.ts'
import { keepResults, printTable, type Row } from './lib/results.ts'
import {
  CLUSTER_ID,
  MESSAGE_COUNT,
  measure,
  push,
  SHARD_COUNT,
  startAndPush,
  type Times
} from './lib/round-trips.ts'
import { drawWaterfall, type Start } from './lib/waterfall.ts'

const ROUND_TRIP_MS = Number(process.env.ROUND_TRIP_MS ?? 100)
const ROUNDS = Number(process.env.ROUNDS ?? 3)

/** What leaves the client at each turn. */
const STEPS_AHEAD = [
  'websocket upgrade',
  'noise: negotiation and first message',
  'noise: last message; muxer; metadata; push'
]
const STEPS_PLAIN = [
  'websocket upgrade',
  'noise?',
  'noise: first message',
  'noise: last message; muxer?',
  'metadata? identify?',
  'metadata',
  'light push?',
  'push'
]

const inLib = (name: string): string => fileURLToPath(new URL(`lib/${name}`, import.meta.url))
const child = fork(inLib('service-node.ts'), { execArgv: [] })
try {
  const [direct] = (await once(child, 'message')) as [string]
  await fill(direct)
  const port = Number(/\/tcp\/(\d+)/.exec(direct)?.[1])
  const proxy = await startDelayingProxy(port, ROUND_TRIP_MS / 2)
  const address = direct.replace(`/tcp/${port}/`, `/tcp/${proxy.port}/`)
  await startAndPush(address, true) // loads what is loaded once
  const rows = toRows('Node', [
    await measure(address, true, ROUNDS),
    await measure(address, false, ROUNDS)
  ])
  let chromium: string | undefined
  if (process.env.BROWSER !== '0') {
    const measured = await measureInChromium(address)
    rows.push(...toRows('Chromium', measured.times))
    chromium = measured.version
  }
  printTable(rows)
  keepResults('round-trips', { roundTripMs: ROUND_TRIP_MS, rounds: ROUNDS }, rows, { chromium })
  await draw(proxy, address)
  await proxy.close()
} finally {
  child.kill()
}

async function fill(address: string): Promise<void> {
  const network = { clusterId: CLUSTER_ID, shardCount: SHARD_COUNT }
  const node = await createLightNode({ serviceNodes: [address], ...network })
  const client = new LightPushClient(node)
  for (let count = 0; count < MESSAGE_COUNT; count++) {
    await push(client)
  }
  await node.close()
}

async function measureInChromium(
  address: string
): Promise<{ times: [Times, Times]; version: string }> {
  const finder = new URL('../scripts/find-browser.js', import.meta.url).href
  const { findChromium, CHROMIUM_FLAGS } = (await import(finder)) as {
    findChromium: () => string
    CHROMIUM_FLAGS: string[]
  }
  const { outputFiles } = await build({
    entryPoints: [inLib('round-trips.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'roundTrips',
    logLevel: 'error'
  })
  // a page of loopback may use WebCrypto and ws
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>round trips</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const browser = await chromium.launch({ executablePath: findChromium(), args: CHROMIUM_FLAGS })
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
    const times = await page.evaluate<[Times, Times]>(
      `(async () => {
        await roundTrips.startAndPush(${JSON.stringify(address)}, true)
        return [
          await roundTrips.measure(${JSON.stringify(address)}, true, ${ROUNDS}),
          await roundTrips.measure(${JSON.stringify(address)}, false, ${ROUNDS})
        ]
      })()`
    )
    return { times, version: browser.version() }
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
}

/** In round trips. */
function toRows(platform: string, measured: readonly [Times, Times]): Row[] {
  return measured.map((times, index) => ({
    platform,
    negotiation: index === 0 ? 'sent ahead' : 'plain',
    ...Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, ms / ROUND_TRIP_MS]))
  }))
}

async function draw(proxy: DelayingProxy, address: string): Promise<void> {
  const starts: Start[] = []
  for (const sendAhead of [true, false]) {
    proxy.takePassages()
    const startMs = performance.now()
    const node = await createLightNode({
      serviceNodes: [address],
      clusterId: CLUSTER_ID,
      shardCount: SHARD_COUNT,
      sendAhead
    })
    await push(new LightPushClient(node))
    const endMs = performance.now()
    const passages = proxy.takePassages()
    await node.close()
    starts.push({
      title: sendAhead ? 'Negotiation sent ahead' : 'The plain way (sendAhead: false)',
      startMs,
      endMs,
      passages,
      steps: sendAhead ? STEPS_AHEAD : STEPS_PLAIN
    })
  }
  const target = fileURLToPath(new URL('../docs/cold-start.svg', import.meta.url))
  writeFileSync(target, drawWaterfall(starts, ROUND_TRIP_MS))
  console.log('docs/cold-start.svg shows one cold start each')
}
