import { expect } from 'chai'
import { at, done, mark, send, WINDOW_MS } from './runs.ts'
import { HOUR_MS, SECOND_MS, START_MS, World } from './world.ts'

describe('Resume.run, with a clock', () => {
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
