import { expect } from 'chai'
import { InvalidMessageError } from 'waku-light/errors'
import { toHex } from 'waku-light/message'
import { StoreClient } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { hashesOf, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, hashOf, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

describe('walk, more messages of one time than a position carries, over nodes with gaps', () => {
  it('gives none of them twice', async () => {
    const all = Array.from({ length: 60 }, (_, n) => messageAt(1000n, `${n}`)).sort((a, b) =>
      toHex(hashOf(a)) < toHex(hashOf(b)) ? -1 : 1
    )
    // a has the upper half, and b the lower one
    const a = new Archive({ maxPage: 10 })
    const b = new Archive({ maxPage: 10 })
    for (const [index, message] of all.entries()) {
      ;(index < 30 ? b : a).add(message, PUBSUB_TOPIC)
    }
    let requests = 0
    const peerA = archivePeer(a, 'a')
    const peerB = archivePeer(b, 'b')
    let isDown = false
    const peers = new FakePeers([
      {
        ...peerA,
        answer: (request) => {
          if (isDown) {
            throw new InvalidMessageError('garbage')
          }
          return peerA.answer(request)
        }
      },
      {
        ...peerB,
        answer: (request) => {
          if (++requests > 2) {
            throw new InvalidMessageError('garbage')
          }
          return peerB.answer(request)
        }
      }
    ])
    const client = new StoreClient(peers)
    const criteria = { contentTopics: [CONTENT_TOPIC] }
    const hashes: string[] = []
    let position: string | undefined
    for await (const page of client.queryPages(criteria, { pageLimit: 10 })) {
      hashes.push(...hashesOf(page.messages))
      position = page.position
      if (hashes.length === 20) {
        isDown = true // b goes on
      }
      if (hashes.length === 40) {
        break
      }
    }
    isDown = false
    requests = 9
    for await (const page of client.queryPages(criteria, { pageLimit: 10, position })) {
      hashes.push(...hashesOf(page.messages))
    }
    expect(new Set(hashes).size, 'some came twice').to.equal(hashes.length)
  })
})
