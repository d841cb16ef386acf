import { expect } from 'chai'
import {
  ClosedError,
  ConnectionError,
  InvalidMessageError,
  UnsupportedError
} from 'waku-light/errors'
import { createResume, type ResumeStore } from 'waku-light/resume'
import { StoreClient } from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import { STORE_BETA2_PROTOCOL } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer } from '../helpers/store-peers.ts'
import { at, done, mark, send } from './runs.ts'
import { HOUR_MS, START_MS, World } from './world.ts'

describe('Resume.run, at nodes that fail', () => {
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
