import { expect } from 'chai'
import { createResume, type HistoryGap } from 'waku-light/resume'
import { done, send } from './runs.ts'
import { HOUR_MS, World } from './world.ts'

describe('Resume.fillGap, of a gap that a call under way has told', () => {
  it('is remembered', async () => {
    const world = new World()
    await done(world)
    world.nowMs += HOUR_MS
    send(world, 3)
    world.nowMs += 9 * HOUR_MS
    send(world, 4)
    const resume = createResume(world.components(), world.init())
    let gap: HistoryGap | undefined
    let filling: Promise<unknown> | undefined
    const store = world.store()
    const slow = createResume(
      {
        ...world.components(),
        store: {
          ...store,
          async *queryPages(criteria, options) {
            for await (const page of store.queryPages(criteria, options)) {
              yield page
              await filling
            }
          }
        }
      },
      world.init()
    )
    const result = await slow.run({
      onProgress: (event) => {
        if (event.type === 'resume:started') {
          gap = event.detail.gap
        } else if (event.type === 'resume:page' && gap !== undefined) {
          filling ??= resume.fillGap(gap)
        }
      }
    })
    expect(await filling).to.include({ status: 'done', added: 3 })
    expect(result).to.include({ status: 'done', added: 4 })
    expect(await resume.gaps()).to.deep.equal([])
  })
})
