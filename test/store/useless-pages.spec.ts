import { expect } from 'chai'
import { createMemoryArchive } from 'waku-light/archive'
import { createResume } from 'waku-light/resume'
import { fillGaps, StoreClient, sources } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { collect, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import {
  archivePeer,
  CONTENT_TOPIC,
  entryOf,
  PUBSUB_TOPIC,
  query3Peer
} from '../helpers/store-peers.ts'

/** A node whose pages hold nothing that was asked for, and never end. */
function endless() {
  let pages = 0
  return query3Peer(() => {
    if (++pages > 2_000) {
      throw new Error('it is asked for ever')
    }
    const cursor = new Uint8Array(32)
    new DataView(cursor.buffer).setUint32(0, pages)
    const foreign = messageAt(1_000n + BigInt(pages), `${pages}`, '/other/1/topic/proto')
    return { messages: [entryOf(foreign)], paginationCursor: cursor }
  }, 'endless')
}

describe('a node whose pages hold nothing that can be delivered, and never end', () => {
  const honest = new Archive()
  for (let index = 0; index < 10; index++) {
    honest.add(messageAt(BigInt(1000 + index), `${index}`), PUBSUB_TOPIC)
  }
  const peers = (): FakePeers => new FakePeers([endless(), archivePeer(honest, 'honest')])
  const criteria = { contentTopics: [CONTENT_TOPIC] }

  for (const [name, walker] of [
    ['a walk', undefined],
    ['sources', sources('all')],
    ['fillGaps', fillGaps('all')]
  ] as const) {
    it(`is left by ${name}`, async () => {
      const store = new StoreClient(peers())
      expect(await collect(store.query(criteria, { walker }))).to.have.length(10)
    })
  }

  it('is left by resume', async () => {
    const node = peers()
    const resume = createResume(
      {
        archive: createMemoryArchive(),
        store: new StoreClient(node),
        node: { servicePeers: node }
      },
      { ...criteria, windowMs: Number.POSITIVE_INFINITY, random: () => 0 }
    )
    expect(await resume.run()).to.include({ status: 'done', added: 10 })
  })
})
