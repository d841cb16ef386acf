import { expect } from 'chai'
import { StoreClient } from 'waku-light/store'
import { STORE_BETA4_PROTOCOL } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, hashesOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, hashOf, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const messages = [1000n, 1001n, 1002n, 1003n].map((time) => messageAt(time, `${time}`))
const hashes = hashesOf(messages.map((message) => ({ messageHash: hashOf(message) })))

/** An old node that has some of the messages. */
function holding(...indexes: number[]): FakePeer {
  const archive = new Archive()
  for (const index of indexes) {
    archive.add(messages[index] as (typeof messages)[number], PUBSUB_TOPIC)
  }
  return { ...archivePeer(archive), protocols: [STORE_BETA4_PROTOCOL] }
}

describe('StoreClient.queryPages, from a position at a node that has lost the message before it', () => {
  it('goes on by time, and takes what it passed over for nothing', async () => {
    const criteria = { contentTopics: [CONTENT_TOPIC] }
    const before = new StoreClient(new FakePeers([holding(0, 1, 2)]))
    const position = (await collect(before.queryPages(criteria))).at(-1)?.position
    const peers = new FakePeers([holding(0, 1, 3)])
    const pages = await collect(new StoreClient(peers).queryPages(criteria, { position }))
    expect(pages.flatMap((page) => hashesOf(page.messages))).to.deep.equal(hashes.slice(3))
    expect(peers.requests).to.have.length(2)
    expect(peers.notes[1]).to.equal('peer: ERR_PROTOCOL_VIOLATION')
  })
})
