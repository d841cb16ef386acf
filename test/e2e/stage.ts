import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { build, type PreviewServer, preview } from 'vite'
import { createServiceNode, type ServiceNode } from 'waku-light-service-node'
import { until } from './until.ts'

/** Of no well-known network. */
const CLUSTER_ID = 66
const SHARD_COUNT = 8
const PAGE_TIMEOUT_MS = 10_000

/** How somebody joins a room. */
export interface Wishes extends Record<string, string> {
  readonly nick: string
  readonly room: string
  /** Name of a service node. */
  readonly node: string
}

/** The built example page, served on loopback, two service nodes that relay to each other, and a browser. */
export class Stage {
  readonly #cleanups: (() => Promise<unknown>)[] = []
  readonly #nodes = new Map<string, ServiceNode>()
  readonly #addresses = new Map<string, string>()
  /** What went wrong in any page without being caught. */
  readonly pageErrors: string[] = []
  #folder = ''
  /** Where the page is. */
  pageUrl = ''
  #browser: Browser | undefined

  async open(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'waku-light-e2e-'))
    this.#cleanups.push(() => rm(this.#folder, { recursive: true, force: true }))
    await Promise.all([this.#servePage(), this.#launch(), this.#startNodes()])
  }

  async close(): Promise<void> {
    for (const node of this.#nodes.values()) {
      await node.close()
    }
    for (const cleanup of this.#cleanups.reverse()) {
      await cleanup()
    }
  }

  /** A person's browser, with a memory of its own. */
  async newPerson(): Promise<BrowserContext> {
    if (this.#browser === undefined) {
      throw new Error('the browser was not launched')
    }
    const context = await this.#browser.newContext({ locale: 'en-GB' })
    context.setDefaultTimeout(PAGE_TIMEOUT_MS)
    return context
  }

  /** An empty page whose errors are noted. */
  async newPage(person: BrowserContext): Promise<Page> {
    const page = await person.newPage()
    page.on('pageerror', (error) => this.pageErrors.push(error.message))
    return page
  }

  /** Joins a room and waits until that is done. */
  async join(person: BrowserContext, wishes: Wishes): Promise<Page> {
    const page = await this.newPage(person)
    await page.goto(this.urlFor(wishes))
    await page.getByText('Connected').waitFor()
    return page
  }

  /** The address with which a page joins a room by itself. */
  urlFor(wishes: Wishes): string {
    const query = new URLSearchParams({ ...wishes, node: this.address(wishes.node) })
    return `${this.pageUrl}?${query.toString()}`
  }

  node(name: string): ServiceNode {
    const node = this.#nodes.get(name)
    if (node === undefined) {
      throw new Error(`there is no service node ${name}`)
    }
    return node
  }

  /** Where the node is, or was before it was closed. */
  address(name: string): string {
    const address = this.#addresses.get(name)
    if (address === undefined) {
      throw new Error(`service node ${name} has no websocket address`)
    }
    return address
  }

  /** The same node again after {@link ServiceNode.close}: its key, its port, its archive. */
  async restart(name: string, peer: string): Promise<void> {
    const port = Number(/\/tcp\/(\d+)\/ws/.exec(this.address(name))?.[1])
    await this.#start(name, port, peer)
    await this.#awaitRelay()
  }

  async #start(name: string, port: number, peer?: string): Promise<void> {
    const node = await createServiceNode({
      clusterId: CLUSTER_ID,
      shardCount: SHARD_COUNT,
      listen: [`/ip4/127.0.0.1/tcp/${port}/ws`],
      keyFile: join(this.#folder, `${name}.key`),
      databaseFile: join(this.#folder, `${name}.sqlite`),
      peers: peer === undefined ? [] : this.node(peer).multiaddrs
    })
    this.#nodes.set(name, node)
    this.#addresses.set(name, node.multiaddrs.find((address) => address.includes('/ws/')) ?? '')
  }

  async #startNodes(): Promise<void> {
    await this.#start('first', 0)
    await this.#start('second', 0, 'first')
    await this.#awaitRelay()
  }

  async #awaitRelay(): Promise<void> {
    const nodes = [...this.#nodes.values()]
    await until('the service nodes relay to each other', () =>
      nodes.every((node) => node.pubsubTopics.every((topic) => node.relayPeerCount(topic) > 0))
    )
  }

  async #servePage(): Promise<void> {
    const config = {
      root: 'examples/chat',
      configFile: false,
      envDir: false,
      logLevel: 'error',
      build: { outDir: join(this.#folder, 'page') },
      preview: { host: '127.0.0.1', port: 0 }
    } as const
    await build(config)
    const server: PreviewServer = await preview(config)
    this.#cleanups.push(() => server.close())
    const address = server.httpServer.address()
    if (address === null || typeof address === 'string') {
      throw new Error('the page is not served')
    }
    this.pageUrl = `http://127.0.0.1:${address.port}/`
  }

  async #launch(): Promise<void> {
    const browser = await chromium.launch({
      executablePath: process.env.CHROME_BIN,
      args: process.env.CHROMIUM_FLAGS?.split(' ')
    })
    this.#browser = browser
    this.#cleanups.push(() => browser.close())
  }
}
