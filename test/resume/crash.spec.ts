import { expect } from 'chai'
import { createResume, type ResumeComponents } from 'waku-light/resume'
import { failure } from '../helpers/collect.ts'
import { at, done, mark, send, WINDOW_MS } from './runs.ts'
import { Crash, crashing, HOUR_MS, MINUTE_MS, START_MS, World } from './world.ts'

describe('Resume.run, after a crash', () => {
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
