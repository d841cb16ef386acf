import { expect } from 'chai'
import fc from 'fast-check'
import { toHex } from 'waku-light/message'
import { isFinished, type Outbox, type OutboxEntry } from 'waku-light/outbox'
import { flush, LOOKUPS, PUSHES, Tab, TOPICS, text, World } from './world.ts'

const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } })
  .process?.env
const seed = Number(environment?.['FC_SEED'] ?? Date.now() & 0x7fffffff)
const numRuns = 200 * Number(environment?.['FC_FACTOR'] ?? 1)

const HOUR = 3_600_000

interface Order {
  readonly topic: number
  readonly tab: number
  readonly afterMs: number
}

interface Scenario {
  readonly orders: readonly Order[]
  readonly pushes: readonly (typeof PUSHES)[number][]
  readonly lookups: readonly (typeof LOOKUPS)[number][]
  /** For each tab: at which step each of its lives ends; the last one does not. */
  readonly lives: readonly (readonly number[])[]
  readonly pushMs: number
  readonly downMs: number
  readonly restamp: boolean
  readonly confirm: 'published' | 'stored'
  readonly random: number
}

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  orders: fc.array(
    fc.record({
      topic: fc.nat(TOPICS.length - 1),
      tab: fc.nat(1),
      afterMs: fc.constantFrom(0, 0, 10, 500, 8_000)
    }),
    { minLength: 1, maxLength: 10 }
  ),
  pushes: fc.array(fc.constantFrom(...PUSHES), { maxLength: 30 }),
  lookups: fc.array(fc.constantFrom(...LOOKUPS), { maxLength: 30 }),
  lives: fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 }), {
    minLength: 2,
    maxLength: 2
  }),
  pushMs: fc.constantFrom(0, 30, 3_000),
  downMs: fc.constantFrom(0, 1_000, 30_000),
  restamp: fc.boolean(),
  confirm: fc.constantFrom('published', 'stored'),
  random: fc.double({ min: 0, max: 1, noNaN: true })
})

/** A tab that is opened again after each crash, and whose app then repeats what it got no answer for. */
class Reopened {
  readonly #world: World
  readonly #scenario: Scenario
  readonly #lives: number[]
  readonly #unanswered = new Map<string, string>()
  #tab = new Tab()
  outbox: Outbox | undefined

  constructor(world: World, scenario: Scenario, lives: readonly number[]) {
    this.#world = world
    this.#scenario = scenario
    this.#lives = [...lives]
  }

  open(): void {
    const tab = new Tab(this.#lives.shift())
    this.#tab = tab
    this.outbox = undefined
    tab.onCrash.push(() => this.#world.clock.after(this.#scenario.downMs, () => this.open()))
    const { restamp, confirm } = this.#scenario
    this.#world.open(tab, { restamp, confirm }).then(
      (outbox) => {
        this.outbox = outbox
        for (const [id, topic] of this.#unanswered) {
          this.#send(outbox, id, topic)
        }
      },
      (error: unknown) => {
        throw error
      }
    )
  }

  /** For good, whether it has crashes left or not. */
  close(): void {
    this.#tab.crashAt = Number.POSITIVE_INFINITY
    this.outbox?.close().catch(() => {})
  }

  enqueue(id: string, topic: string): void {
    this.#unanswered.set(id, topic)
    if (this.outbox !== undefined && !this.#tab.isDead) {
      this.#send(this.outbox, id, topic)
    }
  }

  #send(outbox: Outbox, id: string, topic: string): void {
    outbox.enqueue(text(id, topic), { id }).then(
      () => this.#unanswered.delete(id),
      (error: unknown) => {
        throw error
      }
    )
  }
}

async function play(scenario: Scenario): Promise<{ world: World; tabs: Reopened[] }> {
  const world = new World()
  world.pushes = [...scenario.pushes]
  world.lookups = [...scenario.lookups]
  world.pushMs = scenario.pushMs
  world.random = () => scenario.random
  const tabs = scenario.lives.map((lives) => new Reopened(world, scenario, lives))
  for (const tab of tabs) {
    tab.open()
  }
  for (const [index, { topic, tab, afterMs }] of scenario.orders.entries()) {
    await world.clock.pass(afterMs)
    tabs[tab]?.enqueue(`${index}`, TOPICS[topic] ?? '')
  }
  await world.clock.pass(HOUR)
  return { world, tabs }
}

async function end(world: World, tabs: readonly Reopened[]): Promise<void> {
  for (const tab of tabs) {
    tab.close()
  }
  await flush()
  expect(world.isLocked, 'lock').to.equal(false)
  expect(world.clock.timers.size, 'timers').to.equal(0)
}

function assertLedger(scenario: Scenario, entries: readonly OutboxEntry[], world: World): void {
  expect(entries.map(({ id }) => Number(id)).sort((a, b) => a - b)).to.deep.equal([
    ...scenario.orders.keys()
  ])
  for (const entry of entries) {
    const left = world.departures.filter((departure) => departure.text === entry.id)
    const hashes = [...new Set(left.map(({ hash }) => hash))]
    const about = `${entry.id}, ${entry.state}`
    expect(isFinished(entry), `${about}: finished`).to.equal(true)
    const told = entry.sent.map(({ messageHash }) => toHex(messageHash))
    expect(told, `${about}: all that left is listed`).to.include.members(hashes)
    if (!scenario.restamp) {
      expect(told.length, `${about}: one message`).to.be.lessThan(2)
    }
    for (const hash of hashes) {
      const bytes = new Set(left.filter((other) => other.hash === hash).map(({ bytes }) => bytes))
      expect(bytes.size, `${about}: identical bytes`).to.equal(1)
    }
    // Store nodes of this world keep what they get, so what is sent anew was never there.
    expect(hashes.length, `${about}: no duplicate`).to.be.lessThan(2)
    if (entry.state === 'published' || entry.state === 'stored') {
      expect(left.length, `${about}: it left`).to.be.greaterThan(0)
    } else {
      expect(hashes, `${about}: it did not leave`).to.deep.equal([])
    }
    if (scenario.confirm === 'stored') {
      expect(entry.state).to.not.equal('published')
    }
    if (entry.state === 'stored') {
      expect(told.some((hash) => world.archive.has(hash))).to.equal(true)
    }
  }
  // Between tabs the order is that in which the one that sends learns of them.
  for (const [tab, topic] of [0, 1].flatMap((tab) =>
    TOPICS.map((topic) => [tab, topic] as const)
  )) {
    const ofTab = (id: string): boolean => scenario.orders[Number(id)]?.tab === tab
    const order = entries.map(({ id }) => id).filter(ofTab)
    const places = world.departures
      .filter((departure) => departure.topic === topic && ofTab(departure.text))
      .map((departure) => order.indexOf(departure.text))
    expect(places, `tab ${tab}, ${topic}: order`).to.deep.equal([...places].sort((x, y) => x - y))
  }
}

describe(`createOutbox, whatever happens (seed ${seed})`, () => {
  it('loses nothing, sends nothing as two messages, keeps the order, and comes to an end', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { world, tabs } = await play(scenario)
        assertLedger(scenario, await world.storage.entries(), world)
        await end(world, tabs)
      }),
      { seed, numRuns }
    )
  }).timeout(60_000)

  it('survives a crash at each single step of a life', async () => {
    for (let crashAt = 1; crashAt < 70; crashAt++) {
      const scenario: Scenario = {
        orders: [0, 0, 1].map((topic, index) => ({ topic, tab: index % 2, afterMs: 0 })),
        pushes: ['answer-lost', 'request-lost', 'not-sent'],
        lookups: ['missed'],
        lives: [[crashAt], []],
        pushMs: 30,
        downMs: 1_000,
        restamp: crashAt % 2 === 0,
        confirm: crashAt % 3 === 0 ? 'stored' : 'published',
        random: 0.5
      }
      const { world, tabs } = await play(scenario)
      assertLedger(scenario, await world.storage.entries(), world)
      await end(world, tabs)
    }
  }).timeout(60_000)
})
