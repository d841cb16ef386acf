import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { fromHex, toHex } from 'waku-light/message'
import {
  decodeHistoryIndex,
  decodeHistoryIndexBeta2,
  decodeHistoryResponse,
  decodeHistoryResponseBeta2,
  decodeWakuMessage,
  encodeHistoryIndex,
  encodeHistoryIndexBeta2,
  encodeHistoryQuery,
  encodeHistoryQueryBeta2,
  type HistoryQuery,
  type HistoryQueryBeta2,
  STORE_BETA2_PROTOCOL,
  STORE_BETA4_PROTOCOL
} from 'waku-light/wire'
import type { ServiceNode } from 'waku-light-service-node'
import type { Client } from './helpers/client.ts'
import { CONTENT_TOPIC, encodeMessage, NOW, TOPIC } from './helpers/messages.ts'
import { push } from './helpers/push.ts'
import { Resources } from './helpers/resources.ts'

const COUNT = 50
const OTHER_CONTENT_TOPIC = '/toychat/2/other/proto'

function digestOf(encoded: Uint8Array): string {
  const { contentTopic, payload } = decodeWakuMessage(encoded)
  return createHash('sha256').update(contentTopic).update(payload).digest('hex')
}

describe('store, older generations', () => {
  const resources = new Resources()
  let node: ServiceNode
  let client: Client
  let address: string | undefined
  let now = NOW
  /** By time of arrival. */
  const pushed: { digest: string; timestamp: bigint; receivedTime: number; hex: string }[] = []

  before(async () => {
    node = await resources.node({ standalone: true, now: () => now, maxPageBytes: 3000 })
    client = await resources.client()
    address = node.multiaddrs[0]
    for (let index = 0; index < COUNT; index++) {
      now = NOW + BigInt(index) * 13_000_000_000n
      const timestamp = now - BigInt(index % 3) * 6_000_000_000n
      const contentTopic = index % 2 === 0 ? CONTENT_TOPIC : OTHER_CONTENT_TOPIC
      // Equal content again and again, at other times: equal digests.
      const payload = Uint8Array.of(1, index % 5 === 0 ? 0 : index, index % 7)
      const encoded = encodeMessage({
        timestamp,
        contentTopic,
        payload: index < 40 ? payload : Uint8Array.of(9)
      })
      await push(client, address, encoded)
      const receivedTime = Math.fround(Number(now) / 1e9)
      pushed.push({ digest: digestOf(encoded), timestamp, receivedTime, hex: toHex(encoded) })
    }
    expect(node.messageCount()).to.equal(COUNT)
  })
  after(() => resources.release())

  describe('2.0.0-beta4', () => {
    const ask = async (query: Partial<HistoryQuery> = {}) => {
      const body = encodeHistoryQuery({
        requestId: 'q3',
        contentTopics: [],
        pageSize: 0n,
        forward: true,
        ...query
      })
      return decodeHistoryResponse(await client.request(address, STORE_BETA4_PROTOCOL, body))
    }
    const sorted = () =>
      [...pushed]
        .sort((a, b) => Number(a.timestamp - b.timestamp) || (a.digest < b.digest ? -1 : 1))
        .map(({ hex }) => hex)

    for (const forward of [true, false]) {
      it(`is walked ${forward ? 'forward' : 'backward'} by (stored time, digest); the last page has no paging info`, async () => {
        const pages: string[][] = []
        let cursor: HistoryQuery['cursor']
        do {
          const page = await ask({ forward, pageSize: 25n, cursor })
          pages.push(page.messages.map(toHex))
          cursor = page.cursor
        } while (cursor !== undefined)
        expect(pages.map(({ length }) => length)).to.deep.equal([25, 25])
        expect((forward ? pages : pages.reverse()).flat()).to.deep.equal(sorted())
      })
    }

    it('gives out the index of the last message in walking direction', async () => {
      const { messages, cursor } = await ask({ pageSize: 4n })
      const last = messages[3] ?? new Uint8Array()
      const time = decodeWakuMessage(last).timestamp
      const index = decodeHistoryIndex(cursor ?? new Uint8Array())
      expect({ ...index, digest: toHex(index.digest) }).to.deep.equal({
        digest: digestOf(last),
        receiverTime: time,
        senderTime: time,
        pubsubTopic: TOPIC
      })
    })

    it('filters by topics, and by a time range with both ends in it', async () => {
      const own = pushed.filter((_, index) => index % 2 === 0)
      const filtered = await ask({
        contentTopics: [CONTENT_TOPIC],
        pubsubTopic: TOPIC,
        pageSize: 100n
      })
      expect(filtered.messages).to.have.lengthOf(own.length)
      const [start, end] = [pushed[3]?.timestamp, pushed[6]?.timestamp]
      expect((await ask({ startTime: start, endTime: end })).messages).to.have.lengthOf(4)
      expect((await ask({ pubsubTopic: '/waku/2/rs/42/1' })).messages).to.deep.equal([])
    })

    it('uses 20 where no page size is asked for', async () => {
      expect((await ask()).messages).to.have.lengthOf(20)
    })

    it('answers INVALID_CURSOR to cursors that it did not give, and to too many content topics', async () => {
      const index = {
        digest: new Uint8Array(32),
        receiverTime: NOW,
        senderTime: NOW,
        pubsubTopic: TOPIC
      }
      const cases: Partial<HistoryQuery>[] = [
        { cursor: encodeHistoryIndex(index) },
        { cursor: encodeHistoryIndex({ ...index, digest: new Uint8Array(5) }) },
        { cursor: Uint8Array.of(1, 2, 3) },
        { contentTopics: Array.from({ length: 11 }, (_, each) => `/toychat/2/${each}/proto`) }
      ]
      for (const query of cases) {
        expect(await ask(query)).to.deep.include({
          requestId: 'q3',
          error: 1,
          messages: [],
          cursor: undefined
        })
      }
    })

    it('answers what it cannot read with an empty frame', async () => {
      expect(
        toHex(await client.exchangeRaw(address, STORE_BETA4_PROTOCOL, fromHex('03ffffff')))
      ).to.equal('00')
    })
  })

  describe('2.0.0-beta2', () => {
    const ask = async (query: Partial<HistoryQueryBeta2> = {}) => {
      const body = encodeHistoryQueryBeta2({
        requestId: 'q2',
        topics: [],
        pageSize: 10n,
        forward: true,
        ...query
      })
      return decodeHistoryResponseBeta2(await client.request(address, STORE_BETA2_PROTOCOL, body))
    }
    const keys = (hexes: string[]) =>
      hexes
        .map((hex) => pushed.find((each) => each.hex === hex))
        .map((each) => [each?.receivedTime, each?.digest])

    async function walk(query: Partial<HistoryQueryBeta2>): Promise<string[][]> {
      const pages: string[][] = []
      let cursor: HistoryQueryBeta2['cursor']
      for (;;) {
        const { messages, pagingInfo } = await ask({ ...query, cursor })
        expect(pagingInfo?.pageSize).to.equal(BigInt(messages.length))
        expect(pagingInfo?.forward).to.equal(query.forward ?? true)
        expect(pagingInfo?.cursor).to.be.instanceOf(Uint8Array)
        if (messages.length === 0) {
          expect(toHex(pagingInfo?.cursor ?? new Uint8Array())).to.equal(
            toHex(cursor ?? new Uint8Array())
          )
          return query.forward === false ? pages.reverse() : pages
        }
        pages.push(messages.map(toHex))
        cursor = pagingInfo?.cursor
      }
    }

    for (const forward of [true, false]) {
      it(`is walked ${forward ? 'forward' : 'backward'} by (float of the received time, digest), until a page is empty`, async () => {
        expect(
          new Set(pushed.map(({ receivedTime, digest }) => `${receivedTime} ${digest}`)).size
        ).to.be.lessThan(COUNT)
        const expected = [...pushed]
          .sort((a, b) => a.receivedTime - b.receivedTime || (a.digest < b.digest ? -1 : 1))
          .map(({ receivedTime, digest }) => [receivedTime, digest])
        for (const pageSize of [1n, 7n, 49n, 50n]) {
          const walked = (await walk({ forward, pageSize })).flat()
          expect(new Set(walked).size, `page size ${pageSize}`).to.equal(COUNT)
          expect(keys(walked)).to.deep.equal(expected)
        }
      })
    }

    it('gives out the index of the last message', async () => {
      const { messages, pagingInfo } = await ask({ pageSize: 3n })
      const index = decodeHistoryIndexBeta2(pagingInfo?.cursor ?? new Uint8Array())
      const last = toHex(messages[2] ?? new Uint8Array())
      expect([index.receivedTime, toHex(index.digest).slice(0, 64)]).to.deep.equal(keys([last])[0])
    })

    it('without pagination gives everything, up to its limit in bytes', async () => {
      const pages = await walk({ pageSize: 0n })
      expect(pages.flat()).to.have.lengthOf(COUNT)
      expect(pages.length).to.equal(1)
      const topics = [OTHER_CONTENT_TOPIC]
      expect((await walk({ pageSize: 0n, topics })).flat()).to.have.lengthOf(COUNT / 2)
      const small = await resources.node({ standalone: true, now: () => now, maxPageBytes: 200 })
      for (let index = 0; index < 9; index++) {
        await push(client, small.multiaddrs[0], encodeMessage({ timestamp: now }))
      }
      const previous = address
      address = small.multiaddrs[0]
      const cut = await walk({ pageSize: 0n })
      address = previous
      expect(cut.length).to.be.greaterThan(2)
      expect(cut.flat()).to.have.lengthOf(9)
    })

    it('cuts a page size to its threshold', async () => {
      const large = await resources.node({ standalone: true, now: () => now, maxPageLimit: 5 })
      for (let index = 0; index < 6; index++) {
        await push(client, large.multiaddrs[0], encodeMessage({ timestamp: now }))
      }
      const body = encodeHistoryQueryBeta2({
        requestId: 'q2',
        topics: [],
        pageSize: 500n,
        forward: true
      })
      const { pagingInfo } = decodeHistoryResponseBeta2(
        await client.request(large.multiaddrs[0], STORE_BETA2_PROTOCOL, body)
      )
      expect(pagingInfo?.pageSize).to.equal(5n)
    })

    it('resets the stream for a cursor that it did not give, or what it cannot read', async () => {
      const cursor = encodeHistoryIndexBeta2({ digest: new Uint8Array(32), receivedTime: 1 })
      for (const query of [{ cursor }, { pageSize: -1n }]) {
        const failure = await ask(query).then(
          () => undefined,
          (error: Error) => error
        )
        expect(failure?.name).to.equal('StreamResetError')
      }
    })
  })
})
