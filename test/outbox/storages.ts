import { expect } from 'chai'
import type { OutboxEntry, OutboxStorage } from 'waku-light/outbox'
import { TOPICS, text } from './world.ts'

/** An entry as an outbox makes one. */
export function draft(id: string): Omit<OutboxEntry, 'seq'> {
  return {
    id,
    revision: 0,
    state: 'queued',
    contentTopic: TOPICS[0],
    ephemeral: false,
    confirm: 'published',
    restamp: false,
    sizeBytes: 10,
    fingerprint: id,
    enqueuedAtMs: 1,
    attempts: 0,
    sent: []
  }
}

/** What every storage does. */
export function describeStorage(create: () => OutboxStorage): void {
  it('gives each entry a place, and keeps what is there under its id', async () => {
    const storage = create()
    const [one, two] = await Promise.all(
      ['one', 'two'].map((id) => storage.add(draft(id), text(id)))
    )
    expect((one?.seq ?? 0) < (two?.seq ?? 0)).to.equal(true)
    expect(await storage.add({ ...draft('one'), fingerprint: 'x' }, text('x'))).to.deep.equal(one)
    expect(await storage.entries()).to.deep.equal([one, two])
    expect(await storage.entry('two')).to.deep.equal(two)
    expect(await storage.message('one')).to.deep.equal(text('one'))
    expect(await storage.entry('three')).to.equal(undefined)
    await storage.close()
  })

  it('replaces entries in the order of the calls, keeps or drops their content', async () => {
    const storage = create()
    const entry = await storage.add(draft('one'), { ...text('one'), meta: Uint8Array.of(1) })
    const sent = {
      messageHash: new Uint8Array(32).fill(1),
      timestamp: 2n ** 60n,
      pubsubTopic: '/waku/2/rs/1/0',
      proof: new Uint8Array(0)
    }
    const changed = { ...entry, revision: 2, sent: [sent] }
    await Promise.all([storage.put({ ...entry, revision: 1 }, false), storage.put(changed, false)])
    expect(await storage.entry('one')).to.deep.equal(changed)
    expect((await storage.message('one'))?.meta).to.deep.equal(Uint8Array.of(1))
    await storage.put(changed, true)
    expect(await storage.message('one')).to.equal(undefined)
    await storage.close()
  })

  it('removes entries with their content, and can be used after close', async () => {
    const storage = create()
    for (const id of ['one', 'two', 'three']) {
      await storage.add(draft(id), text(id))
    }
    await storage.close()
    await storage.remove(['one', 'three', 'never'])
    expect((await storage.entries()).map(({ id }) => id)).to.deep.equal(['two'])
    expect(await storage.message('one')).to.equal(undefined)
    await storage.close()
    await storage.close()
  })
}
