import { expect } from 'chai'
import { createResume, type ResumeComponents } from 'waku-light/resume'
import { StoreClient, sources } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { collect, failure, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'
import { done, send } from './runs.ts'
import { HOUR_MS, SECOND_MS, World } from './world.ts'

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) {
    await new Promise((resolve) => setTimeout(resolve))
  }
}

describe('sources, where all nodes have nothing', () => {
  it('is patient as long as no node has anything', async () => {
    const archive = new Archive()
    archive.add(messageAt(1n, 'one'), PUBSUB_TOPIC)
    const all = Promise.withResolvers<void>()
    let asked = 0
    const slow = (peerId: string) => {
      const peer = archivePeer(archive, peerId)
      return {
        ...peer,
        answer: async (request: Parameters<typeof peer.answer>[0]) => {
          if (++asked === 2) {
            setTimeout(all.resolve, 20)
          }
          await all.promise
          return await peer.answer(request)
        }
      }
    }
    const store = new StoreClient(new FakePeers([slow('one'), slow('two')]))
    const walker = sources('all', { patienceMs: 5 })
    const pages = await collect(store.queryPages({ contentTopics: [CONTENT_TOPIC] }, { walker }))
    expect(pages.at(-1)?.sources.map(({ state }) => state)).to.deep.equal(['complete', 'complete'])
  })
})

describe('Resume, where things happen twice', () => {
  it('remembers once what was filled twice', async () => {
    const world = new World()
    await done(world)
    world.nowMs += 9 * HOUR_MS
    const { gap } = await done(world)
    if (gap === undefined) {
      throw new Error('a gap was expected')
    }
    let marks: Record<string, unknown> = {}
    const archive: ResumeComponents['archive'] = {
      ...world.archive,
      putMany: async (messages, options) => {
        marks = { ...options?.marks }
        return await world.archive.putMany(messages, options)
      }
    }
    const resume = createResume(world.components(archive), world.init())
    await resume.fillGap(gap)
    await resume.fillGap(gap)
    expect(Object.values(marks)).to.deep.equal([{ filled: [gap] }])
  })

  it('does nothing twice where the archive is refused', async () => {
    const world = new World()
    let calls = 0
    const archive: ResumeComponents['archive'] = {
      ...world.archive,
      getMark: async () => {
        calls++
        throw new DOMException('not here', 'SecurityError')
      }
    }
    const locks = {
      request: async <T>(
        _name: string,
        _options: object,
        callback: (lock: unknown) => Promise<T>
      ) => await callback({})
    }
    const resume = createResume(world.components(archive), world.init({ name: 'a', locks }))
    expect(await failure(() => resume.run())).to.have.property('name', 'SecurityError')
    expect(calls).to.equal(1)
  })

  it('pulls no more from a tail than the archive takes', async () => {
    const world = new World(1, 100)
    const gate = Promise.withResolvers<void>()
    let isBlocked = false
    const archive: ResumeComponents['archive'] = {
      ...world.archive,
      putMany: async (messages, options) => {
        if (isBlocked) {
          await gate.promise
        }
        return await world.archive.putMany(messages, options)
      }
    }
    const controller = new AbortController()
    const resume = createResume(world.components(archive), world.init())
    let isTailing = false
    const following = failure(() =>
      resume.follow({
        signal: controller.signal,
        intervalMs: 0.01,
        onProgress: ({ type }) => {
          isTailing ||= type === 'resume:ended'
        }
      })
    )
    while (!isTailing) {
      await turns(1)
    }
    isBlocked = true
    world.nowMs += 2_000 * SECOND_MS
    send(world, 1_000)
    const before = world.peers.requests.length
    await turns(300)
    expect(world.peers.requests.length - before).to.be.below(6)
    isBlocked = false
    gate.resolve()
    controller.abort()
    await following
  })
})
