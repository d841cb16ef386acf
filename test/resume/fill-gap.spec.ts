import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { createResume, type ResumeComponents } from 'waku-light/resume'
import { failure, failureOf } from '../helpers/collect.ts'
import { at, done, mark, send } from './runs.ts'
import { crashing, HOUR_MS, MINUTE_MS, START_MS, World } from './world.ts'

describe('Resume.fillGap', () => {
  /** A world in which nobody was there for nine hours. */
  async function absence(): Promise<{ world: World; gap: { from: bigint; to: bigint } }> {
    const world = new World()
    await done(world)
    world.nowMs += 90 * MINUTE_MS
    send(world, 10)
    world.nowMs = START_MS + 9 * HOUR_MS
    const { gap } = await done(world)
    if (gap === undefined) {
      throw new Error('a gap was expected')
    }
    return { world, gap }
  }

  it('fetches what lies in a gap, goes on after a crash, and forgets the gap', async () => {
    for (let calls = 1; calls <= 6; calls++) {
      const { world, gap } = await absence()
      const { archive } = crashing(world.archive, calls, calls % 2 === 0)
      await failure(() => createResume(world.components(archive), world.init()).fillGap(gap))
      const resume = createResume(world.components(), world.init())
      const stored = (await world.texts()).length
      const result = await resume.fillGap(gap)
      expect(result).to.include({ status: 'done', resumedFrom: gap.from, resumedTo: gap.to })
      expect(result).to.include({ fetched: 10 - stored, added: 10 - stored })
      expect(await world.texts()).to.deep.equal(
        world.sent().map(({ message }) => new TextDecoder().decode(message.payload))
      )
      expect(await resume.gaps()).to.deep.equal([])
      expect(await mark(world)).to.equal(at(world.nowMs))
    }
  })

  it('leaves what it was not asked for', async () => {
    const { world, gap } = await absence()
    const resume = createResume(world.components(), world.init())
    const [a, b] = [gap.from + 10n, gap.from + 20n]
    await resume.fillGap({ from: a, to: b })
    const left = [
      { from: gap.from, to: a },
      { from: b, to: gap.to }
    ]
    expect(await resume.gaps()).to.deep.equal(left)
    await done(world)
    expect(await resume.gaps()).to.deep.equal(left)
    await resume.fillGap({ from: new Date(0), to: b })
    expect(await resume.gaps()).to.deep.equal(left.slice(1))
    world.nowMs += 9 * HOUR_MS
    await done(world)
    expect(await resume.gaps()).to.have.length(2)
    await resume.fillGap(gap)
    expect(await resume.gaps()).to.have.length(1)
  })

  it('remembers no more than it has to', async () => {
    const { world, gap } = await absence()
    const marks: Record<string, unknown> = {}
    const archive: ResumeComponents['archive'] = {
      ...world.archive,
      putMany: async (messages, options) => {
        Object.assign(marks, options?.marks)
        return await world.archive.putMany(messages, options)
      }
    }
    const resume = createResume(world.components(archive), world.init())
    await resume.fillGap({ from: 0n, to: gap.to + 1n })
    expect(Object.values(marks)).to.deep.equal([{ filled: [gap] }])
    await resume.run()
    expect(Object.values(marks)).to.have.length(2)
    expect(Object.values(marks)[1]).to.deep.include({ gaps: [] })
    await resume.fillGap({ from: 0n, to: 1n })
    expect(Object.values(marks)[0]).to.deep.equal({ filled: [] })
  })

  it('keeps a gap where all nodes fail', async () => {
    const { world, gap } = await absence()
    world.onRequest = () => {
      throw new ConnectionError('gone')
    }
    const resume = createResume(world.components(), world.init())
    expect(await resume.fillGap(gap)).to.have.nested.property('error.code', 'ERR_NO_USABLE_PEER')
    expect(await resume.gaps()).to.deep.equal([gap])
  })

  it('rejects a gap that is none', async () => {
    const resume = createResume(new World().components())
    for (const gap of [undefined, {}, { from: 1n, to: 1n }, { from: 1, to: 2 }]) {
      await failureOf('ERR_INVALID_ARGUMENT', () => resume.fillGap(gap as never))
    }
  })
})
