import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { build } from 'esbuild'
import { type BrowserContext, chromium } from 'playwright-core'
import { PROPERTY } from '../helpers/collect.ts'
import type * as killed from './killed-page.ts'
import { type Death, OPENED_MS, type Outcome, toRandom } from './killed-page.ts'

/** What the pages have. */
declare const killedPage: typeof killed
declare const die: () => Promise<never>

const RUNS = 6 * PROPERTY.factor

/** Renderers that are killed, over databases on a disk. */
describe(`Resume.run in a page that is killed (seed ${PROPERTY.seed})`, function () {
  this.timeout(60_000 * PROPERTY.factor)
  let context: BrowserContext | undefined
  let folder = ''
  let script = ''

  before(async function () {
    this.timeout(300_000)
    const finder = new URL('../../scripts/find-browser.js', import.meta.url).href
    const { findChromium, CHROMIUM_FLAGS } = (await import(finder)) as {
      findChromium: () => string
      CHROMIUM_FLAGS: readonly string[]
    }
    let executablePath = ''
    try {
      executablePath = findChromium()
    } catch {
      this.skip()
    }
    script = await bundle()
    folder = await mkdtemp(join(tmpdir(), 'waku-light-resume-'))
    context = await chromium.launchPersistentContext(folder, {
      executablePath,
      args: [...CHROMIUM_FLAGS]
    })
    await context.route('http://localhost/**', (route) => {
      const isScript = route.request().url().endsWith('.js')
      const contentType = isScript ? 'text/javascript' : 'text/html'
      const body = isScript ? script : '<!doctype html><script src="/page.js"></script>'
      return route.fulfill({ contentType, body })
    })
  })

  after(async () => {
    await context?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Opens a page and resumes in it; undefined if it was killed. */
  async function open(
    name: string,
    seed: number,
    nowMs: number,
    death: Death | null
  ): Promise<Outcome | undefined> {
    const page = await (context as BrowserContext).newPage()
    const { promise: crashed, resolve } = Promise.withResolvers<undefined>()
    page.on('crash', () => resolve(undefined))
    await page.exposeFunction('die', async () => {
      await page.goto('chrome://crash').catch(() => undefined)
      await new Promise(() => undefined)
    })
    await page.goto('http://localhost/')
    const outcome = page.evaluate(
      async (given) =>
        await killedPage.openPage(given.name, given.seed, given.nowMs, given.death, die),
      { name, seed, nowMs, death }
    )
    const result = await Promise.race([outcome, crashed])
    outcome.catch(() => undefined)
    await page.close()
    return result
  }

  it('loses nothing and doubles nothing', async () => {
    let deaths = 0
    for (let run = 0; run < RUNS; run++) {
      const seed = PROPERTY.seed + run
      const random = toRandom(seed)
      let outcome: Outcome | undefined
      for (const nowMs of OPENED_MS) {
        const calls = 1 + Math.floor(random() * 10)
        const when = (['before', 'during', 'after'] as const)[Math.floor(random() * 3)] ?? 'during'
        deaths += (await open(`archive ${run}`, seed, nowMs, { calls, when })) === undefined ? 1 : 0
        outcome = await open(`archive ${run}`, seed, nowMs, null)
        expect(outcome, `seed ${seed}`).to.include({ status: 'done' })
      }
      expect(outcome?.held, `seed ${seed}`).to.deep.equal(outcome?.expected)
    }
    expect(deaths).to.be.above(RUNS)
  })
})

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('killed-page.ts', import.meta.url))],
    tsconfig: fileURLToPath(new URL('../../tsconfig.json', import.meta.url)),
    bundle: true,
    format: 'iife',
    globalName: 'killedPage',
    target: 'es2022',
    // tsx calls it in the functions that are sent to the page
    banner: { js: 'globalThis.__name = (value) => value' },
    write: false
  })
  return outputFiles[0]?.text ?? ''
}
