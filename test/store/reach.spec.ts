import { expect } from 'chai'
import { parallel, StoreClient } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { collect, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

/** Peers that are to be reached before they are chosen. */
class RemotePeers extends FakePeers {
  /** How many walks have asked for it. */
  reached = 0
  async reach(): Promise<void> {
    this.reached++
    await Promise.resolve()
  }
}

describe('parallel', () => {
  it('chooses no node before one was reached, in none of its walks', async () => {
    const archive = new Archive({ maxPage: 10 })
    for (let index = 0; index < 400; index++) {
      archive.add(messageAt(BigInt(1_000 + index * 10), `${index}`), PUBSUB_TOPIC)
    }
    const peers = new RemotePeers([archivePeer(archive)])
    const criteria = { contentTopics: [CONTENT_TOPIC], timeStart: 0n, timeEnd: 6_000n }
    const options = { pageLimit: 10, walker: parallel(4) }
    expect(await collect(new StoreClient(peers).query(criteria, options))).to.have.length(400)
    expect(peers.reached).to.be.above(10)
    // and what each made of its answers is noted
    expect(peers.notes).to.have.length(peers.requests.length)
  })
})
