import { expect } from 'chai'
import type { Archive } from 'waku-light/archive'
import { createResume } from 'waku-light/resume'
import { Databases } from '../archive/databases.ts'
import { collect, failure } from '../helpers/collect.ts'
import { crashing, HOUR_MS, MINUTE_MS, MS, START_MS, TOPIC, World } from './world.ts'

const texts = async (archive: Archive): Promise<string[]> =>
  (await collect(archive.walk())).map(({ payload }) => new TextDecoder().decode(payload))

describe('createResume over IndexedDB', () => {
  const databases = new Databases()

  afterEach(async () => {
    await databases.clear()
  })

  it('goes on after a crash at any call of the archive, in another session, with nothing lost or doubled', async () => {
    for (const isStored of [false, true]) {
      for (let calls = 1; calls <= 10; calls++) {
        const name = databases.name()
        const world = new World()
        const sent = Array.from({ length: 10 }, (_, index) => `message ${index}`)
        sent.forEach((text, index) => {
          world.send((index - 10) * 1000, text)
        })
        const first = await databases.archive(name)
        const { archive } = crashing(first, calls, isStored)
        await createResume(world.components(archive), world.init())
          .run()
          .catch(() => undefined)
        await first.close()
        world.nowMs += MINUTE_MS
        const second = await databases.archive(name)
        const resume = createResume(world.components(second), world.init())
        expect(await resume.run()).to.include({ status: 'done' })
        expect(await texts(second)).to.deep.equal(sent)
        expect(await resume.coveredUntil()).to.equal(BigInt(world.nowMs) * MS)
        await second.close()
      }
    }
  })

  it('keeps its gaps from one session to the next', async () => {
    const name = databases.name()
    const world = new World()
    const first = await databases.archive(name)
    await createResume(world.components(first), world.init()).run()
    world.nowMs += HOUR_MS
    world.send(0, 'missed')
    world.nowMs += 9 * HOUR_MS
    await createResume(world.components(first), world.init()).run()
    await first.close()
    const second = await databases.archive(name)
    const resume = createResume(world.components(second), world.init())
    const gap = { from: BigInt(START_MS) * MS, to: BigInt(START_MS + 4 * HOUR_MS) * MS }
    expect(await resume.gaps()).to.deep.equal([gap])
    expect(await resume.fillGap(gap)).to.include({ status: 'done', added: 1 })
    expect(await resume.gaps()).to.deep.equal([])
    expect(await texts(second)).to.deep.equal(['missed'])
  })

  it('resumes in one of two tabs; the other one is told of what is added', async () => {
    const name = databases.name()
    const world = new World()
    world.send(-HOUR_MS, 'one')
    const [first, second] = [await databases.archive(name), await databases.archive(name)]
    const told = new Promise<string>((resolve) =>
      second.subscribe(([message]) => resolve(new TextDecoder().decode(message?.payload)))
    )
    const init = world.init({ name, contentTopics: [TOPIC] })
    const results = await Promise.all([
      createResume(world.components(first), init).run(),
      createResume(world.components(second), init).run()
    ])
    expect(results.map(({ status }) => status).sort()).to.deep.equal(['busy', 'done'])
    if (results[0]?.status === 'done') {
      expect(await told).to.equal('one')
    }
    expect(await texts(second)).to.deep.equal(['one'])
  })

  it('tells that the database is gone', async () => {
    const name = databases.name()
    const world = new World()
    const archive = await databases.archive(name)
    const resume = createResume(world.components(archive), world.init())
    const following = failure(() => resume.follow({ intervalMs: 1 }))
    indexedDB.deleteDatabase(name)
    expect(await following).to.have.property('code', 'ERR_STORAGE')
    expect(await resume.run()).to.have.nested.property('error.code', 'ERR_STORAGE')
  })
})
