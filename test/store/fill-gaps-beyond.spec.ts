import { expect } from 'chai'
import { toHex } from 'waku-light/message'
import { fillGaps, StoreClient } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { hashesOf, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import {
  archivePeer,
  CONTENT_TOPIC,
  entryOf,
  hashOf,
  PUBSUB_TOPIC,
  query3Peer
} from '../helpers/store-peers.ts'

describe('fillGaps, at a node that lists what was not asked for', () => {
  for (const direction of ['forward', 'backward'] as const) {
    it(`is not ended by messages of times that lie ahead, ${direction}`, async () => {
      const honest = new Archive({ maxPage: 100 })
      for (let index = 0; index < 4_000; index++) {
        honest.add(messageAt(BigInt(100_000 + index), `${index}`), PUBSUB_TOPIC)
      }
      const made = new Map<string, ReturnType<typeof messageAt>>()
      const liar = query3Peer(({ messageHashes }) => {
        if (messageHashes.length > 0) {
          const found = messageHashes
            .map((hash) => made.get(toHex(hash)))
            .filter((m) => m !== undefined)
          return { messages: found.map((message) => entryOf(message)) }
        }
        const listed = Array.from({ length: 90 }, () => {
          const nth = BigInt(made.size)
          const time = direction === 'forward' ? 10_000_000n + nth : 50_000n - nth
          const message = messageAt(time, `far ${nth}`)
          made.set(toHex(hashOf(message)), message)
          return message
        })
        return { messages: listed.map((message) => entryOf(message, { message: undefined })) }
      }, 'liar')
      const peers = new FakePeers([archivePeer(honest, 'honest'), liar])
      const options = { walker: fillGaps('all'), pageLimit: 100, direction }
      const store = new StoreClient(peers)
      const hashes: string[] = []
      for await (const page of store.queryPages({ contentTopics: [CONTENT_TOPIC] }, options)) {
        hashes.push(...hashesOf(page.messages))
      }
      expect(hashes.filter((hash) => !made.has(hash))).to.have.length(4_000)
      expect(hashes).to.have.length(new Set(hashes).size)
    })
  }
})
