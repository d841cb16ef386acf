import { expect } from 'chai'
import fc from 'fast-check'
import { hasErrorCode } from 'waku-light/errors'
import { toHex, toPubsubTopic } from 'waku-light/message'
import { StoreClient } from 'waku-light/store'
import { STORE_QUERY_3_PROTOCOL } from 'waku-light/wire'
import { Archive, inHashOrder } from '../helpers/archive.ts'
import { messageAt, PROPERTY } from '../helpers/collect.ts'
import { FakePeers, NETWORK } from '../helpers/fake-peers.ts'
import { FAULTS, type Fault, faultyPeer } from '../helpers/store-peers-faulty.ts'

/** Eleven of one shard, so that they take two requests, and one of another. */
const TOPICS = [
  ...Array.from({ length: 11 }, (_, index) => `/app/22/${index}/proto`),
  '/app/27/a/proto'
]

const scenario = fc.record({
  history: fc.array(
    fc.record({ topic: fc.nat(TOPICS.length - 1), time: fc.integer({ min: 1, max: 60 }) }),
    { maxLength: 80 }
  ),
  topics: fc.uniqueArray(fc.nat(TOPICS.length - 1), { minLength: 1 }),
  start: fc.integer({ min: 0, max: 30 }),
  length: fc.integer({ min: 0, max: 60 }),
  forward: fc.boolean(),
  pageLimit: fc.integer({ min: 1, max: 12 }),
  maxPage: fc.integer({ min: 1, max: 8 }),
  faults: fc.array(fc.option(fc.constantFrom(...FAULTS), { nil: undefined, freq: 3 }), {
    maxLength: 15
  }),
  breaks: fc.array(fc.nat(9), { maxLength: 6 })
})

describe(`StoreClient.queryHashes, against a model (seed ${PROPERTY.seed})`, () => {
  it('gives each match once, whatever fails and wherever it is broken off', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const archive = new Archive({ maxPage: given.maxPage, isEndExclusive: true })
        for (const [index, { topic, time }] of given.history.entries()) {
          const contentTopic = TOPICS[topic] ?? ''
          const message = messageAt(BigInt(time), `message ${index}`, contentTopic)
          archive.add(message, toPubsubTopic(contentTopic, NETWORK))
        }
        const contentTopics = given.topics.map((topic) => TOPICS[topic] ?? '')
        const timeStart = BigInt(given.start)
        const timeEnd = timeStart + BigInt(given.length)
        const expected = archive.rows
          .filter(({ message: { timestamp = 0n, contentTopic } }) => {
            return (
              contentTopics.includes(contentTopic) && timestamp >= timeStart && timestamp < timeEnd
            )
          })
          .sort(inHashOrder)
          .map(({ hash }) => hash)
        const faults: Fault[] = [...given.faults]
        const breaks = [...given.breaks]
        const peers = new FakePeers([
          faultyPeer('peer', archive, [STORE_QUERY_3_PROTOCOL], () => faults.shift())
        ])
        const client = new StoreClient(peers, { sleep: async () => undefined })
        let found: string[] = []
        let position: string | undefined
        for (let round = 0, isOver = false; !isOver; round++) {
          expect(round).to.be.below(100)
          const stopAfter = breaks.shift()
          try {
            let count = 0
            for await (const { messageHash } of client.queryHashes(
              { contentTopics, timeStart, timeEnd },
              {
                direction: given.forward ? 'forward' : 'backward',
                pageLimit: given.pageLimit,
                position
              }
            )) {
              found.push(toHex(messageHash))
              if (++count === stopAfter) {
                break
              }
            }
            isOver = count !== stopAfter || count === 0
            // Left in the middle, there is no position: from the beginning.
            found = isOver ? found : []
            position = undefined
          } catch (error) {
            if (!hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY')) {
              throw error
            }
            const isLost = hasErrorCode(error.cause, 'ERR_UNSUPPORTED')
            found = isLost ? [] : found
            position = isLost ? undefined : error.position
          }
        }
        expect(new Set(found).size).to.equal(found.length)
        expect([...found].sort()).to.deep.equal([...expected].sort())
        if (given.topics.length === 1) {
          expect(found).to.deep.equal(given.forward ? expected : expected.reverse())
        }
        expect(peers.pending).to.equal(0)
      }),
      { seed: PROPERTY.seed, numRuns: 200 * PROPERTY.factor }
    )
  })
})
