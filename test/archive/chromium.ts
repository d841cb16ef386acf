import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core'

/** Nothing is served there but what {@link Chromium} answers itself. */
const ORIGIN = 'http://localhost'

/** A Chromium with a disk of its own, whose tabs and workers have the sources as `globalThis.wakuLight`. */
export class Chromium {
  #folder = ''
  #context: BrowserContext | undefined
  #script = ''

  /** False if there is no Chromium on this machine. */
  async open(): Promise<boolean> {
    const finder = new URL('../../scripts/find-browser.js', import.meta.url).href
    const { findChromium, CHROMIUM_FLAGS } = (await import(finder)) as {
      findChromium: () => string
      CHROMIUM_FLAGS: readonly string[]
    }
    let executablePath: string
    try {
      executablePath = findChromium()
    } catch {
      return false
    }
    this.#script = await bundle()
    this.#folder = await mkdtemp(join(tmpdir(), 'waku-light-archive-'))
    // Persistent: a context without a folder keeps its databases in memory.
    this.#context = await chromium.launchPersistentContext(this.#folder, {
      executablePath,
      args: [...CHROMIUM_FLAGS]
    })
    await this.#context.route(/^http:..(\w+\.)?localhost./, (route) => {
      const isScript = route.request().url().endsWith('.js')
      const contentType = isScript ? 'text/javascript' : 'text/html'
      const body = isScript ? this.#script : '<!doctype html><script src="/archive.js"></script>'
      return route.fulfill({ contentType, body })
    })
    return true
  }

  async tab(origin = ORIGIN): Promise<Page> {
    if (this.#context === undefined) {
      throw new Error('the browser is not open')
    }
    const page = await this.#context.newPage()
    await page.goto(`${origin}/`)
    return page
  }

  /** The protocol by which developer tools do what pages cannot. */
  async #tools(page: Page): Promise<CDPSession> {
    if (this.#context === undefined) {
      throw new Error('the browser is not open')
    }
    return await this.#context.newCDPSession(page)
  }

  /** Ends the renderer of a page in the midst of what it does. */
  async crash(page: Page): Promise<void> {
    const crashed = page.waitForEvent('crash')
    await Promise.all([crashed, page.goto('chrome://crash').catch(() => undefined)])
  }

  /** Gives an origin so much room. Browsers look at that now and then only, so it is done before anything is stored. */
  async setQuota(page: Page, origin: string, quotaSize: number): Promise<void> {
    const tools = await this.#tools(page)
    await tools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize })
  }

  /** What a person does in the settings. */
  async clearSiteData(page: Page): Promise<void> {
    const tools = await this.#tools(page)
    await tools.send('Storage.clearDataForOrigin', { origin: ORIGIN, storageTypes: 'all' })
  }

  async close(): Promise<void> {
    await this.#context?.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        export * from 'waku-light/archive'
        export { history } from './messages.ts'`,
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
