import { expect } from 'chai'
import { createResume } from 'waku-light/resume'
import { done } from './runs.ts'
import { MINUTE_MS, World } from './world.ts'

describe('Resume, with a window shorter than nodes take to heal', () => {
  it('asks again for what it asked for in a gap sooner than that', async () => {
    const world = new World()
    const init = { windowMs: 10 * MINUTE_MS }
    await done(world, init)
    world.nowMs += 30 * MINUTE_MS
    world.send(-12 * MINUTE_MS, 'late', undefined, [20 * MINUTE_MS])
    const resume = createResume(world.components(), world.init(init))
    await resume.run()
    for (const gap of await resume.gaps()) {
      expect(await resume.fillGap(gap)).to.include({ status: 'done', added: 0 })
    }
    expect(await resume.gaps()).to.deep.equal([])
    for (const minutes of [5, 25, 5, 5]) {
      world.nowMs += minutes * MINUTE_MS
      await resume.run()
      for (const gap of await resume.gaps()) {
        await resume.fillGap(gap)
      }
    }
    expect(await world.texts()).to.deep.equal(['late'])
  })
})
