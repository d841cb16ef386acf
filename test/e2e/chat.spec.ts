import { expect } from 'chai'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import { Stage } from './stage.ts'

const ROOM = 'tea room'
const CONTENT_TOPIC = '/waku-light-chat/1/tea%20room/json'
/** More than two of the page's own pages. */
const MISSED = Array.from({ length: 45 }, (_, index) => `missed ${index + 1}`)

describe('the example page', function () {
  this.timeout(30_000)

  const stage = new Stage()
  let adasBrowser: BrowserContext
  let gracesBrowser: BrowserContext
  let ada: Page
  let grace: Page

  before(async () => {
    await stage.open()
    adasBrowser = await stage.newPerson()
    gracesBrowser = await stage.newPerson()
  })

  after(async () => {
    await stage.close()
  })

  it('says what is wrong with an address and lets it be corrected', async () => {
    ada = await stage.newPage(adasBrowser)
    await ada.goto(stage.pageUrl)
    await ada.getByLabel('Your name').fill('Ada')
    await ada.getByLabel('Room').fill(ROOM)
    const nodes = ada.getByLabel('Service nodes')
    await nodes.fill('/ip4/127.0.0.1/tcp/9')
    await ada.keyboard.press('Tab')
    await ada.keyboard.press('Enter')
    await ada.getByRole('alert').getByText('is not a websocket address').waitFor()
    await nodes.fill(stage.address('first'))
    await ada.getByRole('button', { name: 'Join' }).click()
    await ada.getByText('Nothing here yet.').waitFor()
    await ada.getByText('Connected').waitFor()
  })

  it('lets two people chat through two service nodes', async () => {
    grace = await stage.join(gracesBrowser, { nick: 'Grace', room: ROOM, node: 'second' })
    await say(ada, 'Hello!')
    await bubble(grace, 'Hello!').waitFor()
    await say(grace, 'Hello, Ada.')
    await bubble(ada, 'Hello, Ada.').waitFor()
    expect(await ada.locator('.message.own').allInnerTexts()).to.have.length(1)
    expect(await ada.locator('.nick').allInnerTexts()).to.deep.equal(['Grace'])
  })

  it('shows what became of a message', async () => {
    await message(ada, 'Hello!').getByText('Published to 1 peer').waitFor()
    await message(ada, 'Hello!').getByText('stored').waitFor()
  })

  it('shows foreign payloads and markup for what they are', async () => {
    const node = await createLightNode({ serviceNodes: [stage.address('first')] })
    try {
      const lightPush = new LightPushClient(node)
      const markup = JSON.stringify({ nick: '<b>Eve</b>', text: '<img src=x onerror=alert(1)>' })
      for (const payload of [new Uint8Array([0xff, 0, 1]), new TextEncoder().encode(markup)]) {
        const { status } = await lightPush.push({ contentTopic: CONTENT_TOPIC, payload })
        expect(status).to.equal('published')
      }
    } finally {
      await node.close()
    }
    await grace.getByText('A message in another format (3 bytes)').waitFor()
    await bubble(grace, '<img src=x onerror=alert(1)>').waitFor()
    expect(await grace.locator('#messages img, #messages b').count()).to.equal(0)
  })

  it('shows a newcomer the newest messages, and scrolls back page by page', async () => {
    await grace.close()
    for (const text of MISSED) {
      await say(ada, text)
    }
    await ada.waitForFunction(
      (count) => document.querySelectorAll('.delivery[data-state=published]').length === count,
      MISSED.length + 1
    )

    const lin = await stage.join(await stage.newPerson(), {
      nick: 'Lin',
      room: ROOM,
      node: 'second'
    })
    await lin.getByText(/^Caught up: 49 messages since /).waitFor()
    await bubble(lin, 'missed 45').waitFor()
    expect(await lin.locator('.message').count()).to.equal(20)

    for (const count of [40, 49]) {
      const before = await scrollToBeginning(lin)
      await lin
        .locator('.message')
        .nth(count - 1)
        .waitFor()
      expect(await lin.locator('.message').count()).to.equal(count)
      const { top } = await boxOf(bubble(lin, before.text))
      expect(top).to.be.closeTo(before.top, 2)
    }
    await scrollToBeginning(lin)
    await lin.getByText('This is where the room begins.').waitFor()
    const texts = await lin.locator('.bubble p').allInnerTexts()
    expect(texts.filter((text) => text.startsWith('missed'))).to.deep.equal(MISSED)
    expect(texts.slice(0, 2)).to.deep.equal(['Hello!', 'Hello, Ada.'])
    await lin.context().close()
  })

  it('has on reopening what was missed, once and in order, and says how much it was', async () => {
    grace = await stage.join(gracesBrowser, { nick: 'Grace', room: ROOM, node: 'second' })
    await grace.getByText(/^Caught up: 45 messages since \d/).waitFor()
    await bubble(grace, 'missed 45').waitFor()
    const texts = await grace.locator('.bubble p').allInnerTexts()
    expect(texts.slice(0, 2)).to.deep.equal(['Hello!', 'Hello, Ada.'])
    expect(texts.slice(4)).to.deep.equal(MISSED)
    expect(await grace.locator('.message.own p').allInnerTexts()).to.deep.equal(['Hello, Ada.'])
  })

  it('tells of new messages while older ones are read', async () => {
    await scrollToBeginning(grace)
    await say(ada, 'Are you there?')
    await grace.getByRole('button', { name: '1 new message' }).click()
    await grace.getByRole('button', { name: '1 new message' }).waitFor({ state: 'hidden' })
    await bubble(grace, 'Are you there?').waitFor()
    expect(await isAtEnd(grace)).to.equal(true)
  })

  it('survives the loss of its service node and says so', async () => {
    await stage.node('second').close()
    await grace.getByText(/Offline|Reconnecting/).waitFor()
    await say(grace, 'Hello?')
    await message(grace, 'Hello?').getByText('Not sent').waitFor()

    await say(ada, 'Anybody?')
    await message(ada, 'Anybody?').getByText('Stored at the service node, but').waitFor()

    await stage.restart('second', 'first')
    // at the latest by hand: the pauses between its own tries grow
    await grace.getByRole('button', { name: 'Try now' }).click({ timeout: 5_000 }).catch(ignore)
    await grace.getByText('Connected').waitFor()
    await message(grace, 'Hello?').getByRole('button', { name: 'Send again' }).click()
    await message(grace, 'Hello?').getByText('Published to 1 peer').waitFor()
    await bubble(ada, 'Hello?').waitFor()
    await message(ada, 'Anybody?').getByRole('button', { name: 'Send again' }).click()
    await bubble(grace, 'Anybody?').waitFor()
    await say(ada, 'Welcome back.')
    await bubble(grace, 'Welcome back.').waitFor()
  })

  it('leaves nothing uncaught', () => {
    expect(stage.pageErrors).to.deep.equal([])
  })
})

async function say(page: Page, text: string): Promise<void> {
  const field = page.getByLabel('Message', { exact: true })
  await field.fill(text)
  await field.press('Enter')
}

function bubble(page: Page, text: string): Locator {
  return page.locator('.bubble p').getByText(text, { exact: true })
}

function message(page: Page, text: string): Locator {
  return page.locator('.message').filter({ has: bubble(page, text) })
}

/** As a wheel would; tells which message is the first one on the screen, and where. */
async function scrollToBeginning(page: Page): Promise<{ text: string; top: number }> {
  return await page.locator('#scroll').evaluate((scroll) => {
    scroll.scrollTop = 0
    const first = scroll.querySelector('.bubble p')
    return { text: first?.textContent ?? '', top: first?.getBoundingClientRect().top ?? 0 }
  })
}

async function boxOf(locator: Locator): Promise<{ top: number }> {
  return await locator.evaluate((element) => ({ top: element.getBoundingClientRect().top }))
}

async function isAtEnd(page: Page): Promise<boolean> {
  return await page
    .locator('#scroll')
    .evaluate(({ scrollHeight, scrollTop, clientHeight }) =>
      Boolean(scrollHeight - scrollTop - clientHeight < 2)
    )
}

function ignore(): void {}
