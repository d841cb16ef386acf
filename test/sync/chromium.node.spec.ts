import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { build } from 'esbuild'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type * as archives from 'waku-light/archive'
import type * as messages from 'waku-light/message'
import type * as nodes from 'waku-light/node'
import type * as stores from 'waku-light/store'
import type * as syncs from 'waku-light/sync'
import { createServiceNode, type ServiceNode } from 'waku-light-service-node'

/** What the page has. */
declare const wakuLight: typeof archives &
  typeof messages &
  typeof nodes &
  typeof stores &
  typeof syncs
declare global {
  var local: archives.Archive
  var synced: syncs.Sync
  var outcomes: string[]
}

const CLUSTER = 42

/** What only a browser has: its WebSocket, IndexedDB, Web Locks among tabs. */
describe('createSync, in a real Chromium', function () {
  this.timeout(60_000)
  let browser: Browser
  let context: BrowserContext
  // a page that is answered in the browser itself may not open sockets to this machine
  let server: Server
  let origin: string
  const running: ServiceNode[] = []

  before(async function () {
    this.timeout(300_000)
    const finder = new URL('../../scripts/find-browser.js', import.meta.url).href
    const { findChromium, CHROMIUM_FLAGS } = (await import(finder)) as {
      findChromium: () => string
      CHROMIUM_FLAGS: readonly string[]
    }
    let executablePath: string
    try {
      executablePath = findChromium()
    } catch {
      return this.skip()
    }
    const script = await bundle()
    server = createServer(({ url = '' }, response) => {
      const isScript = url.endsWith('.js')
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? script : '<!doctype html><script src="/sync.js"></script>')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    browser = await chromium.launch({ executablePath, args: [...CHROMIUM_FLAGS] })
  })

  after(async () => {
    await browser?.close()
    server?.close()
  })

  beforeEach(async () => {
    context = await browser.newContext()
  })

  afterEach(async () => {
    await context.close()
    await Promise.all(running.splice(0).map((node) => node.close()))
  })

  async function serviceNode(): Promise<ServiceNode> {
    const node = await createServiceNode({ clusterId: CLUSTER, sync: true })
    running.push(node)
    return node
  }

  /** A tab with so many messages of its own that syncs with these nodes. */
  async function tab(
    serviceNodes: readonly ServiceNode[],
    own: number,
    init: Pick<syncs.SyncInit, 'automatic' | 'intervalMs'> = { automatic: false }
  ): Promise<Page> {
    const page = await context.newPage()
    await page.goto(origin)
    await page.evaluate(
      async ({ addresses, clusterId, count, options }) => {
        const node = await wakuLight.createLightNode({
          serviceNodes: addresses,
          clusterId,
          shardCount: 1
        })
        globalThis.local = await wakuLight.createIndexedDbArchive('sync')
        const pubsubTopic = `/waku/2/rs/${clusterId}/0`
        await local.putMany(
          Array.from({ length: count }, () => {
            const message = {
              payload: crypto.getRandomValues(new Uint8Array(100)),
              contentTopic: '/app/1/chat/proto',
              timestamp: BigInt(Date.now() - 600_000) * 1_000_000n
            }
            const messageHash = wakuLight.messageHash(pubsubTopic, message)
            return { ...message, pubsubTopic, messageHash }
          })
        )
        const store = new wakuLight.StoreClient(node)
        globalThis.outcomes = []
        globalThis.synced = await wakuLight.createSync(
          { node, store },
          { archive: local, ...options }
        )
        synced.onEvent(({ type, detail }) => {
          if (type === 'sync:end') {
            outcomes.push(detail.outcome)
          }
        })
      },
      {
        addresses: serviceNodes.map(
          ({ multiaddrs }) => multiaddrs.find((address) => address.includes('/ws')) ?? ''
        ),
        clusterId: CLUSTER,
        count: own,
        options: init
      }
    )
    return page
  }

  async function syncWith(page: Page, node: ServiceNode) {
    return await page.evaluate(async (peer) => {
      const { outcome, received, sent } = await synced.syncNow({ peer })
      return { outcome, received, sent, count: await local.count() }
    }, node.peerId)
  }

  it('heals two nodes that do not see each other, and another page', async () => {
    const [a, b] = [await serviceNode(), await serviceNode()]
    const page = await tab([a, b], 30)
    expect(await syncWith(page, a)).to.deep.equal({
      outcome: 'reconciled',
      received: 0,
      sent: 30,
      count: 30
    })
    const before = context
    context = await browser.newContext()
    const second = await tab([a, b], 20)
    expect(await syncWith(second, b)).to.include({ outcome: 'reconciled', sent: 20 })
    // the first page carries what it has from one to the other
    expect(await syncWith(page, b)).to.include({ outcome: 'reconciled', sent: 30, received: 20 })
    expect(await syncWith(page, a)).to.include({ outcome: 'reconciled', sent: 20, received: 0 })
    expect(await syncWith(second, a)).to.include({ outcome: 'reconciled', received: 30, count: 50 })
    for (const node of [a, b]) {
      expect(await syncWith(page, node)).to.include({ outcome: 'in-sync', count: 50 })
    }
    await before.close()
  })

  it('lets one tab at a time sync by itself', async () => {
    const node = await serviceNode()
    const options = { automatic: true, intervalMs: 50 }
    const [first, second] = [await tab([node], 3, options), await tab([node], 2, options)]
    await first.waitForFunction(() => outcomes.length > 3)
    expect(await second.evaluate(() => outcomes)).to.deep.equal([])
    await first.close()
    await second.waitForFunction(() => outcomes.length > 3)
    expect(await second.evaluate(() => local.count())).to.equal(5)
  })
})

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: ['archive', 'message', 'node', 'store', 'sync']
        .map((room) => `export * from 'waku-light/${room}'`)
        .join('\n'),
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      loader: 'ts'
    },
    tsconfig: fileURLToPath(new URL('../../tsconfig.json', import.meta.url)),
    bundle: true,
    format: 'iife',
    globalName: 'wakuLight',
    target: 'es2022',
    // tsx calls it in the functions that are sent to the page
    banner: { js: 'globalThis.__name = (value) => value' },
    write: false
  })
  return outputFiles[0]?.text ?? ''
}
