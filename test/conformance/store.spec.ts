import { expect } from 'chai'
import { type PushResult } from 'waku-light/light-push'
import { toHex } from 'waku-light/message'
import {
  STORE_BETA4,
  STORE_QUERY_3,
  StoreClient,
  type StoredMessage,
  type StoreGeneration,
  type WalkOptions
} from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import { compareBytes } from '../../src/lib/bytes.ts'
import { type Context, freshTopic, openContext, publish, speaks } from './context.ts'

const COUNT = 25

describe('conformance: store', () => {
  const topic = freshTopic()
  const otherTopic = freshTopic()
  /** Nodes keep what is of the last 20 s: it is now when the messages are pushed. */
  let base: bigint
  let context: Context
  let results: PushResult[]

  before(async function () {
    this.timeout(60_000)
    context = await openContext()
    base = BigInt(Date.now()) * 1_000_000n
    // Five messages to a timestamp, so that the order needs more than the time.
    results = await publish(
      context,
      Array.from({ length: COUNT }, (_, index) => ({
        contentTopic: topic,
        payload: Uint8Array.of(index),
        meta: Uint8Array.of(index, 1),
        timestamp: base + BigInt(Math.floor(index / 5))
      }))
    )
    await publish(context, [
      { contentTopic: otherTopic, payload: Uint8Array.of(200), timestamp: base }
    ])
  })

  after(async () => {
    await context.close()
  })

  for (const generation of [STORE_QUERY_3, STORE_BETA4, STORE_BETA2]) {
    describe(generation.protocol, () => {
      let store: StoreClient

      before(async function () {
        if (!(await speaks(context.reader, generation))) {
          this.skip()
        }
        store = new StoreClient(context.reader, { generations: [generation] })
      })

      for (const direction of ['forward', 'backward'] as const) {
        it(`delivers each match once and in order, ${direction}`, async () => {
          const pages = await collect(store, [topic], { direction, pageLimit: 10 })
          expect(pages.map(({ messages }) => messages.length)).to.include.ordered.members([
            10, 10, 5
          ])
          expect(pages.flatMap(({ rejected }) => rejected)).to.deep.equal([])
          for (const { messages } of pages) {
            expectAscending(messages, generation)
          }
          const walked = direction === 'forward' ? pages : [...pages].reverse()
          const all = walked.flatMap(({ messages }) => messages)
          expectAscending(all, generation)
          expect(all.map(({ messageHash }) => toHex(messageHash))).to.have.members(hashes(results))
        })

        it(`goes on from a stored position, ${direction}`, async () => {
          const criteria = { contentTopics: [topic] }
          const pages = store.queryPages(criteria, { direction, pageLimit: 7 })
          const first = await pages.next()
          await pages.return(undefined)
          const { position, messages } = first.value ?? expect.fail('no first page')
          const rest: StoredMessage[] = []
          for await (const message of store.query(criteria, { direction, position })) {
            rest.push(message)
          }
          expect(
            [...messages, ...rest].map(({ messageHash }) => toHex(messageHash))
          ).to.have.members(hashes(results))
          expect(rest.length).to.equal(COUNT - messages.length)
        })
      }

      it('filters by content topic', async () => {
        const pages = await collect(store, [otherTopic])
        expect(
          pages.flatMap(({ messages }) => messages.map(({ payload }) => payload[0]))
        ).to.deep.equal([200])
      })

      it('takes more than ten content topics', async () => {
        const topics = [topic, otherTopic, ...Array.from({ length: 12 }, () => freshTopic())]
        const pages = await collect(store, topics, { pageLimit: 20 })
        expect(pages.flatMap(({ messages }) => messages)).to.have.lengthOf(COUNT + 1)
      })

      it('ends at once where nothing matches', async () => {
        const pages = await collect(store, [freshTopic()])
        expect(pages.map(({ messages }) => messages.length)).to.deep.equal([0])
      })

      it('takes the start of a time range in, and leaves its end out', async () => {
        const criteria = { contentTopics: [topic], timeStart: base + 1n, timeEnd: base + 3n }
        const found: (bigint | undefined)[] = []
        for await (const { timestamp } of store.query(criteria)) {
          found.push(timestamp)
        }
        expect(found.sort()).to.deep.equal([
          ...Array(5).fill(base + 1n),
          ...Array(5).fill(base + 2n)
        ])
      })

      it('keeps what a message carries', async () => {
        const [message] = await store.last({ contentTopics: [otherTopic] }, 1)
        expect(message).to.include({ contentTopic: otherTopic, timestamp: base })
      })

      it('states a page that has no more as complete, or says that it cannot tell', async () => {
        const pages = await collect(store, [topic])
        const expected = generation === STORE_BETA2 ? 'unverifiable' : 'complete'
        expect(pages.at(-1)?.completeness).to.equal(expected)
      })
    })
  }

  describe('look-up by hash', () => {
    let store: StoreClient

    before(async function () {
      if (!(await speaks(context.reader, STORE_QUERY_3))) {
        this.skip()
      }
      store = new StoreClient(context.reader, { generations: [STORE_QUERY_3] })
    })

    it('finds messages by their hashes', async () => {
      const found: StoredMessage[] = []
      for await (const message of store.lookup(known(results))) {
        found.push(message)
      }
      expect(found.map(({ messageHash }) => toHex(messageHash))).to.have.members(hashes(results))
      expect(found.every(({ meta, payload }) => meta?.[0] === payload[0])).to.equal(true)
    })

    it('tells what is present and what is not, for more hashes than one request holds', async () => {
      const absent = Array.from({ length: 150 }, () => crypto.getRandomValues(new Uint8Array(32)))
      const present = await store.has([...absent, ...known(results)])
      expect(present).to.deep.equal([...absent.map(() => false), ...results.map(() => true)])
    })

    it('refuses an unknown cursor', async () => {
      const query = {
        contentTopics: [],
        messageHashes: [],
        forward: true,
        limit: 10,
        includeData: true,
        cursor: crypto.getRandomValues(new Uint8Array(32))
      }
      const [peer] = context.reader.servicePeers.candidates()
      const reply = await context.reader.servicePeers.request(
        peer ?? expect.fail('no peer'),
        {
          protocols: [STORE_QUERY_3.protocol],
          encode: () => STORE_QUERY_3.encode(query, 'id'),
          maxResponseBytes: 10_000
        },
        AbortSignal.timeout(5_000)
      )
      expect(() =>
        STORE_QUERY_3.decode(reply.bytes, { query, requestId: 'id', peerId: reply.peerId })
      )
        .to.throw()
        .with.property('code', 'ERR_REMOTE_STATUS')
    })
  })

  it('does not hold ephemeral messages', async () => {
    const contentTopic = freshTopic()
    await publish(context, [{ contentTopic, payload: Uint8Array.of(1), ephemeral: true }])
    // What is pushed after it arrives after it.
    await publish(context, [{ contentTopic, payload: Uint8Array.of(2) }])
    const [message, ...others] = await new StoreClient(context.reader).last(
      { contentTopics: [contentTopic] },
      5
    )
    expect(message?.payload).to.deep.equal(Uint8Array.of(2))
    expect(others).to.deep.equal([])
  })
})

/** Without pages that are empty but for the last one. */
async function collect(store: StoreClient, contentTopics: string[], options: WalkOptions = {}) {
  const pages = []
  for await (const page of store.queryPages({ contentTopics }, options)) {
    pages.push(page)
  }
  return pages
}

function known(results: readonly PushResult[]): Uint8Array[] {
  return results.map(({ messageHash }) => messageHash ?? expect.fail('no hash'))
}

function hashes(results: readonly PushResult[]): string[] {
  return known(results).map(toHex)
}

function expectAscending(messages: readonly StoredMessage[], generation: StoreGeneration): void {
  if (generation === STORE_BETA2) {
    return // its order goes by the node's own time of receipt
  }
  for (const [index, message] of messages.slice(1).entries()) {
    const previous = messages[index] ?? expect.fail('no previous message')
    const a = generation.orderKey(previous, previous.messageHash)
    const b = generation.orderKey(message, message.messageHash)
    expect(a.time < b.time || (a.time === b.time && compareBytes(a.tie, b.tie) < 0)).to.equal(true)
  }
}
