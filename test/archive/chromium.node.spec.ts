import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type * as archives from 'waku-light/archive'
import { Chromium } from './chromium.ts'
import type { history } from './messages.ts'

/** What the pages have; see test/archive/chromium.ts. */
declare const wakuLight: typeof archives & { readonly history: typeof history }
declare global {
  var archive: archives.Archive
  var told: number
  var lost: string | undefined
}

/** What only a real browser with a disk has: tabs, workers, a quota, settings, crashes. */
describe('createIndexedDbArchive, in a real Chromium', function () {
  this.timeout(60_000)
  const browser = new Chromium()

  before(async function () {
    this.timeout(300_000)
    if (!(await browser.open())) this.skip()
  })

  after(async () => {
    await browser.close()
  })

  /** A tab with an open archive that counts what it is told. */
  async function open(name: string, origin?: string): Promise<Page> {
    const page = await browser.tab(origin)
    await page.evaluate(async (database) => {
      globalThis.told = 0
      globalThis.lost = undefined
      globalThis.archive = await wakuLight.createIndexedDbArchive(database, {
        onLost: ({ reason }) => {
          globalThis.lost = reason
        }
      })
      globalThis.archive.subscribe((messages) => {
        globalThis.told += messages.length
      })
    }, name)
    return page
  }

  it('is shared by two tabs and a worker, and each is told of everything once', async () => {
    const [first, second] = [await open('shared'), await open('shared')]
    const put = async (from: number): Promise<number> => {
      const added = await archive.putMany(wakuLight.history(150).slice(from, from + 100))
      return added.length
    }
    const counts = await Promise.all([first.evaluate(put, 0), second.evaluate(put, 50)])
    expect(counts[0] + counts[1]).to.equal(150)
    const added = await first.evaluate(async () => {
      const code = `importScripts('${location.origin}/archive.js')
        onmessage = async () => {
          const archive = await wakuLight.createIndexedDbArchive('shared')
          const added = await archive.putMany(wakuLight.history(180))
          await archive.close()
          postMessage(added.length)
        }`
      const worker = new Worker(URL.createObjectURL(new Blob([code])))
      worker.postMessage('go')
      const answer = await new Promise<unknown>((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = ({ message }) => reject(new Error(message))
      })
      worker.terminate()
      return answer
    })
    expect(added).to.equal(30)
    for (const page of [first, second]) {
      await page.waitForFunction(() => globalThis.told >= 180)
      expect(await page.evaluate(() => globalThis.told)).to.equal(180)
      expect(await page.evaluate(() => archive.count())).to.equal(180)
    }
  })

  it('says that its disk is full, and has everything that it stored before', async () => {
    const origin = 'http://full.localhost'
    await browser.setQuota(await browser.tab(), origin, 8 * 2 ** 20)
    const page = await open('full', origin)
    const result = await page.evaluate(async () => {
      let stored = 0
      const random = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
        crypto.getRandomValues(bytes)
      for (let index = 0; index < 2_000; index++) {
        const [message] = wakuLight.history(1, BigInt(index))
        const payload = random(new Uint8Array(50_000))
        const large = { ...message, payload, messageHash: random(new Uint8Array(32)) }
        try {
          await archive.putMany([large as never], { marks: { stored: stored + 1 } })
          stored++
        } catch (error) {
          const { code } = error as { code: string }
          return {
            stored,
            code,
            count: await archive.count(),
            mark: await archive.getMark('stored')
          }
        }
      }
      return undefined
    })
    expect(result?.code).to.equal('ERR_STORAGE_FULL')
    expect(result?.stored).to.be.greaterThan(10)
    expect(result).to.include({ count: result?.stored, mark: result?.stored })
  })

  it('has, after a crash, the messages of its mark and no half of a put', async () => {
    const page = await open('crash')
    await page.evaluate(() => {
      const run = async (): Promise<void> => {
        const messages = wakuLight.history(5_000)
        for (let end = 50; end <= messages.length; end += 50) {
          await archive.putMany(messages.slice(end - 50, end), { marks: { end } })
          globalThis.told = end
        }
      }
      run().catch(() => {})
    })
    await page.waitForFunction(() => globalThis.told >= 200)
    await browser.crash(page)
    const again = await open('crash')
    const [count, mark] = await again.evaluate(async () => [
      await archive.count(),
      await archive.getMark('end')
    ])
    expect(count).to.equal(mark)
    expect(count).to.be.at.least(200)
  })

  // Last: it takes everything away.
  it('notices that a person cleared the data of the site', async () => {
    const page = await open('cleared')
    await page.evaluate(() => archive.putMany(wakuLight.history(10)))
    await browser.clearSiteData(page)
    await page.waitForFunction(() => globalThis.lost !== undefined)
    const error = await page.evaluate(async () => {
      try {
        await archive.count()
        return undefined
      } catch (error) {
        const { code, reason } = error as { code: string; reason: string }
        return { code, reason }
      }
    })
    expect(error).to.deep.equal({ code: 'ERR_STORAGE', reason: 'lost' })
    const again = await open('cleared')
    expect(await again.evaluate(() => archive.count())).to.equal(0)
  })
})
