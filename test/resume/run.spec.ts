import { expect } from 'chai'
import { StorageFullError } from 'waku-light/errors'
import { createResume, type ResumeComponents } from 'waku-light/resume'
import { failure, failureOf } from '../helpers/collect.ts'
import { at, done, mark, send, WINDOW_MS } from './runs.ts'
import { HOUR_MS, MINUTE_MS, OTHER_TOPIC, START_MS, TOPIC, World } from './world.ts'

describe('Resume.run', () => {
  it('asks for the window at first, and for everything since the mark later', async () => {
    const world = new World()
    world.send(-WINDOW_MS - 1, 'too old')
    world.send(-WINDOW_MS, 'old')
    const texts = send(world, 7)
    expect(await mark(world)).to.equal(undefined)
    expect(await done(world)).to.deep.include({
      resumedFrom: at(START_MS - WINDOW_MS),
      resumedTo: at(START_MS),
      completeness: 'complete',
      clockSetBack: false,
      fetched: 8,
      added: 8,
      missing: 0
    })
    expect(await world.texts()).to.deep.equal(['old', ...texts])
    expect(await mark(world)).to.equal(at(START_MS))
    world.nowMs += HOUR_MS
    world.send(-1, 'new')
    const result = await done(world)
    expect(result).to.deep.include({ resumedFrom: at(START_MS - 20_000), added: 1 })
    expect(result).not.to.have.property('gap')
    expect((await world.texts()).at(-1)).to.equal('new')
  })

  it('has a mark for each set of topics, in whatever order they are given', async () => {
    const world = new World()
    const covered = async (contentTopics?: string[]): Promise<bigint | undefined> =>
      await createResume(world.components(), world.init({ contentTopics })).coveredUntil()
    await done(world, { contentTopics: [TOPIC, OTHER_TOPIC] })
    expect(await covered([OTHER_TOPIC, TOPIC, TOPIC])).to.equal(at(START_MS))
    expect(await covered([TOPIC])).to.equal(undefined)
    expect(await covered(undefined)).to.equal(undefined)
  })

  it('takes everything that the nodes serve, where no topics are given', async () => {
    const world = new World()
    send(world, 2)
    send(world, 2, OTHER_TOPIC)
    expect(await done(world, { contentTopics: undefined })).to.include({ added: 4 })
  })

  it('takes messages that are late or early by less than the overlap', async () => {
    const world = new World()
    world.send(19_999, 'from a fast clock')
    await done(world)
    expect(await world.texts()).to.deep.equal(['from a fast clock'])
    world.send(-19_999, 'late')
    world.nowMs += 1
    await done(world, { healingMs: 0 })
    expect((await world.texts())[0]).to.equal('late')
  })

  it('tells what the archive fails with, and goes on when that is mended', async () => {
    const world = new World()
    const texts = send(world, 10)
    let puts = 0
    const archive: ResumeComponents['archive'] = {
      ...world.archive,
      putMany: async (...given) => {
        if (++puts === 3) {
          throw new StorageFullError()
        }
        return await world.archive.putMany(...given)
      }
    }
    const resume = createResume(world.components(archive), world.init())
    expect(await resume.run()).to.have.nested.property('error.code', 'ERR_STORAGE_FULL')
    expect(await mark(world)).to.equal(undefined)
    expect(await resume.run()).to.include({ status: 'done', added: 4 })
    expect(await world.texts()).to.deep.equal(texts)
    await world.archive.close()
    expect(await resume.run()).to.have.nested.property('error.code', 'ERR_CLOSED')
  })

  it('tells no node the topics where it must not, and what that costs', async () => {
    const world = new World()
    const details: { fetched: number; added: number; bytes: number }[] = []
    const texts = send(world, 4)
    send(world, 20, OTHER_TOPIC)
    const resume = createResume(world.components(), world.init({ privacy: 'time-range' }))
    const result = await resume.run({
      onProgress: (event) => {
        if (event.type === 'resume:page') {
          details.push(event.detail)
        }
      }
    })
    expect(await world.texts()).to.deep.equal(texts)
    expect(result).to.include({ status: 'done', fetched: 24, added: 4 })
    expect(details).to.have.length(8)
    expect(details.at(-1)).to.include({ fetched: 24, added: 4 })
    const bytes = details.map((detail) => detail.bytes)
    expect(bytes).to.deep.equal(bytes.toSorted((a, b) => a - b))
    expect(bytes[0]).to.be.above(0)
    // What may have healed is not asked for by hash: what is looked up, or not, would tell.
    world.nowMs += MINUTE_MS
    world.send(-30 * MINUTE_MS, 'healed')
    expect(await resume.run()).to.include({ added: 1 })
    expect(world.hashQueries).to.deep.equal([])
    expect(world.queries().flatMap(({ contentTopics }) => contentTopics)).to.deep.equal([])
    expect(world.queries()).to.have.length(world.peers.requests.length)
  })

  describe('that is aborted', () => {
    it('rejects with the reason, and can be called again', async () => {
      const world = new World()
      const texts = send(world, 10)
      const reason = new Error('enough')
      const resume = createResume(world.components(), world.init())
      expect(await failure(() => resume.run({ signal: AbortSignal.abort(reason) }))).to.equal(
        reason
      )
      const controller = new AbortController()
      let requests = 0
      world.onRequest = () => {
        if (++requests === 3) {
          controller.abort(reason)
        }
      }
      expect(await failure(() => resume.run({ signal: controller.signal }))).to.equal(reason)
      expect(await resume.run()).to.include({ status: 'done', added: 4 })
      expect(await world.texts()).to.deep.equal(texts)
    })
  })

  it('rejects with what nobody foresaw', async () => {
    const world = new World()
    const error = new TypeError('a mistake')
    const store = {
      ...world.store(),
      // biome-ignore lint/correctness/useYield: it fails first
      async *queryPages() {
        throw error
      }
    }
    const resume = createResume({ ...world.components(), store }, world.init())
    expect(await failure(() => resume.run())).to.equal(error)
  })

  it('rejects options that are wrong', async () => {
    const world = new World()
    for (const [init, parameter] of [
      [{ windowMs: 0 }, 'windowMs'],
      [{ windowMs: -1 }, 'windowMs'],
      [{ windowMs: Number.NaN }, 'windowMs'],
      [{ overlapMs: -1 }, 'overlapMs'],
      [{ healingMs: Number.POSITIVE_INFINITY }, 'healingMs'],
      [{ privacy: 'none' as never }, 'privacy'],
      [{ name: '' }, 'name'],
      [{ pubsubTopic: '' }, 'pubsubTopic'],
      [{ contentTopics: TOPIC as never }, 'contentTopics'],
      [{ contentTopics: [''] }, 'contentTopics'],
      [{ contentTopics: ['no topic'] }, 'contentTopics']
    ] as const) {
      const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
        createResume(world.components(), world.init(init))
      )
      expect(error.parameter).to.equal(parameter)
    }
    await failureOf('ERR_INVALID_ARGUMENT', () => createResume({} as never))
    await failureOf('ERR_INVALID_ARGUMENT', () => createResume({ archive: world.archive } as never))
  })

  it('has no limit where the window is infinite', async () => {
    const world = new World()
    world.send(-1000 * HOUR_MS, 'ancient')
    expect(await done(world, { windowMs: Number.POSITIVE_INFINITY })).to.include({
      resumedFrom: 0n,
      added: 1
    })
  })
})
