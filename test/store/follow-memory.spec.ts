import { expect } from 'chai'
import { StoreClient } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const MS = 1_000_000n
const NOW = 1_700_000_000_000

/** Keys of message hashes that are held in maps, by all that is said to them meanwhile. */
async function heldKeys(run: (count: () => number) => Promise<void>): Promise<void> {
  const { set, delete: remove } = Map.prototype
  let count = 0
  const isKey = (key: unknown): boolean => typeof key === 'string' && /^[0-9a-f]{64}$/.test(key)
  Map.prototype.set = function (this: Map<unknown, unknown>, key, value) {
    count += isKey(key) && !this.has(key) ? 1 : 0
    return set.call(this, key, value)
  }
  Map.prototype.delete = function (this: Map<unknown, unknown>, key) {
    const isThere = remove.call(this, key)
    count -= isKey(key) && isThere ? 1 : 0
    return isThere
  }
  try {
    await run(() => count)
  } finally {
    Object.assign(Map.prototype, { set, delete: remove })
  }
}

describe('StoreClient.follow, after a message from the future', () => {
  it('forgets what lies before its window', async () => {
    const archive = new Archive()
    const controller = new AbortController()
    let nowMs = NOW
    let nth = 0
    const add = (ms: number): void => {
      archive.add(messageAt(BigInt(ms) * MS, `${nth++}`), PUBSUB_TOPIC, BigInt(nowMs) * MS)
    }
    const client = new StoreClient(new FakePeers([archivePeer(archive)]), { now: () => nowMs })
    await heldKeys(async (count) => {
      let questions = 0
      let most = 0
      const messages = client.follow(
        { contentTopics: [CONTENT_TOPIC] },
        {
          intervalMs: 0.01,
          overlapMs: 1000,
          signal: controller.signal,
          onProgress: ({ type }) => {
            if (type === 'store:caught-up') {
              most = Math.max(most, count())
              nowMs += 1000
              add(nowMs)
              if (++questions === 60) {
                controller.abort(new Error('enough'))
              }
            }
          }
        }
      )
      add(NOW + 86_400_000)
      const texts: string[] = []
      try {
        for await (const { payload } of messages) {
          texts.push(new TextDecoder().decode(payload))
        }
      } catch (error) {
        expect(error).to.have.property('message', 'enough')
      }
      expect(texts).to.have.length(new Set(texts).size)
      expect(most).to.be.below(10)
    })
  })
})
