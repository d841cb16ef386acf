import { expect } from 'chai'
import { createResume, type Resume, type ResumeLocks } from 'waku-light/resume'
import { failure } from '../helpers/collect.ts'
import { HOUR_MS, World } from './world.ts'

/** The locks of a browser, for all its tabs. */
class FakeLocks implements ResumeLocks {
  readonly names = new Set<string>()
  readonly #held = new Map<string, Promise<unknown>>()

  async request<T>(
    name: string,
    { signal, ifAvailable }: Parameters<ResumeLocks['request']>[1],
    callback: (lock: unknown) => Promise<T>
  ): Promise<T> {
    this.names.add(name)
    if (signal !== undefined && ifAvailable === true) {
      throw new DOMException('not together', 'NotSupportedError')
    }
    for (let held = this.#held.get(name); held !== undefined; held = this.#held.get(name)) {
      if (ifAvailable === true) {
        return await callback(null)
      }
      await held.catch(() => undefined)
      signal?.throwIfAborted()
    }
    const turn = callback({ name })
    this.#held.set(name, turn)
    try {
      return await turn
    } finally {
      this.#held.delete(name)
    }
  }
}

const tab = (world: World, locks: ResumeLocks, name = 'my-chat'): Resume =>
  createResume(world.components(), world.init({ locks, name }))

/** A tab that follows; resolves once it has caught up. */
async function following(
  resume: Resume
): Promise<{ abort: () => Promise<void>; caughtUp: Promise<void> }> {
  const controller = new AbortController()
  const { promise: caughtUp, resolve } = Promise.withResolvers<void>()
  const ended = failure(() =>
    resume.follow({
      intervalMs: 0.01,
      signal: controller.signal,
      onProgress: ({ type }) => (type === 'resume:ended' ? resolve() : undefined)
    })
  )
  return {
    caughtUp,
    abort: async () => {
      controller.abort(new Error('closed'))
      await ended
    }
  }
}

describe('createResume, in many tabs', () => {
  it('resumes in one of those that share an archive', async () => {
    const world = new World()
    world.send(-HOUR_MS, 'one')
    const locks = new FakeLocks()
    const results = await Promise.all([
      tab(world, locks).run(),
      tab(world, locks).run(),
      tab(world, locks).run()
    ])
    expect(results.map(({ status }) => status)).to.deep.equal(['done', 'busy', 'busy'])
    expect(world.queries()).to.have.length(1)
    expect(await world.texts()).to.deep.equal(['one'])
    expect(await tab(world, locks).run()).to.include({ status: 'done' })
  })

  it('goes on in another tab when the one that followed is closed', async () => {
    const world = new World()
    const locks = new FakeLocks()
    const first = await following(tab(world, locks))
    await first.caughtUp
    const second = await following(tab(world, locks))
    expect(await tab(world, locks).run()).to.deep.equal({ status: 'busy' })
    world.send(0, 'one')
    const told = new Promise((resolve) => world.archive.subscribe(resolve))
    await told
    await first.abort()
    await second.caughtUp
    await second.abort()
    expect(await world.texts()).to.deep.equal(['one'])
  })

  it('fills a gap beside a tab that follows', async () => {
    const world = new World()
    const locks = new FakeLocks()
    const resume = tab(world, locks)
    world.send(-100 * HOUR_MS, 'old')
    const follower = await following(resume)
    await follower.caughtUp
    const gap = { from: 0n, to: BigInt(world.nowMs - HOUR_MS) * 1_000_000n }
    const results = await Promise.all([resume.fillGap(gap), tab(world, locks).fillGap(gap)])
    expect(results.map(({ status }) => status)).to.deep.equal(['done', 'busy'])
    await follower.abort()
    expect(await world.texts()).to.deep.equal(['old'])
  })

  it('does not wait for tabs with another archive or other topics', async () => {
    const world = new World()
    const locks = new FakeLocks()
    const results = await Promise.all([
      tab(world, locks, 'a').run(),
      tab(world, locks, 'b').run(),
      createResume(world.components(), world.init({ locks, name: 'a', contentTopics: [] })).run()
    ])
    expect(results.map(({ status }) => status)).to.deep.equal(['done', 'done', 'done'])
    expect(locks.names.size).to.equal(3)
  })

  it('resumes one after the other where two archives have one name, each from its own mark', async () => {
    const locks = new FakeLocks()
    const worlds = [new World(), new World()] as const
    for (const world of worlds) {
      world.send(-HOUR_MS, 'one')
    }
    const [first, second] = [tab(worlds[0], locks), tab(worlds[1], locks)]
    const results = await Promise.all([first.run(), second.run()])
    expect(results.map(({ status }) => status)).to.deep.equal(['done', 'busy'])
    expect(await second.coveredUntil()).to.equal(undefined)
    expect(await second.run()).to.include({ status: 'done', added: 1 })
    expect(await worlds[1].texts()).to.deep.equal(['one'])
  })

  it('takes no lock without a name, and is right with another one at the same archive', async () => {
    const world = new World()
    const locks = new FakeLocks()
    const init = world.init({ locks })
    for (let round = 0; round < 10; round++) {
      world.nowMs += round * HOUR_MS
      for (let index = 0; index < 10; index++) {
        world.send(-index, `${round} ${index}`)
      }
      const tabs = [1, 2, 3].map(() => createResume(world.components(), init))
      const results = await Promise.all(tabs.map((resume) => resume.run()))
      expect(results.map(({ status }) => status)).to.deep.equal(['done', 'done', 'done'])
    }
    expect(await world.hashes()).to.deep.equal(world.sent().map(({ hash }) => hash))
    expect(locks.names.size).to.equal(0)
  })

  it('runs once in one object', async () => {
    const world = new World()
    const resume = createResume(world.components(), world.init())
    const results = await Promise.all([resume.run(), resume.run()])
    expect(results.map(({ status }) => status)).to.deep.equal(['done', 'busy'])
  })

  it('follows after a call that is under way in the same object', async () => {
    const world = new World()
    const resume = createResume(world.components(), world.init())
    const running = resume.run()
    const follower = await following(resume)
    expect(await running).to.include({ status: 'done' })
    await follower.caughtUp
    await follower.abort()
    expect(await resume.run()).to.include({ status: 'done' })
  })

  it('does without locks in a frame that may not have them', async () => {
    const world = new World()
    const locks: ResumeLocks = {
      request: async () => {
        throw new DOMException('an opaque origin', 'SecurityError')
      }
    }
    expect(await tab(world, locks).run()).to.include({ status: 'done' })
  })

  it('passes on what a lock manager fails with', async () => {
    const error = new DOMException('the document is gone', 'InvalidStateError')
    const locks: ResumeLocks = { request: async () => Promise.reject(error) }
    expect(await failure(() => tab(new World(), locks).run())).to.equal(error)
  })
})
