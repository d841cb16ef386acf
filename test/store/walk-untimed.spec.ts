import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { StoreClient } from 'waku-light/store'
import { STORE_BETA4_PROTOCOL } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, hashesOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, hashOf, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

describe('StoreClient.query, of messages without a time that come again at another node', () => {
  it('passes them over', async () => {
    const untimed = messageAt(undefined, 'timeless')
    const timed = [1000n, 1001n, 1002n].map((time) => messageAt(time, `at ${time}`))
    const peers = ['a', 'b'].map((peerId): FakePeer => {
      const archive = new Archive()
      archive.add(untimed, PUBSUB_TOPIC, 1001n)
      for (const message of timed) {
        archive.add(message, PUBSUB_TOPIC)
      }
      return { ...archivePeer(archive, peerId), protocols: [STORE_BETA4_PROTOCOL] }
    })
    const [first, second] = peers as [FakePeer, FakePeer]
    let requests = 0
    const breaking: FakePeer = {
      ...first,
      answer: (request) => {
        if (++requests > 1) {
          throw new ConnectionError('broken')
        }
        return first.answer(request)
      }
    }
    const client = new StoreClient(new FakePeers([breaking, second]))
    const criteria = { contentTopics: [CONTENT_TOPIC] }
    const messages = await collect(client.query(criteria, { pageLimit: 3 }))
    expect(hashesOf(messages).sort()).to.deep.equal(
      hashesOf([untimed, ...timed].map((message) => ({ messageHash: hashOf(message) }))).sort()
    )
    expect(requests).to.equal(3) // once more where the connection broke
  })
})
