import { expect } from 'chai'
import { ConnectionError, hasErrorCode, InvalidMessageError } from 'waku-light/errors'
import { createResume, type ResumeProgress, type ResumeStore } from 'waku-light/resume'
import {
  fillGaps,
  readAhead,
  type SourcesPage,
  STORE_BETA4,
  StoreClient,
  sources,
  type Walker
} from 'waku-light/store'
import { failure, failureOf } from '../helpers/collect.ts'
import { at, done, mark, send } from './runs.ts'
import { crashing, HOUR_MS, MINUTE_MS, SECOND_MS, START_MS, TOPIC, World } from './world.ts'

const NEVER_MS = 1_000 * HOUR_MS
const WALKERS: Record<string, Walker<SourcesPage>> = {
  sources: sources('all'),
  fillGaps: fillGaps('all'),
  'sources, read ahead': readAhead(1, sources('all'))
}

/** Nodes each of which lacks every third message, another one each. */
function gappy(count = 12): World {
  const world = new World(3)
  sendGappy(world, count)
  return world
}

function sendGappy(world: World, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const delays = [0, 1, 2].map((node) => (index % 3 === node ? NEVER_MS : 0))
    const text = `gappy ${world.nowMs} ${index}`
    world.send((index - count) * SECOND_MS, text, TOPIC, delays)
    return text
  })
}

const textsOf = (world: World): string[] =>
  world.sent().map(({ message }) => new TextDecoder().decode(message.payload))

/** Whom the result tells of: `peer-0 complete 4`, by peer id. */
const statesOf = (result: Awaited<ReturnType<typeof done>>): string[] | undefined =>
  result.sources
    ?.map(({ peerId, state, lackedCount }) => `${peerId} ${state} ${lackedCount}`)
    .sort()

for (const [name, walker] of Object.entries(WALKERS)) {
  describe(`Resume.run with ${name}`, () => {
    it('puts what any node has, once, and tells what each lacked', async () => {
      const world = gappy()
      const result = await done(world, { walker })
      expect(result).to.include({ added: 12, completeness: 'complete', resumedTo: at(START_MS) })
      expect(statesOf(result)).to.deep.equal([
        'peer-0 complete 4',
        'peer-1 complete 4',
        'peer-2 complete 4'
      ])
      expect(await world.texts()).to.deep.equal(textsOf(world))
      expect(await mark(world)).to.equal(at(START_MS))
    })

    it('goes on without a node that fails, tells it once, and moves the mark', async () => {
      const world = gappy()
      world.onRequest = (peerId) => {
        if (peerId === 'peer-1') {
          throw new InvalidMessageError('garbage')
        }
      }
      const events: ResumeProgress[] = []
      const resume = createResume(world.components(), world.init({ walker }))
      const result = await resume.run({ onProgress: (event) => events.push(event) })
      expect(result).to.include({ status: 'done', completeness: 'complete', added: 12 })
      const failed = events.filter(({ type }) => type === 'resume:peer-failed')
      expect(failed).to.have.length(1)
      expect(failed[0]?.detail).to.have.property('peerId', 'peer-1')
      expect(result).to.have.property('sources').that.has.length(3)
      expect(await mark(world)).to.equal(at(START_MS))
    })

    it('fails with the reason at each where all fail; the mark stays, and what came is kept', async () => {
      const world = gappy(24)
      let requests = 0
      world.onRequest = () => {
        if (++requests > 12) {
          throw new InvalidMessageError('garbage')
        }
      }
      const resume = createResume(world.components(), world.init({ walker }))
      const result = await resume.run()
      if (result.status !== 'failed' || !hasErrorCode(result.error, 'ERR_NO_USABLE_PEER')) {
        throw new Error('another result was expected')
      }
      const peerIds = result.error.failures.map(({ peerId }) => peerId)
      expect([...new Set(peerIds)].sort()).to.deep.equal(['peer-0', 'peer-1', 'peer-2'])
      expect(result.added).to.be.within(1, 23)
      expect(await mark(world)).to.equal(undefined)
      expect((await world.texts()).length).to.equal(result.added)
      world.onRequest = () => undefined
      expect(await resume.run()).to.include({ status: 'done' })
      expect(await world.texts()).to.deep.equal(textsOf(world))
    })

    it('goes on after the last page after a crash, with or without several nodes', async () => {
      for (let calls = 1; calls <= 8; calls++) {
        for (const next of [walker, undefined]) {
          const world = next === undefined ? new World(3) : gappy(24)
          if (next === undefined) {
            send(world, 24)
          }
          const { archive } = crashing(world.archive, calls, calls % 2 === 0)
          const crashed = createResume(world.components(archive), world.init({ walker }))
          await failure(() => crashed.run())
          const stored = (await world.texts()).length
          expect(await done(world, { walker: next })).to.include({ added: 24 - stored })
          expect(await world.texts()).to.deep.equal(textsOf(world))
        }
      }
    })

    it('asks each node by hash for what it may have got late', async () => {
      const world = gappy(0)
      await done(world, { walker })
      world.nowMs += MINUTE_MS
      const delays = [0, 1, 2].map((node) => (node === 2 ? 0 : NEVER_MS))
      world.send(-30 * MINUTE_MS, 'healed at the last one', TOPIC, delays)
      world.onRequest = (peerId, kind) => {
        if (kind === 'hashes' && peerId === 'peer-1' && world.hashQueries.length > 0) {
          throw new InvalidMessageError('garbage')
        }
      }
      expect(await done(world, { walker })).to.include({ added: 1 })
      expect(world.hashQueries.map(({ peerId }) => peerId).sort()).to.deep.equal([
        'peer-0',
        'peer-1',
        'peer-2'
      ])
    })
  })
}

describe('Resume with several nodes', () => {
  const walker = sources('all')

  it('fills a gap from all of them', async () => {
    const world = new World(3)
    await done(world, { walker })
    world.nowMs += 90 * MINUTE_MS
    sendGappy(world, 12)
    world.nowMs = START_MS + 9 * HOUR_MS
    const { gap } = await done(world, { walker })
    const resume = createResume(world.components(), world.init({ walker }))
    const result = await resume.fillGap(gap as NonNullable<typeof gap>)
    expect(result).to.include({ status: 'done', added: 12 })
    expect(result).to.have.property('sources').that.has.length(3)
    expect(await resume.gaps()).to.deep.equal([])
  })

  it('follows all of them', async () => {
    const world = new World(3)
    const controller = new AbortController()
    let rounds = 0
    const resume = createResume(world.components(), world.init({ walker }))
    const onProgress = (event: ResumeProgress): void => {
      if (event.type === 'resume:ended') {
        world.nowMs += MINUTE_MS
        sendGappy(world, 12)
      } else if (event.type === 'resume:page' && event.detail.stage === 'tail') {
        rounds++
        controller.abort()
      }
    }
    const options = { intervalMs: 1, onProgress, signal: controller.signal }
    await failure(() => resume.follow(options))
    expect(rounds).to.equal(1)
    expect(await world.texts()).to.deep.equal(textsOf(world))
  })

  it('counts over all walks of a call', async () => {
    const world = gappy(24)
    const { archive } = crashing(world.archive, 3, true)
    const crashed = createResume(world.components(archive), world.init({ walker }))
    await failure(() => crashed.run())
    const stored = (await world.texts()).length
    world.nowMs += MINUTE_MS
    sendGappy(world, 6)
    const result = await done(world, { walker })
    expect(result.added).to.equal(24 - stored + 6)
    const lacked = result.sources?.reduce((sum, { lackedCount }) => sum + lackedCount, 0) ?? 0
    expect(lacked).to.equal(result.fetched) // one of three lacks each
    expect(statesOf(result)).to.have.length(3)
  })

  it('has nobody to ask where no generation in use can be compared, and says why', async () => {
    const world = new World(2)
    const store = new StoreClient(world.peers, { generations: [STORE_BETA4] })
    const resume = createResume({ ...world.components(), store }, world.init({ walker }))
    const result = await resume.run()
    expect(result).to.have.nested.property('error.code', 'ERR_NO_USABLE_PEER')
    expect(result).to.have.nested.property('error.failures[0].error.code', 'ERR_UNSUPPORTED')
  })

  it('passes no peer id to the store client', async () => {
    const world = new World(2)
    const peerIds: unknown[] = []
    const inner = world.store()
    const store: ResumeStore = {
      ...inner,
      queryPages: (criteria, options) => {
        peerIds.push(options.peerId)
        return inner.queryPages(criteria, options)
      }
    }
    await done(world, { walker }, { store })
    expect(peerIds).to.deep.equal([undefined])
  })

  it('refuses what is no walker', async () => {
    for (const wrong of ['all', 3, null, {}]) {
      const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
        createResume(new World().components(), { walker: wrong as never })
      )
      expect(error.parameter).to.equal('walker')
    }
  })

  it('replaces a node that fails by one that was not asked yet', async () => {
    const world = gappy()
    let requests = 0
    world.onRequest = (peerId) => {
      if (peerId === 'peer-0' && ++requests > 1) {
        throw new ConnectionError('gone')
      }
    }
    const result = await done(world, { walker: sources(2) })
    expect(result.sources?.map(({ state }) => state).sort()).to.deep.equal([
      'complete',
      'complete',
      'dropped'
    ])
  })
})
