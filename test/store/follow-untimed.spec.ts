import { expect } from 'chai'
import { STORE_BETA4, StoreClient } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { failure, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const MS = 1_000_000n
const NOW = 1_700_000_000_000

describe('StoreClient.follow, of messages without a time', () => {
  it('gives each once, though newer ones with a time have come since', async () => {
    const archive = new Archive()
    let nowMs = NOW
    const controller = new AbortController()
    const client = new StoreClient(new FakePeers([archivePeer(archive)]), {
      now: () => nowMs,
      generations: [STORE_BETA4]
    })
    const texts: string[] = []
    let questions = 0
    archive.add(messageAt(undefined, 'timeless'), PUBSUB_TOPIC, BigInt(NOW) * MS)
    const messages = client.follow(
      { contentTopics: [CONTENT_TOPIC], timeStart: BigInt(NOW - 5_000) * MS },
      {
        intervalMs: 0.01,
        overlapMs: 1_000,
        signal: controller.signal,
        onProgress: ({ type }) => {
          if (type === 'store:caught-up') {
            nowMs += 100
            archive.add(
              messageAt(BigInt(nowMs) * MS, `${questions}`),
              PUBSUB_TOPIC,
              BigInt(nowMs) * MS
            )
            if (++questions === 8) {
              controller.abort(new Error('enough'))
            }
          }
        }
      }
    )
    await failure(async () => {
      for await (const { payload } of messages) {
        texts.push(new TextDecoder().decode(payload))
      }
    })
    expect(texts.filter((text) => text === 'timeless')).to.have.length(1)
    expect(texts).to.have.length(new Set(texts).size)
  })
})
