import { lpStream } from '@libp2p/utils'
import { expect } from 'chai'
import fc from 'fast-check'
import { isWakuLightError } from 'waku-light/errors'
import { toHex } from 'waku-light/message'
import { RECONCILIATION_PROTOCOL, TRANSFER_PROTOCOL } from 'waku-light/wire'
import { messageHash } from '../../src/message/message-hash.ts'
import type { SyncProgress } from '../../src/sync/index.ts'
import { encodeSyncPayload } from '../../src/wire/sync.ts'
import { encodeTransfer } from '../../src/wire/sync-transfer.ts'
import { closeSyncs, makeMessages, NOW, startSync } from './fixtures.ts'
import { MemoryNode } from './memory-network.ts'
import { seed } from './seed.ts'
import { PUBSUB_TOPIC } from './twin.ts'

const START = NOW - 3_620_000_000_000n
const END = NOW - 20_000_000_000n

describe(`createSync, properties, FC_SEED=${seed}`, () => {
  afterEach(closeSyncs)

  function pair(): [MemoryNode, MemoryNode] {
    const nodes: [MemoryNode, MemoryNode] = [new MemoryNode('ours'), new MemoryNode('theirs')]
    nodes[0].connect(nodes[1])
    return nodes
  }

  it('leaves both archives with the union, whoever has what', async () => {
    const place = fc.record({
      side: fc.constantFrom('a', 'b', 'both'),
      secondsAgo: fc.integer({ min: 30, max: 3_500 })
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(place, { maxLength: 300 }),
        fc.constantFrom<'topics' | 'shards'>('topics', 'shards'),
        async (places, layout) => {
          const [a, b] = pair()
          const messages = places.map(({ side, secondsAgo }) => ({
            side,
            message: makeMessages(1, { timestamp: NOW - BigInt(secondsAgo) * 1_000_000_000n })[0]!
          }))
          const of = (side: string) =>
            messages.filter((each) => each.side !== side).map(({ message }) => message)
          const pubsubTopics = [PUBSUB_TOPIC]
          const ours = await startSync(a, of('b'), { pubsubTopics })
          const theirs = await startSync(b, of('a'), { pubsubTopics, serve: true })
          if (layout === 'shards') {
            refuseFirst(b)
          }
          const served = Promise.withResolvers<SyncProgress['detail']>()
          theirs.sync.onEvent(({ type, detail }) => {
            if (type === 'sync:end') {
              served.resolve(detail)
            }
          })
          const { missing, unsent } = await ours.sync.syncNow()
          await served.promise
          expect({ missing, unsent }).to.deep.equal({ missing: 0, unsent: 0 })
          for (const { archive, sync } of [ours, theirs]) {
            expect(await archive.count()).to.equal(places.length)
            expect(sync.indexSize).to.equal(places.length)
          }
        }
      ),
      { seed, numRuns: 25 }
    )
  }).timeout(60_000)

  it('ends with a result or a typed error, and stores nothing false, whatever a peer sends', async () => {
    const change = fc.record({
      at: fc.nat(),
      value: fc.nat({ max: 255 }),
      kind: fc.constantFrom('set', 'cut', 'insert')
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (payloadChanges, transferChanges) => {
          const [a, b] = pair()
          const [message] = makeMessages(1)
          const { timestamp = 0n, messageHash: hash } = message!
          const answer = encodeSyncPayload({
            scope: { layout: 'topics', pubsubTopics: [], contentTopics: [] },
            ranges: [
              {
                type: 'item-set',
                lower: START,
                upper: END,
                items: [{ timestamp, hash }],
                reconciled: true
              }
            ]
          })
          const frame = encodeTransfer({ pubsubTopic: PUBSUB_TOPIC, message: message! })
          b.script(RECONCILIATION_PROTOCOL, async (frames) => {
            await frames.read()
            await frames.write(mutate(answer, payloadChanges))
            const transfer = lpStream(await b.open(a, TRANSFER_PROTOCOL))
            await transfer.write(mutate(frame, transferChanges))
          })
          const ours = await startSync(a, [], { sleep: async () => undefined })
          const outcome: unknown = await ours.sync
            .syncNow({ peer: 'theirs' })
            .catch((e: unknown) => e)
          expect(
            !(outcome instanceof Error) || isWakuLightError(outcome),
            String(outcome)
          ).to.equal(true)
          for await (const stored of ours.archive.walk()) {
            const own = messageHash(stored.pubsubTopic, stored)
            expect(toHex(stored.messageHash)).to.equal(toHex(own))
          }
          await ours.sync.close()
        }
      ),
      { seed, numRuns: 200 }
    )
  }).timeout(60_000)
})

/** Closes the first stream of reconciliation without an answer, as a peer does that knows another layout. */
function refuseFirst(node: MemoryNode): void {
  const serve = node.handlers.get(RECONCILIATION_PROTOCOL)
  let isFirst = true
  node.handlers.set(RECONCILIATION_PROTOCOL, async (stream, connection) => {
    if (isFirst) {
      isFirst = false
      await stream.close()
    } else {
      await serve?.(stream, connection)
    }
  })
}

function mutate(
  bytes: Uint8Array,
  changes: readonly { at: number; value: number; kind: string }[]
): Uint8Array {
  let mutated = [...bytes]
  for (const { at, value, kind } of changes) {
    const place = at % (mutated.length + 1)
    mutated =
      kind === 'cut'
        ? mutated.slice(0, place)
        : [...mutated.slice(0, place), value, ...mutated.slice(place + (kind === 'set' ? 1 : 0))]
  }
  return Uint8Array.from(mutated)
}
