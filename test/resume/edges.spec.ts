import { expect } from 'chai'
import { createResume, type ResumeComponents, type ResumeStore } from 'waku-light/resume'
import { failure } from '../helpers/collect.ts'
import { at, done, send } from './runs.ts'
import { crashing, HOUR_MS, MINUTE_MS, SECOND_MS, START_MS, World } from './world.ts'

describe('Resume, at the edges', () => {
  it('finishes a walk that came to its end, be it that the window has passed it since', async () => {
    const world = new World()
    await done(world)
    world.nowMs += HOUR_MS
    send(world, 3)
    const walkedUntil = at(world.nowMs)
    const store: ResumeStore = {
      ...world.store(),
      queryHashes: () => {
        throw new Error('the page is closed')
      }
    }
    await failure(() => createResume({ ...world.components(), store }, world.init()).run())
    world.nowMs += 9 * HOUR_MS
    const { gap } = await done(world)
    expect(gap).to.deep.equal({ from: walkedUntil, to: at(world.nowMs - 6 * HOUR_MS) })
  })

  it('says that no node could tell the end, of what was broken off too', async () => {
    const world = new World()
    send(world, 4)
    const { archive } = crashing(world.archive, 2, true)
    await failure(() => createResume(world.components(archive), world.init()).run())
    world.nowMs += MINUTE_MS
    const inner = world.store()
    let calls = 0
    const store: ResumeStore = {
      ...inner,
      async *queryPages(criteria, options) {
        const isFirst = ++calls === 1
        for await (const page of inner.queryPages(criteria, options)) {
          yield isFirst && page.completeness === 'complete'
            ? { ...page, completeness: 'unverifiable' }
            : page
        }
      }
    }
    const result = await done(world, {}, { store })
    expect(calls).to.equal(2)
    expect(result.completeness).to.equal('unverifiable')
  })

  it('asks again for nothing that lies before the window of the first time', async () => {
    const world = new World()
    const init = { windowMs: 10 * MINUTE_MS }
    await done(world, init)
    world.nowMs += MINUTE_MS
    await done(world, init)
    world.nowMs += MINUTE_MS
    await done(world, init)
    const starts = world.hashQueries.map(({ timeStart }) => timeStart)
    expect(starts).to.deep.equal(Array(2).fill(at(START_MS - 10 * MINUTE_MS)))
  })

  it('writes no mark for each question of a quiet tail', async () => {
    const world = new World()
    let puts = 0
    const archive: ResumeComponents['archive'] = {
      ...world.archive,
      putMany: (messages, options) => {
        puts++
        return world.archive.putMany(messages, options)
      }
    }
    const controller = new AbortController()
    let questions = 0
    let before = 0
    world.onAnswer = () => {
      questions++
      before = questions === 3 ? puts : before
      world.nowMs += SECOND_MS
      if (questions === 13) {
        controller.abort(new Error('enough'))
      }
    }
    const resume = createResume(world.components(archive), world.init())
    await failure(() => resume.follow({ signal: controller.signal, intervalMs: 0.01 }))
    expect(questions).to.equal(13)
    expect(puts - before).to.equal(0)
  })

  it('tells gaps oldest first and each time once, after the clock was set', async () => {
    const world = new World()
    await done(world)
    world.send(HOUR_MS, 'the last one that was received')
    world.nowMs = START_MS + HOUR_MS
    await done(world)
    for (const hours of [11, 110, 30]) {
      world.nowMs = START_MS + hours * HOUR_MS
      await done(world)
    }
    const gaps = await createResume(world.components(), world.init()).gaps()
    for (const [index, { from, to }] of gaps.entries()) {
      expect(from < to).to.equal(true)
      expect(
        gaps.slice(index + 1).every((later) => later.from >= to),
        `${index}`
      ).to.equal(true)
    }
  })
})
