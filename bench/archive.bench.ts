// What an archive takes and gives in a second, in Chromium, on a real disk: 100,000 messages of 300 bytes. The page runs this
// same file, bundled.
import { type Archive, createIndexedDbArchive, createMemoryArchive } from 'waku-light/archive'
import type { StoredMessage } from 'waku-light/store'
import type { Row } from './lib/results.ts'

const PAYLOAD_BYTES = 300
const SPACING_NS = 100_000_000n
const START = 1_700_000_000_000_000_000n

/** What the page leaves for the script that opened it. */
interface Page {
  readonly document?: unknown
  run?: (count: number) => Promise<readonly Row[]>
}

const rows: Row[] = []
let kind = ''

const page = globalThis as unknown as Page
if (page.document === undefined) {
  await inChromium(Number(process.env['COUNT'] ?? 100_000))
} else {
  page.run = inPage
}

async function inPage(count: number): Promise<readonly Row[]> {
  const messages = Array.from({ length: count }, (_, index) => createMessage(index))
  const archives: [string, () => Promise<Archive>][] = [
    ['memory', async () => createMemoryArchive()],
    ['IndexedDB', () => createIndexedDbArchive(`bench-${Math.random()}`)]
  ]
  for (const [name, create] of archives) {
    kind = name
    const bulk = await create()
    for (const size of [100, 1_000]) {
      const archive = size === 1_000 ? bulk : await create()
      await timed(`put, ${size} at a time, one after another`, count, async () => {
        for (let index = 0; index < count; index += size) {
          await archive.putMany(messages.slice(index, index + size))
        }
      })
      await archive.prune({ maxCount: size === 1_000 ? count : 0 })
    }
    const live = await create()
    const some = Math.min(count, 10_000)
    await timed('put, 1 at a time, 100 under way', some, async () => {
      let next = 0
      const worker = async (): Promise<void> => {
        while (next < some) {
          await live.putMany([messages[next++] as StoredMessage])
        }
      }
      await Promise.all(Array.from({ length: 100 }, worker))
    })
    await timed('walk those', some, () => drain(live.walk()))
    const few = Math.min(count, 1_000)
    const single = await create()
    await timed('put, 1 at a time, one after another', few, async () => {
      for (const message of messages.slice(0, few)) {
        await single.putMany([message])
      }
    })
    await timed('put what is there, 100 at a time', some, async () => {
      for (let index = 0; index < some; index += 100) {
        await bulk.putMany(messages.slice(index, index + 100))
      }
    })
    await timed('walk', count, () => drain(bulk.walk()))
    await timed('walk backward', count, () => drain(bulk.walk({ direction: 'backward' })))
    await timed('walk keys', count, () => drain(bulk.walkKeys()))
    await timed('screens of 20, newest first', 100, async () => {
      let after: StoredMessage | undefined
      for (let screen = 0; screen < 100; screen++) {
        let left = 20
        for await (const message of bulk.walk({ direction: 'backward', after })) {
          after = message
          if (--left === 0) break
        }
      }
    })
    const hashes = messages.slice(0, some).map(({ messageHash }) => messageHash)
    await timed('has, 100 at a time', some, async () => {
      for (let index = 0; index < some; index += 100) {
        await bulk.has(hashes.slice(index, index + 100))
      }
    })
    await timed('count', 1, () => bulk.count())
    await timed('prune half', count / 2, () => bulk.prune({ maxCount: count / 2 }))
  }
  return rows
}

function createMessage(index: number): StoredMessage {
  return {
    messageHash: crypto.getRandomValues(new Uint8Array(32)),
    pubsubTopic: '/waku/2/rs/66/1',
    contentTopic: `/bench/1/topic-${index % 5}/proto`,
    timestamp: START + BigInt(index) * SPACING_NS,
    payload: crypto.getRandomValues(new Uint8Array(PAYLOAD_BYTES)),
    version: 0
  }
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) {
    // Nothing is kept.
  }
}

async function timed(what: string, count: number, run: () => Promise<unknown>): Promise<void> {
  const idle = heapBytes()
  let peak = idle
  const timer = setInterval(() => {
    peak = Math.max(peak, heapBytes())
  }, 20)
  const start = performance.now()
  await run()
  const ms = performance.now() - start
  clearInterval(timer)
  peak = Math.max(peak, heapBytes())
  const perSecond = ms > 0 ? (count / ms) * 1_000 : undefined // a page's clock is coarse
  rows.push({ archive: kind, what, count, ms, perSecond, heapMiB: (peak - idle) / 2 ** 20 })
}

function heapBytes(): number {
  return (performance as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize ?? 0
}

async function inChromium(count: number): Promise<void> {
  const { mkdtemp, rm } = await import('node:fs/promises')
  const { tmpdir } = await import('node:os')
  const { join } = await import('node:path')
  const { fileURLToPath } = await import('node:url')
  const { build } = await import('esbuild')
  const { chromium } = await import('playwright-core')
  const { keepResults, printTable } = await import('./lib/results.ts')
  const finder = new URL('../scripts/find-browser.js', import.meta.url).href
  const { findChromium, CHROMIUM_FLAGS } = (await import(finder)) as {
    findChromium: () => string
    CHROMIUM_FLAGS: readonly string[]
  }
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(import.meta.url)],
    tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)),
    external: ['node:*', 'esbuild', 'playwright-core', './lib/results.ts'],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false
  })
  const folder = await mkdtemp(join(tmpdir(), 'waku-light-bench-'))
  // Persistent: a context without a folder keeps its databases in memory.
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: findChromium(),
    args: [...CHROMIUM_FLAGS, '--enable-precise-memory-info']
  })
  try {
    const tab = await context.newPage()
    tab.on('console', (line) => console.log(line.text()))
    await tab.route('http://localhost/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html>' })
    )
    await tab.goto('http://localhost/')
    await tab.addScriptTag({ type: 'module', content: outputFiles[0]?.text ?? '' })
    await tab.waitForFunction(() => 'run' in globalThis)
    const measured = await tab.evaluate(
      (total) => (globalThis as unknown as Page).run?.(total) ?? [],
      count
    )
    printTable(measured)
    keepResults('archive', { payloadBytes: PAYLOAD_BYTES }, measured, {
      chromium: context.browser()?.version()
    })
  } finally {
    await context.close()
    await rm(folder, { recursive: true, force: true })
  }
}
