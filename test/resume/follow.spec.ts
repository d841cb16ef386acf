import { expect } from 'chai'
import { ConnectionError, StorageError, StorageFullError } from 'waku-light/errors'
import {
  createResume,
  type ResumeComponents,
  type ResumeFollowOptions,
  type ResumeInit,
  type ResumeProgress
} from 'waku-light/resume'
import { failure, failureOf } from '../helpers/collect.ts'
import { HOUR_MS, MINUTE_MS, MS, OTHER_TOPIC, START_MS, TOPIC, World } from './world.ts'

const at = (ms: number): bigint => BigInt(ms) * MS

/** Something that follows, what it tells, and connections that come and go. */
class Follower {
  readonly events: ResumeProgress[] = []
  readonly sleeps: number[] = []
  readonly ended: Promise<unknown>
  readonly #controller = new AbortController()
  readonly #resume: ReturnType<typeof createResume>
  readonly #listeners = new Set<(change: { peerId: string; connected: boolean }) => void>()
  #wake: () => void = () => undefined
  #check: () => void = () => undefined

  constructor(
    readonly world: World,
    {
      options = {},
      components = {},
      init = {}
    }: {
      options?: ResumeFollowOptions
      components?: Partial<ResumeComponents>
      init?: Partial<ResumeInit>
    } = {}
  ) {
    const node = {
      servicePeers: world.peers,
      connectedPeers: ['peer-0'],
      onConnectionChange: (listener: (change: { peerId: string; connected: boolean }) => void) => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      }
    }
    const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
      this.sleeps.push(ms)
      this.#check()
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    }
    this.#resume = createResume(
      { ...world.components(), node, ...components },
      world.init({ sleep, ...init })
    )
    this.ended = failure(() =>
      this.#resume.follow({
        intervalMs: 0.01,
        signal: this.#controller.signal,
        onProgress: (event) => {
          this.events.push(event)
          this.#check()
        },
        ...options
      })
    )
  }

  /** Until something is so; asked at each event, each sleep and each request. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#check = () => {
        Promise.resolve(isSo()).then((is) => (is ? resolve() : undefined), resolve)
      }
      this.world.onAnswer = this.#check
      this.#check()
    })
  }

  count(type: ResumeProgress['type']): number {
    return this.events.filter((event) => event.type === type).length
  }

  async hasText(text: string): Promise<void> {
    await this.until(async () => (await this.world.texts()).includes(text))
  }

  connection(connected: boolean): void {
    for (const listener of [...this.#listeners]) {
      listener({ peerId: 'peer-0', connected })
    }
  }

  wake(): void {
    this.#wake()
  }

  async mark(): Promise<bigint | undefined> {
    return await this.#resume.coveredUntil()
  }

  run(): ReturnType<ReturnType<typeof createResume>['run']> {
    return this.#resume.run()
  }

  async stop(): Promise<void> {
    const reason = new Error('enough')
    this.#controller.abort(reason)
    expect(await this.ended).to.equal(reason)
    await new Promise((resolve) => setTimeout(resolve)) // an abort is told before all is put away
    expect(this.#listeners.size).to.equal(0)
  }
}

describe('Resume.follow', () => {
  it('catches up, then puts what comes into the archive and moves the mark', async () => {
    const world = new World()
    world.send(-HOUR_MS, 'before')
    const follower = new Follower(world)
    await follower.hasText('before')
    world.nowMs += MINUTE_MS
    world.send(-1, 'after')
    world.send(-1, 'foreign', OTHER_TOPIC)
    await follower.hasText('after')
    await follower.until(async () => (await follower.mark()) === at(world.nowMs))
    expect(await follower.run()).to.deep.equal({ status: 'busy' })
    await follower.stop()
    expect(await world.texts()).to.deep.equal(['before', 'after'])
  })

  it('moves the mark to when the question was asked, not to when it was answered', async () => {
    const world = new World()
    const options = { recheckIntervalMs: Number.POSITIVE_INFINITY }
    const follower = new Follower(world, { options })
    await follower.until(() => follower.count('resume:ended') === 1)
    world.onRequest = () => {
      world.nowMs += MINUTE_MS
    }
    await follower.until(async () => ((await follower.mark()) ?? 0n) > at(START_MS))
    expect(((await follower.mark()) ?? 0n) < at(world.nowMs)).to.equal(true)
    await follower.stop()
  })

  it('does not move the mark back where the clock is set back', async () => {
    const world = new World()
    const follower = new Follower(world)
    await follower.until(() => follower.count('resume:ended') === 1)
    world.nowMs -= HOUR_MS
    for (const text of ['first', 'second', 'third']) {
      world.send(HOUR_MS, text)
      await follower.hasText(text)
    }
    expect(await follower.mark()).to.equal(at(START_MS))
    await follower.stop()
  })

  it('stores what came before a batch is full, without moving the mark', async () => {
    const world = new World(1, 100)
    let puts = 0
    const marks: (bigint | undefined)[] = []
    const archive: ResumeComponents['archive'] = {
      ...world.archive,
      putMany: async (...given) => {
        const added = await world.archive.putMany(...given)
        if (given[0].length > 0) {
          puts++
          marks.push(await createResume(world.components(), world.init()).coveredUntil())
        }
        return added
      }
    }
    const follower = new Follower(world, { components: { archive } })
    await follower.until(() => follower.count('resume:ended') === 1)
    world.nowMs += MINUTE_MS
    for (let index = 0; index < 150; index++) {
      world.send(-index, `message ${index}`)
    }
    await follower.until(() => puts >= 2)
    await follower.stop()
    expect(await world.archive.count()).to.equal(150)
    expect(marks[0]).to.equal(at(START_MS))
  })

  it('takes what reached the nodes while it caught up', async () => {
    const world = new World()
    const follower = new Follower(world)
    await follower.until(() => follower.count('resume:ended') === 1)
    world.send(-19_999, 'late')
    await follower.hasText('late')
    await follower.stop()
  })

  it('filters here where nodes must not learn the topics', async () => {
    const world = new World()
    const follower = new Follower(world, { init: { privacy: 'time-range' } })
    await follower.until(() => follower.count('resume:ended') === 1)
    world.send(0, 'ours')
    world.send(0, 'foreign', OTHER_TOPIC)
    await follower.hasText('ours')
    await follower.stop()
    expect(await world.texts()).to.deep.equal(['ours'])
    expect(world.queries().flatMap(({ contentTopics }) => contentTopics)).to.deep.equal([])
  })

  it('catches up again once a node is connected after an outage', async () => {
    const world = new World()
    const follower = new Follower(world)
    await follower.until(() => follower.count('resume:ended') === 1)
    follower.connection(true) // of another connection
    follower.connection(false)
    world.nowMs += 10 * HOUR_MS
    follower.connection(true)
    await follower.until(() => follower.count('resume:ended') === 2)
    const [, again] = follower.events.filter(({ type }) => type === 'resume:ended')
    expect(again).to.have.nested.property('detail.status', 'done')
    await follower.stop()
  })

  it('asks at the beginning and after outages only, where it is not to ask in between', async () => {
    const world = new World()
    const options = { tail: false, recheckIntervalMs: Number.POSITIVE_INFINITY }
    const follower = new Follower(world, { options })
    await follower.until(() => follower.sleeps.length === 1)
    const before = world.queries().length
    follower.connection(false)
    follower.connection(true)
    await follower.until(() => follower.sleeps.length === 2)
    expect(follower.sleeps).to.deep.equal([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])
    expect(follower.count('resume:ended')).to.equal(2)
    expect(world.queries().length).to.equal(before + 1)
    await follower.stop()
  })

  it('asks again from time to time for what nodes got late', async () => {
    const world = new World()
    const follower = new Follower(world, { options: { recheckIntervalMs: 30 * MINUTE_MS } })
    await follower.until(() => follower.count('resume:ended') === 1)
    world.send(-10 * MINUTE_MS, 'healed')
    world.nowMs += 30 * MINUTE_MS
    await follower.hasText('healed')
    await follower.stop()
    expect(world.hashQueries).to.have.length(1)
  })

  it('tries again with growing pauses, and at once when a connection comes back', async () => {
    const world = new World()
    world.onRequest = () => {
      throw new ConnectionError('gone')
    }
    const follower = new Follower(world)
    await follower.until(() => follower.sleeps.length === 1)
    follower.wake()
    await follower.until(() => follower.sleeps.length === 2)
    follower.connection(false)
    follower.connection(true)
    await follower.until(() => follower.sleeps.length === 3)
    // the first node at all, after a start without one, is as good as one that comes back
    follower.connection(true)
    await follower.until(() => follower.sleeps.length === 4)
    // each jittered down to its half, since `random` gives 0 here
    expect(follower.sleeps).to.deep.equal([500, 1000, 2000, 4000])
    world.onRequest = () => undefined
    world.send(0, 'at last')
    follower.wake()
    await follower.hasText('at last')
    world.onRequest = () => {
      throw new ConnectionError('gone again')
    }
    follower.connection(false)
    follower.connection(true)
    await follower.until(() => follower.sleeps.length === 5)
    expect(follower.sleeps.at(-1)).to.equal(500)
    await follower.stop()
  })

  it('waits for room in the archive, and ends where that is lost', async () => {
    const world = new World()
    let error: Error | undefined
    const archive: ResumeComponents['archive'] = {
      ...world.archive,
      putMany: async (...given) => {
        if (error !== undefined && given[0].length > 0) {
          throw error
        }
        return await world.archive.putMany(...given)
      }
    }
    const follower = new Follower(world, { components: { archive } })
    await follower.until(() => follower.count('resume:ended') === 1)
    error = new StorageFullError()
    world.send(0, 'first')
    await follower.until(() => follower.sleeps.length === 1)
    error = undefined
    follower.wake()
    await follower.hasText('first')
    error = new StorageError('lost', 'it was deleted')
    world.send(0, 'second')
    expect(await follower.ended).to.equal(error)
  })

  it('tells of questions that fail', async () => {
    const world = new World()
    const follower = new Follower(world)
    await follower.until(() => follower.count('resume:ended') === 1)
    world.faults = ['garbage']
    await follower.until(() => follower.count('resume:peer-failed') === 1)
    await follower.stop()
  })

  it('rejects options that are wrong', async () => {
    const resume = createResume(new World().components())
    await failureOf('ERR_INVALID_ARGUMENT', () => resume.follow({ intervalMs: 0 }))
    await failureOf('ERR_INVALID_ARGUMENT', () => resume.follow({ recheckIntervalMs: Number.NaN }))
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    expect(await failure(() => resume.follow({ signal }))).to.equal(reason)
  })

  it('has a tail from which nothing is lost where a page ends at any time', async () => {
    const world = new World()
    for (let round = 0; round < 20; round++) {
      const follower = new Follower(world, { init: { contentTopics: [TOPIC] } })
      await follower.until(() => follower.count('resume:ended') === 1)
      world.nowMs += 10_000
      world.send(0, `${round} a`)
      world.send(0, `${round} b`, TOPIC, [15_000])
      if (round % 2 === 0) {
        await follower.hasText(`${round} a`)
      }
      await follower.stop()
      world.nowMs += round * MINUTE_MS
    }
    world.nowMs += MINUTE_MS
    await createResume(world.components(), world.init()).run()
    expect((await world.hashes()).length).to.equal(40)
  })
})
