import { expect } from 'chai'
import fc from 'fast-check'
import { parallel, StoreClient, type StoreProgress } from 'waku-light/store'
import { Archive, inHashOrder } from '../helpers/archive.ts'
import { hashesOf, messageAt, PROPERTY } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const BASE = 1_700_000_000_000_000_000n

/** From one message to the next, in nanoseconds: of one moment, dense, even, with pauses, or of all orders of magnitude. */
const steps = fc.oneof(
  ...[
    fc.constant(0),
    fc.nat(1),
    fc.constant(1_000_000),
    fc.oneof({ weight: 50, arbitrary: fc.nat(1_000_000) }, fc.constant(3_600_000_000_000)),
    fc.integer({ min: 0, max: 52 }).map((exponent) => 2 ** exponent)
  ].map((step) => fc.array(step, { maxLength: 300, size: 'max' }))
)

const scenario = fc.record({
  steps,
  isOpen: fc.boolean(),
  forward: fc.boolean(),
  maxPage: fc.integer({ min: 4, max: 40 }),
  walks: fc.integer({ min: 1, max: 12 }),
  /** How long each answer takes, in promises that settle before it. */
  hops: fc.array(fc.nat(200), { minLength: 1, maxLength: 12 })
})

describe(`parallel, whatever the times are (seed ${PROPERTY.seed})`, () => {
  it('gives each match once and in order, holds a page for each walk, and asks within bounds', async () => {
    const check = fc.asyncProperty(scenario, async (given) => {
      const { forward, maxPage, walks, hops } = given
      const archive = new Archive({ maxPage, isEndExclusive: true })
      let time = BASE
      for (const [index, step] of given.steps.entries()) {
        time += BigInt(step)
        archive.add(messageAt(time, `${index}`), PUBSUB_TOPIC)
      }
      const peer = archivePeer(archive)
      const peers = new FakePeers([
        {
          ...peer,
          answer: async (request) => {
            const bytes = await peer.answer(request)
            for (let hop = hops[request.index % hops.length] ?? 0; hop > 0; hop--) {
              await Promise.resolve()
            }
            return bytes
          }
        }
      ])
      let held = 0
      const found: string[] = []
      const pages = new StoreClient(peers).queryPages(
        {
          contentTopics: [CONTENT_TOPIC],
          ...(given.isOpen ? undefined : { timeStart: BASE, timeEnd: time + 1n })
        },
        {
          direction: forward ? 'forward' : 'backward',
          walker: parallel(walks),
          onProgress: (event: StoreProgress) => {
            held += event.type === 'store:page' ? event.detail.count : 0
          }
        }
      )
      for await (const { messages } of pages) {
        held -= messages.length
        expect(held).to.be.at.most(walks * maxPage)
        found.push(...(forward ? hashesOf(messages) : hashesOf(messages).reverse()))
      }
      const sign = forward ? 1 : -1
      const rows = [...archive.rows].sort((a, b) => inHashOrder(a, b) * sign)
      expect(found).to.deep.equal(rows.map(({ hash }) => hash))
      const plain = Math.max(1, Math.ceil(rows.length / maxPage))
      // twice as often, and what is cut already when that is reached
      expect(peers.requests.length).to.be.at.most(3 * (plain + walks))
    })
    await fc.assert(check, {
      seed: PROPERTY.seed,
      numRuns: 40 * PROPERTY.factor,
      endOnFailure: true
    })
  })
})
