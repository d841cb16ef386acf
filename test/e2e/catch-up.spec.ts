import { expect } from 'chai'
import type { BrowserContext, Page } from 'playwright-core'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import { Stage } from './stage.ts'
import { until } from './until.ts'

describe('the example page, catching up', function () {
  this.timeout(30_000)

  const stage = new Stage()
  let person: BrowserContext

  before(async () => {
    await stage.open()
  })

  after(async () => {
    await stage.close()
  })

  beforeEach(async () => {
    person = await stage.newPerson()
  })

  afterEach(async () => {
    await person.close()
  })

  /** Says something as somebody else, at the other service node; the page's has it then. */
  async function say(room: string, texts: readonly string[]): Promise<void> {
    const before = stage.node('second').messageCount()
    const node = await createLightNode({ serviceNodes: [stage.address('first')] })
    try {
      const lightPush = new LightPushClient(node)
      for (const text of texts) {
        const payload = new TextEncoder().encode(JSON.stringify({ nick: 'Ada', text }))
        const contentTopic = `/waku-light-chat/1/${room}/json`
        const { status } = await lightPush.push({ contentTopic, payload })
        expect(status).to.equal('published')
      }
    } finally {
      await node.close()
    }
    await until('the messages are relayed', () => {
      return stage.node('second').messageCount() === before + texts.length
    })
  }

  const line = (page: Page) => page.locator('#catch-up-text')
  const texts = (page: Page) => page.locator('.bubble p').allInnerTexts()
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `message ${from + index}`)

  /** Opens a room, waits for what the line says, and gives the page. */
  async function open(
    room: string,
    said: RegExp,
    more: Record<string, string> = {}
  ): Promise<Page> {
    const page = await stage.newPage(person)
    await page.goto(stage.urlFor({ nick: 'Grace', room, node: 'second', ...more }))
    await line(page).getByText(said).waitFor()
    return page
  }

  it('says so when there is nothing new, and reads along', async () => {
    const page = await open('quiet', /^Nothing new since /)
    await say('quiet', ['hello'])
    await page.locator('.bubble p').getByText('hello').waitFor()
    expect(await line(page).innerText()).to.match(/^Nothing new since /)
    expect(await page.locator('#announcer').textContent()).to.equal('Ada: hello')
    await page.close()
    const again = await open('quiet', /^Nothing new since /)
    expect(await texts(again)).to.deep.equal(['hello'])
  })

  it('has what was said while it was closed, once and in order', async () => {
    await say('missed', numbered(1, 3))
    const before = await open('missed', /^Caught up: 3 messages since /)
    await before.close()
    await say('missed', numbered(4, 130))
    const after = await open('missed', /^Caught up: 127 messages since \d/)
    expect(await texts(after)).to.deep.equal(numbered(1, 130))
    expect(await after.locator('#announcer').textContent()).to.equal('')
  })

  it('asks by itself for what is further back than the window', async () => {
    const hours = '0.000001'
    await say('away', ['hello'])
    const before = await open('away', /since /, { hours })
    await before.locator('.bubble p').getByText('hello').waitFor()
    await before.close()
    await say('away', numbered(1, 120))
    const page = await open('away', /^Caught up: 120 messages since \d/, { hours })
    expect(await texts(page)).to.deep.equal(['hello', ...numbered(1, 120)])
    await say('away', ['welcome back'])
    await page.locator('.bubble p').getByText('welcome back').waitFor()
  })

  it('shows what it has before there is any connection, and catches up once there is one', async () => {
    await say('kept', numbered(1, 4))
    await (await open('kept', /^Caught up: 4 messages since /)).close()
    await say('kept', numbered(5, 6))
    await stage.node('second').close()
    const page = await open('kept', /^Not caught up yet: the service node cannot be reached/)
    expect(await texts(page)).to.deep.equal(numbered(1, 4))
    await stage.restart('second', 'first')
    // at the latest by hand: the pauses between its own tries grow
    await page
      .getByRole('button', { name: 'Try now' })
      .click({ timeout: 5_000 })
      .catch(() => undefined)
    await line(page)
      .getByText(/^Caught up: \d messages? since /)
      .waitFor()
    expect((await texts(page)).slice(0, 5)).to.deep.equal(numbered(1, 5))
  })

  it('catches up in one tab for all, and the next one takes over', async () => {
    const first = await open('tabs', /^Nothing new since /)
    const second = await open('tabs', /^Another tab keeps this room up to date/)
    await say('tabs', ['one'])
    for (const page of [first, second]) {
      await page.locator('.bubble p').getByText('one').waitFor()
    }
    await first.close()
    await line(second)
      .getByText(/^Nothing new since /)
      .waitFor()
    await say('tabs', ['two'])
    await second.locator('.bubble p').getByText('two').waitFor()
    expect(await texts(second)).to.deep.equal(['one', 'two'])
  })

  it('does not count what one has said oneself', async () => {
    const before = await open('own', /^Nothing new since /)
    await before.getByLabel('Message', { exact: true }).fill('mine')
    await before.keyboard.press('Enter')
    await before.getByText('Published').waitFor()
    await before.close()
    const after = await open('own', /^Nothing new since /)
    await after.locator('.message.own p').getByText('mine').waitFor()
    expect(await texts(after)).to.deep.equal(['mine'])
  })

  it('works without a database, and says that it keeps nothing', async () => {
    await person.addInitScript(() => {
      Object.defineProperty(globalThis, 'indexedDB', { value: undefined })
    })
    await say('private', ['one'])
    const page = await open('private', /^Caught up: 1 message since /)
    await page.getByText('Messages are not kept on this device').waitFor()
    await say('private', ['two'])
    await page.locator('.bubble p').getByText('two').waitFor()
    expect(await texts(page)).to.deep.equal(['one', 'two'])
  })

  it('leaves nothing uncaught', () => {
    expect(stage.pageErrors).to.deep.equal([])
  })
})
