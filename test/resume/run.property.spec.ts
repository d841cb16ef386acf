import { expect } from 'chai'
import fc from 'fast-check'
import {
  createResume,
  type HistoryGap,
  type ResumeInit,
  type ResumeResult
} from 'waku-light/resume'
import { fillGaps, sources } from 'waku-light/store'
import { PROPERTY } from '../helpers/collect.ts'
import {
  Crash,
  crashing,
  type Fault,
  HOUR_MS,
  MINUTE_MS,
  MS,
  OTHER_TOPIC,
  TOPIC,
  World
} from './world.ts'

const WINDOW_MS = 6 * HOUR_MS
const HEALING_MS = 65 * MINUTE_MS
const NODES = 3

const fault: fc.Arbitrary<Fault> = fc.option(fc.constantFrom('broken', 'silent', 'garbage'), {
  nil: undefined,
  freq: 2
})

/** Most messages are at all nodes at once, or almost; some nodes get one only while they heal. */
const delays = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: HEALING_MS - 20_000 }) }
  ),
  { minLength: NODES, maxLength: NODES }
)

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      /** Of the sender's clock. */
      offMs: fc.integer({ min: -20_000, max: 19_000 }),
      isOurs: fc.boolean(),
      count: fc.integer({ min: 1, max: 8 }),
      delays
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 0, max: 30_000 }) },
        { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 * HOUR_MS }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 9 * HOUR_MS }) }
      )
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      faults: fc.oneof(fc.constant([]), fc.array(fault, { maxLength: 25 })),
      /** At which call of the archive it crashes, and whether that one is still done. */
      crash: fc.option(
        fc.record({ calls: fc.integer({ min: 1, max: 12 }), isStored: fc.boolean() })
      ),
      random: fc.double({ min: 0, max: 0.999, noNaN: true })
    })
  }
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Scenario {
  readonly steps: readonly Step[]
  readonly timeRange: boolean
  readonly tellsHashes: boolean
  /** How several nodes are asked; undefined: one at a time. */
  readonly walker: ResumeInit['walker']
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  steps: fc.array(step, { maxLength: 30, size: 'max' }),
  timeRange: fc.boolean(),
  tellsHashes: fc.boolean(),
  walker: fc.constantFrom(undefined, sources('all'), fillGaps('all'), sources(2))
})

/** Plays a scenario; each run is that of a page that was just opened. */
class Play {
  readonly world = new World(NODES)
  readonly results: (ResumeResult | Crash)[] = []
  /** When each run began. */
  readonly beginnings: bigint[] = []
  /** The mark before each run. */
  readonly marks: (bigint | undefined)[] = []
  readonly #scenario: Scenario
  #random = 0

  constructor(scenario: Scenario) {
    this.#scenario = scenario
    this.world.tellsHashes = scenario.tellsHashes
  }

  async all(): Promise<void> {
    let count = 0
    for (const one of this.#scenario.steps) {
      if (one.kind === 'send') {
        for (let index = 0; index < one.count; index++) {
          const topic = one.isOurs ? TOPIC : OTHER_TOPIC
          this.world.send(one.offMs, `message ${count++}`, topic, one.delays)
        }
      } else if (one.kind === 'wait') {
        this.world.nowMs += one.ms
      } else {
        await this.run(one.faults, one.crash, one.random)
      }
    }
  }

  resume(archive = this.world.components().archive) {
    const privacy = this.#scenario.timeRange ? ('time-range' as const) : undefined
    const { walker } = this.#scenario
    const init = this.world.init({ privacy, walker, random: () => this.#random })
    return createResume(this.world.components(archive), init)
  }

  async run(
    faults: readonly Fault[] = [],
    crash: { calls: number; isStored: boolean } | null = null,
    random = 0
  ): Promise<void> {
    const { world } = this
    this.#random = random
    world.faults = [...faults]
    this.beginnings.push(BigInt(world.nowMs) * MS)
    this.marks.push(await this.resume().coveredUntil())
    const { archive } = crashing(
      world.archive,
      crash?.calls ?? Number.POSITIVE_INFINITY,
      crash?.isStored ?? false
    )
    try {
      this.results.push(await this.resume(archive).run())
    } catch (error) {
      if (!(error instanceof Crash)) {
        throw error
      }
      this.results.push(error)
    }
    world.faults = []
  }

  /** Runs until nothing is broken and all nodes have healed. */
  async settle(): Promise<void> {
    await this.run()
    this.world.nowMs += HEALING_MS + MINUTE_MS
    await this.run()
  }

  /** Where the first walk that came to its end began. */
  get base(): bigint {
    for (const result of this.results) {
      if ('status' in result && result.status === 'done') {
        return result.resumedFrom
      }
    }
    throw new Error('no run came to its end')
  }
}

const within = (
  { message: { timestamp = 0n } }: { message: { timestamp?: bigint } },
  gap: HistoryGap
) => timestamp >= gap.from && timestamp < gap.to

describe(`Resume.run, against a model (seed ${PROPERTY.seed})`, () => {
  const check = (run: (scenario: Scenario) => Promise<void>, numRuns: number): Promise<void> =>
    fc.assert(fc.asyncProperty(scenario, run), {
      seed: PROPERTY.seed,
      numRuns: numRuns * PROPERTY.factor
    })

  it('loses nothing but what it reports as a gap, whatever fails or crashes, and doubles nothing', async function () {
    this.timeout(60_000)
    await check(async (given) => {
      const play = new Play(given)
      const { world } = play
      await play.all()
      await play.settle()
      const gaps = await play.resume().gaps()
      const held = await world.hashes()
      const sent = world.sent()
      // In order, each once, and nothing else.
      expect(held).to.deep.equal(sent.map(({ hash }) => hash).filter((hash) => held.includes(hash)))
      const lost = sent.filter(
        (one) => (one.message.timestamp ?? 0n) >= play.base && !held.includes(one.hash)
      )
      expect(lost.filter((one) => !gaps.some((gap) => within(one, gap)))).to.deep.equal([])
      // A gap is nothing but what lies between a mark, at which a run began, and the window.
      for (const { from, to } of gaps) {
        expect(play.beginnings).to.include(from)
        expect(play.beginnings).to.include(to + BigInt(WINDOW_MS) * MS)
        expect(to > from).to.equal(true)
      }
      // Filled, nothing is missing.
      for (const gap of gaps) {
        expect(await play.resume().fillGap(gap)).to.include({ status: 'done' })
      }
      expect(await play.resume().gaps()).to.deep.equal([])
      expect(await world.hashes()).to.include.members(lost.map(({ hash }) => hash))
    }, 250)
  })

  it('reports exactly what lies between the mark and the window', async function () {
    this.timeout(60_000)
    await check(async (given) => {
      const steps = given.steps.map((one) =>
        one.kind === 'run' ? { ...one, faults: [], crash: null } : one
      )
      const play = new Play({ ...given, steps })
      await play.all()
      await play.settle()
      const expected: HistoryGap[] = []
      for (const [index, result] of play.results.entries()) {
        const now = play.beginnings[index] ?? 0n
        const mark = play.marks[index]
        const start = now - BigInt(WINDOW_MS) * MS
        const gap = mark !== undefined && mark < start ? { from: mark, to: start } : undefined
        const overlapped = mark === undefined ? start : mark - 20_000n * MS
        expect(result).to.deep.include({
          status: 'done',
          resumedFrom: overlapped > start ? overlapped : start,
          resumedTo: now
        })
        expect('gap' in result ? result.gap : undefined).to.deep.equal(gap)
        expected.push(...(gap ? [gap] : []))
      }
      expect(await play.resume().gaps()).to.deep.equal(expected)
    }, 100)
  })
})
