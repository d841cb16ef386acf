import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { toHex } from 'waku-light/message'
import { RESUME_DEFAULTS, type ResumeComponents, type ResumeStore } from 'waku-light/resume'
import { PUBSUB_TOPIC } from '../helpers/store-peers.ts'
import { at, done, send } from './runs.ts'
import { HOUR_MS, MINUTE_MS, OTHER_TOPIC, START_MS, TOPIC, World } from './world.ts'

describe('Resume.run, what nodes got late', () => {
  it('is asked for by hash, as long as nodes heal, and only what is new is fetched', async () => {
    const world = new World()
    const texts = send(world, 10)
    world.send(-30 * MINUTE_MS, 'healed', TOPIC, [MINUTE_MS])
    await done(world)
    expect(await world.texts()).to.deep.equal(texts)
    world.nowMs += 64 * MINUTE_MS
    expect(await done(world)).to.include({ fetched: 1 + 10, added: 1 })
    expect((await world.texts())[0]).to.equal('healed')
    const [healing, overlap] = [RESUME_DEFAULTS.healingMs, RESUME_DEFAULTS.overlapMs]
    const query = { timeStart: at(START_MS - healing), timeEnd: at(START_MS - overlap) }
    expect(world.hashQueries).to.deep.equal([{ peerId: 'peer-0', ...query }])
  })

  it('is asked for again until nodes have had their time', async () => {
    const world = new World()
    await done(world)
    world.send(-MINUTE_MS, 'healed', TOPIC, [63 * MINUTE_MS])
    for (let minutes = 10; minutes <= 70; minutes += 10) {
      world.nowMs = START_MS + minutes * MINUTE_MS
      await done(world)
    }
    expect(await world.texts()).to.deep.equal(['healed'])
  })

  for (const [title, change] of [
    ['the store client cannot ask for hashes', { queryHashes: undefined }],
    ['the node does not tell them', {}]
  ] as const) {
    it(`is walked through where ${title}`, async () => {
      const world = new World()
      world.tellsHashes = false
      world.send(-30 * MINUTE_MS, 'healed', TOPIC, [MINUTE_MS])
      await done(world)
      world.nowMs += MINUTE_MS
      await done(world, {}, { store: { ...world.store(), ...change } })
      expect(await world.texts()).to.deep.equal(['healed'])
    })
  }

  it('is asked for at another node where one fails', async () => {
    const world = new World(2)
    world.send(-30 * MINUTE_MS, 'healed', TOPIC, [MINUTE_MS, MINUTE_MS])
    await done(world)
    world.nowMs += MINUTE_MS
    world.onRequest = (peerId, kind) => {
      if (peerId === 'peer-0' && kind === 'hashes') {
        throw new ConnectionError('gone')
      }
    }
    expect(await done(world)).to.include({ added: 1 })
    expect(world.hashQueries.map(({ peerId }) => peerId)).to.deep.equal(['peer-0', 'peer-1'])
  })

  it('is stored where it is of the very end, which reference nodes name too', async () => {
    const world = new World()
    await done(world)
    world.send(0, 'at the mark')
    world.nowMs += 9 * HOUR_MS
    expect((await done(world)).gap?.from).to.equal(at(START_MS))
    expect(await world.texts()).to.deep.equal(['at the mark'])
  })

  it('is no more than was asked for, whatever a node names', async () => {
    const world = new World()
    await done(world)
    world.nowMs += MINUTE_MS
    const foreign = world.send(-30 * MINUTE_MS, 'foreign', OTHER_TOPIC)
    const old = world.send(-5 * HOUR_MS, 'old')
    const hashes = [foreign.hash, old.hash, 'ab'.repeat(32)].map((hash) => ({
      messageHash: Uint8Array.from(hash.match(/../g) ?? [], (two) => parseInt(two, 16))
    }))
    const store = {
      ...world.store(),
      async *queryHashes() {
        yield* hashes
      }
    }
    expect(await done(world, {}, { store })).to.include({ fetched: 2, added: 0, missing: 3 })
    expect(await world.texts()).to.deep.equal([])
    const init = { contentTopics: undefined, pubsubTopic: PUBSUB_TOPIC }
    await done(world, init, { store })
    world.nowMs += MINUTE_MS
    expect(await done(world, init, { store })).to.include({ missing: 2, added: 0 })
    expect(await world.texts()).to.deep.equal(['old'])
  })

  it('is not sent again: hashes alone pass where nothing is new', async () => {
    const world = new World(1, 100)
    send(world, 60)
    world.send(0, 'x'.repeat(100))
    world.nowMs += MINUTE_MS
    await done(world)
    world.nowMs += MINUTE_MS
    const { hashQueries } = world
    const byHash = await done(world)
    expect(byHash).to.include({ fetched: 0, added: 0, missing: 0 })
    expect(hashQueries).to.have.length(1)
    world.nowMs += MINUTE_MS
    const inFull = await done(world, {}, { store: { ...world.store(), queryHashes: undefined } })
    expect(inFull).to.include({ fetched: 61, added: 0 })
    expect(byHash.bytes).to.be.below(inFull.bytes / 2)
  })

  it('is asked for at another node where one names hashes without end', async () => {
    for (const [title, hashAt] of [
      ['that it made up', (index: number) => index],
      ['again and again', (index: number) => index % 3_000]
    ] as const) {
      const world = new World(2)
      await done(world)
      world.nowMs += MINUTE_MS
      const healed = world.send(-30 * MINUTE_MS, 'healed')
      let named = 0
      const store: ResumeStore = {
        ...world.store(),
        async *queryHashes(criteria, options) {
          if (options.peerId === 'peer-1') {
            yield* world.client.queryHashes(criteria, options)
            return
          }
          for (; ; named++) {
            expect(named, title).to.be.below(10_000)
            const messageHash = new Uint8Array(32)
            new DataView(messageHash.buffer).setUint32(0, hashAt(named))
            yield { messageHash }
          }
        },
        // What is named twice is in the archive, as far as the node that names it can be believed.
        lookup: (hashes, options) => world.client.lookup(hashes, options)
      }
      const archive: ResumeComponents['archive'] = {
        ...world.archive,
        has: async (hashes, options) =>
          title === 'that it made up'
            ? await world.archive.has(hashes, options)
            : hashes.map((hash) => toHex(hash) !== healed.hash)
      }
      expect(await done(world, {}, { store, archive })).to.include({ added: 1 })
      expect(await world.texts()).to.deep.equal(['healed'])
    }
  })
})
