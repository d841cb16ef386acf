import { expect } from 'chai'
import { UnsupportedError } from 'waku-light/errors'
import { LightPushClient, type OutgoingMessage } from 'waku-light/light-push'
import { fromHex, toHex } from 'waku-light/message'
import { createLightNode, type LightNode } from 'waku-light/node'
import { type MessagePage, StoreClient, type WalkOptions } from 'waku-light/store'
import {
  decodeHistoryResponse,
  encodeHistoryQuery,
  type HistoryQuery,
  type HistoryResponse,
  STORE_BETA4_PROTOCOL
} from 'waku-light/wire'
import { GoWaku, hasGoWaku } from './lib/go-waku.ts'
import { CLUSTER_ID, freshTopic, LARGE_PAYLOAD_BYTES, now, SHARDS } from './lib/network.ts'
import { delimited } from './lib/protobuf.ts'
import { hashesOf, makeMessages, type Published, publishAll } from './lib/publish.ts'
import { RawClient } from './lib/raw-client.ts'
import { recordedExchanges } from './lib/recorded.ts'
import { Resources } from './lib/resources.ts'

const COUNT = 120

/** Recorded answers that do not depend on what is in the archive. */
const STATELESS =
  /^store2\.(cursor-(wrong|unknown|empty)|empty-result|filters-11|undecodable|zero-length|query-missing|request-id)/

const suite = hasGoWaku ? describe : describe.skip

suite('go-waku: service node', () => {
  const resources = new Resources()
  const topic = freshTopic()
  const start = now()
  let go: GoWaku
  let node: LightNode
  let lightPush: LightPushClient
  let store: StoreClient
  let raw: RawClient
  let sent: Published[]

  before(async () => {
    const network = { clusterId: CLUSTER_ID, shards: SHARDS, pushRate: 0 }
    go = resources.add(await GoWaku.start('serve', network))
    const peers = [go.tcpAddress]
    const partner = resources.add(await GoWaku.start('serve', { ...network, peers }))
    node = resources.add(await createLightNode({ serviceNodes: [go.wsAddress] }))
    lightPush = new LightPushClient(node)
    store = new StoreClient(node)
    raw = resources.add(await RawClient.connect(go.wsAddress, CLUSTER_ID))
    await Promise.all(
      SHARDS.map((shard) => go.meshed(`/waku/2/rs/${CLUSTER_ID}/${shard}`, partner.peerId))
    )
    sent = await archive(makeMessages(topic, COUNT, start))
  })

  after(() => resources.close())

  /** Publishes messages and waits until they are in the archive. */
  async function archive(messages: readonly OutgoingMessage[]): Promise<Published[]> {
    const published = await publishAll(lightPush, messages)
    await go.archived(published.map(({ hash }) => hash))
    return published
  }

  async function walk(
    options: WalkOptions,
    contentTopics: readonly string[] = [topic]
  ): Promise<MessagePage[]> {
    const pages: MessagePage[] = []
    for await (const page of store.queryPages({ contentTopics }, options)) {
      expect(page.protocol).to.equal(STORE_BETA4_PROTOCOL)
      expect(page.rejected).to.deep.equal([])
      pages.push(page)
    }
    return pages
  }

  async function ask(query: Partial<HistoryQuery>): Promise<HistoryResponse> {
    return decodeHistoryResponse(await answerTo(queryBytes(query)))
  }

  function queryBytes(query: Partial<HistoryQuery>): Uint8Array {
    return encodeHistoryQuery({
      requestId: 'q',
      pubsubTopic: sent[0]?.pubsubTopic,
      contentTopics: [topic],
      pageSize: 0n,
      forward: true,
      ...query
    })
  }

  async function answerTo(body: Uint8Array): Promise<Uint8Array> {
    const answer = await raw.request(STORE_BETA4_PROTOCOL, body)
    return answer === 'reset' ? expect.fail('the stream was reset') : answer
  }

  describe(STORE_BETA4_PROTOCOL, () => {
    for (const direction of ['forward', 'backward'] as const) {
      it(`a walk delivers each message once and in order, ${direction}`, async () => {
        const pages = await walk({ direction, pageLimit: 50 })
        expect(pages.map(({ messages }) => messages.length)).to.deep.equal([50, 50, 20])
        expect(pages.map(({ completeness }) => completeness)).to.deep.equal([
          'more',
          'more',
          'complete'
        ])
        const walked = direction === 'forward' ? pages : [...pages].reverse()
        const messages = walked.flatMap((page) => page.messages)
        expect(hashesOf(messages)).to.have.members(sent.map(({ hash }) => hash))
        const times = messages.map(({ timestamp }) => timestamp)
        expect(times).to.deep.equal(sent.map(({ timestamp }) => timestamp))
      })

      it(`a walk goes on from a stored position, ${direction}`, async () => {
        const pages = store.queryPages({ contentTopics: [topic] }, { direction, pageLimit: 7 })
        const { value: first } = await pages.next()
        await pages.return(undefined)
        const { messages, position } = (first as MessagePage | undefined) ?? expect.fail('no page')
        const rest = await walk({ direction, position })
        expect(hashesOf([...messages, ...rest.flatMap((page) => page.messages)])).to.have.members(
          sent.map(({ hash }) => hash)
        )
      })

      it(`pages of one message, ${direction}`, async () => {
        const contentTopic = freshTopic()
        const few = await archive(makeMessages(contentTopic, 7, start))
        const pages = await walk({ direction, pageLimit: 1 }, [contentTopic])
        expect(pages).to.have.lengthOf(7)
        expect(hashesOf(pages.flatMap(({ messages }) => messages))).to.have.members(
          few.map(({ hash }) => hash)
        )
      })
    }

    it('a page of more than a hundred messages is cut to a hundred, and the walk goes on', async () => {
      const pages = await walk({ pageLimit: 500 })
      expect(pages.map(({ messages }) => messages.length)).to.deep.equal([100, 20])
    })

    it('a page of fifty large messages, 7 MiB, is read', async () => {
      const contentTopic = freshTopic()
      const large = await archive(
        Array.from({ length: 50 }, (_, index) => ({
          contentTopic,
          payload: new Uint8Array(LARGE_PAYLOAD_BYTES).fill(index)
        }))
      )
      const pages = await walk({}, [contentTopic])
      expect(pages.map(({ messages }) => messages.length)).to.deep.equal([50])
      expect(hashesOf(pages.flatMap(({ messages }) => messages))).to.have.members(
        large.map(({ hash }) => hash)
      )
    })

    it('page size 0 stands for twenty', async () => {
      expect((await ask({ pageSize: 0n })).messages).to.have.lengthOf(20)
    })

    it('the newest messages', async () => {
      const found = await store.last({ contentTopics: [topic] }, 5)
      expect(hashesOf(found)).to.have.members(sent.slice(-5).map(({ hash }) => hash))
    })

    it('a time range: its start is in, its end is not', async () => {
      const times: (bigint | undefined)[] = []
      const range = { timeStart: start + 1_000n, timeEnd: start + 3_000n }
      for await (const { timestamp } of store.query({ contentTopics: [topic], ...range })) {
        times.push(timestamp)
      }
      expect(times).to.deep.equal([
        ...Array<bigint>(5).fill(start + 1_000n),
        ...Array<bigint>(5).fill(start + 2_000n)
      ])
    })

    it('difference: both ends of a time range are in', async () => {
      const { messages } = await ask({ startTime: start, endTime: start + 1_000n })
      expect(messages).to.have.lengthOf(10)
    })

    it('difference: 0 stands for no bound of a time range', async () => {
      const { messages } = await ask({ startTime: 0n, endTime: 0n, pageSize: 100n })
      expect(messages).to.have.lengthOf(100)
    })

    it('content topics of several shards, more than ten of them, are merged in order', async () => {
      const applications = ['toychat', 'toychat2', 'myapp', 'statusim', 'waku']
      const topics = Array.from({ length: 25 }, (_, index) =>
        freshTopic(applications[index % applications.length])
      )
      const several = await archive(
        topics.map((contentTopic, index) => ({
          contentTopic,
          payload: Uint8Array.of(index),
          timestamp: start + BigInt(index)
        }))
      )
      const pages = await walk({ pageLimit: 6 }, topics)
      expect(hashesOf(pages.flatMap(({ messages }) => messages))).to.deep.equal(
        several.map(({ hash }) => hash)
      )
    })

    it('difference: eleven content topics in one query reset the stream', async () => {
      const contentTopics = Array.from({ length: 11 }, () => freshTopic())
      expect(await raw.request(STORE_BETA4_PROTOCOL, queryBytes({ contentTopics }))).to.equal(
        'reset'
      )
    })

    it('difference: an empty answer may be an error, so it is not called complete', async () => {
      const pages = await walk({}, [freshTopic()])
      expect(pages.map(({ messages, completeness }) => [messages, completeness])).to.deep.equal([
        [[], 'unverifiable']
      ])
    })

    it('difference: meta is lost, so a message read back has another hash', async () => {
      const contentTopic = freshTopic()
      const [pushed] = await archive([
        { contentTopic, payload: Uint8Array.of(1), meta: Uint8Array.of(9) }
      ])
      const [read] = await store.last({ contentTopics: [contentTopic] }, 1)
      expect(read?.meta).to.equal(undefined)
      expect(read?.messageHash && toHex(read.messageHash)).to.not.equal(pushed?.hash)
    })

    it('hashes cannot be looked up, but are found where topic and time are known', async () => {
      const wanted = sent.slice(3, 6).map(({ hash }) => fromHex(hash))
      const absent = new Uint8Array(32)
      const error = await store.has(wanted).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(UnsupportedError)
      const within = { contentTopics: [topic], timeStart: start, timeEnd: start + 10_000n }
      expect(await store.has([...wanted, absent], { within })).to.deep.equal([
        true,
        true,
        true,
        false
      ])
      const found = []
      for await (const message of store.lookup(wanted, { within })) {
        found.push(message)
      }
      expect(hashesOf(found)).to.have.members(wanted.map(toHex))
    })

    it('difference: without paging info it goes forward, twenty messages', async () => {
      const { pubsubTopic = '' } = sent[0] ?? {}
      const query = [...delimited(2, pubsubTopic), ...delimited(3, delimited(1, topic))]
      const body = [...delimited(1, 'q'), ...delimited(2, Uint8Array.from(query))]
      const { messages } = decodeHistoryResponse(await answerTo(Uint8Array.from(body)))
      const { messages: forward } = await ask({ forward: true })
      expect(messages.map(toHex)).to.deep.equal(forward.map(toHex))
      expect(messages).to.have.lengthOf(20)
    })

    it('difference: the last page has paging info, without a cursor', async () => {
      const bytes = await answerTo(queryBytes({ startTime: start + 23_000n, pageSize: 50n }))
      expect(toHex(bytes).slice(-4)).to.equal('1a00')
      expect(decodeHistoryResponse(bytes).messages).to.have.lengthOf(5)
    })

    for (const { id, note, request, response } of recordedExchanges(STATELESS)) {
      it(`answered as recorded: ${id.slice(7)} (${note})`, async () => {
        const answer = await raw.request(STORE_BETA4_PROTOCOL, request)
        expect(answer === 'reset' ? answer : toHex(answer)).to.equal(response)
      })
    }
  })
})
