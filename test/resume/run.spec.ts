import { expect } from 'chai'
import {
  ClosedError,
  ConnectionError,
  InvalidMessageError,
  StorageFullError,
  UnsupportedError
} from 'waku-light/errors'
import { createResume, type ResumeComponents, type ResumeStore } from 'waku-light/resume'
import { StoreClient } from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import { STORE_BETA2_PROTOCOL } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { failure, failureOf } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer } from '../helpers/store-peers.ts'
import { at, done, mark, send, WINDOW_MS } from './runs.ts'
import {
  Crash,
  crashing,
  HOUR_MS,
  MINUTE_MS,
  OTHER_TOPIC,
  SECOND_MS,
  START_MS,
  TOPIC,
  World
} from './world.ts'

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

  describe('at nodes that fail', () => {
    it('asks a random one', async () => {
      for (const [random, peerId] of [
        [0, 'peer-0'],
        [0.5, 'peer-1'],
        [0.999, 'peer-2'],
        [1, 'peer-2']
      ] as const) {
        const world = new World(3)
        await done(world, { random: () => random })
        expect(world.queries().map((query) => query.peerId)).to.deep.equal([peerId])
      }
    })

    it('goes on at another one, whichever page fails', async () => {
      for (let failing = 1; failing <= 5; failing++) {
        const world = new World(2)
        const texts = send(world, 13)
        let requests = 0
        world.onRequest = (peerId) => {
          if (peerId === 'peer-0' && ++requests >= failing) {
            throw new InvalidMessageError('nothing but garbage from now on')
          }
        }
        expect(await done(world)).to.include({ added: 13 })
        expect(await world.texts()).to.deep.equal(texts)
      }
    })

    it('asks one that failed again once another one has given a page', async () => {
      const world = new World(2)
      const texts = send(world, 20)
      let requests = 0
      world.onRequest = () => {
        if (++requests % 2 === 0) {
          throw new InvalidMessageError('garbage')
        }
      }
      await done(world)
      expect(await world.texts()).to.deep.equal(texts)
    })

    it('does not take the end of one for that of another one that has more', async () => {
      const world = new World(2)
      send(world, 10)
      const inner = world.store()
      let calls = 0
      const store: ResumeStore = {
        ...inner,
        async *queryPages(criteria, options) {
          if (++calls > 2) {
            throw new ConnectionError('gone')
          }
          for await (const page of inner.queryPages(criteria, options)) {
            yield calls === 1 ? { ...page, completeness: 'unverifiable' } : page
            if (calls === 1) {
              return
            }
            throw new ConnectionError('gone')
          }
        }
      }
      const resume = createResume({ ...world.components(), store }, world.init())
      expect(await resume.run()).to.include({ status: 'failed' })
    })

    it('does not begin anew again and again where only one node could go on', async () => {
      const world = new World(2)
      send(world, 10)
      let calls = 0
      const inner = world.store()
      const store: ResumeStore = {
        ...inner,
        async *queryPages(criteria, options) {
          expect(++calls).to.be.below(10)
          if (options.peerId === 'peer-1') {
            throw new UnsupportedError('it cannot go on there')
          }
          for await (const page of inner.queryPages(criteria, options)) {
            yield page
            throw new ConnectionError('gone')
          }
        }
      }
      const resume = createResume({ ...world.components(), store }, world.init())
      expect(await resume.run()).to.have.nested.property('error.code', 'ERR_NO_USABLE_PEER')
    })

    it('asks nobody else where the node is closed', async () => {
      const world = new World(2)
      let calls = 0
      const store: ResumeStore = {
        ...world.store(),
        // biome-ignore lint/correctness/useYield: it fails first
        async *queryPages() {
          calls++
          throw new ClosedError()
        }
      }
      const resume = createResume({ ...world.components(), store }, world.init())
      expect(await resume.run()).to.have.nested.property('error.code', 'ERR_CLOSED')
      expect(calls).to.equal(1)
    })

    it('tells that all fail; the mark stays, and what came is kept and gone on from', async () => {
      const world = new World(2)
      await done(world)
      world.nowMs += HOUR_MS
      const texts = send(world, 10)
      let requests = 0
      world.onRequest = () => {
        if (++requests > 2) {
          throw new InvalidMessageError('garbage')
        }
      }
      const resume = createResume(world.components(), world.init())
      const result = await resume.run()
      if (result.status !== 'failed' || result.error.code !== 'ERR_NO_USABLE_PEER') {
        throw new Error('another result was expected')
      }
      expect(result).to.include({ fetched: 6, added: 6 })
      expect(result.error).to.have.property('failures').that.has.length(2)
      expect(await mark(world)).to.equal(at(START_MS))
      expect(await world.texts()).to.deep.equal(texts.slice(0, 6))
      world.onRequest = () => undefined
      expect(await resume.run()).to.include({ status: 'done', fetched: 4 + 10, added: 4 })
      expect(await world.texts()).to.deep.equal(texts)
    })

    it('tells that there is none', async () => {
      const world = new World()
      const node = { servicePeers: { candidates: () => [] } }
      const result = await createResume({ ...world.components(), node }, world.init()).run()
      expect(result).to.have.nested.property('error.code', 'ERR_NO_USABLE_PEER')
      expect(await mark(world)).to.equal(undefined)
    })

    it('is done where a node has nothing', async () => {
      const world = new World()
      expect(await done(world)).to.include({ fetched: 0, added: 0, completeness: 'complete' })
      expect(await mark(world)).to.equal(at(START_MS))
    })

    it('lets the store client choose where it knows no nodes', async () => {
      const world = new World(2)
      world.faults = ['garbage']
      const texts = send(world, 4)
      await done(world, {}, { node: undefined })
      expect(await world.texts()).to.deep.equal(texts)
    })

    it('asks the others where a node cannot say that it is at the end, and says so if none can', async () => {
      const world = new World()
      const archives = [new Archive(), new Archive()]
      const peers = new FakePeers(
        archives.map((archive, index) => archivePeer(archive, `${index}`, [STORE_BETA2_PROTOCOL]))
      )
      const client = new StoreClient(peers, { generations: [STORE_BETA2] })
      const components = { ...world.components(), store: client, node: { servicePeers: peers } }
      const result = await createResume(components, world.init()).run()
      expect(result).to.include({ status: 'done', completeness: 'unverifiable' })
      expect(peers.requests.map(({ peerId }) => peerId)).to.include.members(['0', '1'])
    })
  })

  describe('after a crash', () => {
    it('goes on after the last page, at whichever call of the archive it was', async () => {
      for (const isStored of [false, true]) {
        for (let calls = 1; calls <= 10; calls++) {
          const world = new World()
          const texts = send(world, 10)
          const { archive } = crashing(world.archive, calls, isStored)
          const first = createResume(world.components(archive), world.init())
          await first.run().catch((error: unknown) => expect(error).to.be.instanceOf(Crash))
          const before = world.queries().length
          const stored = (await world.texts()).length
          expect(await createResume(world.components(), world.init()).run()).to.include({
            status: 'done'
          })
          expect(await world.texts()).to.deep.equal(texts)
          // The pages that were stored are not asked for again; the last 20 seconds are, once more.
          const pages = Math.ceil((10 - stored) / 3)
          expect(world.queries().length - before).to.be.at.most(pages + 4)
        }
      }
    })

    it('goes on at the node that gave the position', async () => {
      const world = new World(3)
      const texts = send(world, 10)
      const { archive } = crashing(world.archive, 3, true)
      const init = { random: () => 0.5 }
      await failure(() => createResume(world.components(archive), world.init(init)).run())
      await done(world, { random: () => 0.999 })
      expect(await world.texts()).to.deep.equal(texts)
      const asked = world.queries().map(({ peerId }) => peerId)
      expect(asked.slice(0, 4)).to.deep.equal(['peer-1', 'peer-1', 'peer-1', 'peer-1'])
    })

    it('goes on at another node where the one that gave the position is gone', async () => {
      const world = new World(2)
      const texts = send(world, 10)
      const { archive } = crashing(world.archive, 3, true)
      await failure(() => createResume(world.components(archive), world.init()).run())
      expect(await world.texts()).to.have.length(6)
      world.nowMs += MINUTE_MS
      const node = { servicePeers: { candidates: () => [{ peerId: 'peer-1' }] } }
      const result = await done(world, {}, { node })
      expect(result).to.include({ added: 4, resumedTo: at(START_MS + MINUTE_MS) })
      expect(result.resumedFrom).to.equal(at(START_MS - WINDOW_MS))
      expect(await world.texts()).to.deep.equal(texts)
    })

    it('begins anew where the stored position is not one, or is of another mode', async () => {
      for (const privacy of [undefined, 'time-range'] as const) {
        const world = new World()
        const texts = send(world, 10)
        const { archive } = crashing(world.archive, 3, true)
        const spoilt: ResumeComponents['archive'] = {
          ...archive,
          putMany: (messages, options) =>
            archive.putMany(messages, {
              ...options,
              marks: Object.fromEntries(
                Object.entries(options?.marks ?? {}).map(([key, value]) => {
                  const state = value as { leg?: object }
                  return [key, { ...state, leg: { ...state.leg, position: 'of another version' } }]
                })
              )
            })
        }
        await failure(() => createResume(world.components(spoilt), world.init()).run())
        expect(await done(world, { privacy })).to.include({ added: 4 })
        expect(await world.texts()).to.deep.equal(texts)
      }
    })

    it('begins anew where the window has left behind what was broken off', async () => {
      const world = new World()
      await done(world)
      world.nowMs += HOUR_MS
      send(world, 10)
      const { archive } = crashing(world.archive, 3, true)
      await failure(() => createResume(world.components(archive), world.init()).run())
      world.nowMs += 6 * HOUR_MS
      const gap = { from: at(START_MS), to: at(START_MS + HOUR_MS) }
      expect(await done(world)).to.deep.include({ gap, resumedFrom: gap.to })
    })

    it('begins anew where the clock was ahead when it was broken off', async () => {
      const world = new World()
      await done(world)
      world.nowMs += HOUR_MS
      const { archive } = crashing(world.archive, 3, true)
      await failure(() => createResume(world.components(archive), world.init()).run())
      world.nowMs -= 50 * MINUTE_MS
      expect(await done(world)).to.deep.include({
        resumedFrom: at(START_MS - 20_000),
        resumedTo: at(world.nowMs),
        clockSetBack: false
      })
      expect(await mark(world)).to.equal(at(world.nowMs))
    })

    it('reports the gap of the leg that was broken off', async () => {
      const world = new World()
      await done(world)
      world.nowMs += 9 * HOUR_MS
      const now = world.nowMs
      send(world, 10)
      const { archive } = crashing(world.archive, 3, true)
      await failure(() => createResume(world.components(archive), world.init()).run())
      world.nowMs += MINUTE_MS
      const gap = { from: at(START_MS), to: at(now - WINDOW_MS) }
      expect((await done(world)).gap).to.deep.equal(gap)
      expect(await createResume(world.components(), world.init()).gaps()).to.deep.equal([gap])
      // What may have healed before the gap is asked for again, the gap is not.
      expect(world.hashQueries.map(({ timeEnd }) => timeEnd)[0]).to.equal(gap.from)
    })
  })

  describe('with a clock', () => {
    it('that was set back by less than the overlap keeps the mark', async () => {
      const world = new World()
      await done(world)
      world.nowMs -= 20_000
      expect(await done(world)).to.deep.include({
        resumedFrom: at(START_MS - 40_000),
        resumedTo: at(START_MS),
        clockSetBack: false
      })
    })

    it('that was set back by more does not believe the mark and asks for the whole window', async () => {
      const world = new World()
      world.nowMs += HOUR_MS
      send(world, 3)
      await done(world)
      world.nowMs = START_MS
      world.send(-HOUR_MS, 'missed')
      expect(await done(world)).to.deep.include({
        resumedFrom: at(START_MS - WINDOW_MS),
        resumedTo: at(START_MS),
        clockSetBack: true
      })
      expect((await world.texts())[0]).to.equal('missed')
      expect(await mark(world)).to.equal(at(START_MS))
      expect(await done(world)).to.include({ clockSetBack: false })
    })

    it('that was set back reports no gap where nothing was ever received', async () => {
      const world = new World()
      await done(world)
      world.nowMs -= HOUR_MS
      expect(await done(world))
        .to.include({ clockSetBack: true })
        .and.not.to.have.property('gap')
    })

    it('that was days ahead reports a gap from what was received last', async () => {
      const world = new World()
      const last = at(START_MS - SECOND_MS)
      send(world, 3)
      await done(world)
      world.nowMs += 72 * HOUR_MS
      await done(world)
      world.nowMs = START_MS + 24 * HOUR_MS
      const { gap, clockSetBack } = await done(world)
      expect(clockSetBack).to.equal(true)
      expect(gap).to.deep.equal({ from: last, to: at(world.nowMs - WINDOW_MS) })
    })
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
