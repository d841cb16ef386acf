import { expect } from 'chai'
import {
  LIGHT_PUSH_2_PROTOCOL,
  METADATA_PROTOCOL,
  STORE_BETA4_PROTOCOL,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { createServiceNode, type ServiceNode } from 'waku-light-service-node'
import { type GoMessage, type GoPages, GoWaku, hasGoWaku } from './lib/go-waku.ts'
import { errorOf } from './lib/line-peer.ts'
import {
  CLUSTER_ID,
  freshTopic,
  inStoreOrder,
  LARGE_PAYLOAD_BYTES,
  NETWORK,
  now,
  OTHER_CLUSTER_ID,
  SHARDS
} from './lib/network.ts'
import { Resources } from './lib/resources.ts'
import { until } from './lib/until.ts'

const COUNT = 45
const PUBSUB_TOPIC = `/waku/2/rs/${CLUSTER_ID}/3`

/** Of the node under test, so that go-waku, which asks for a hundred at the most, can ask for more. */
const MAX_PAGE_LIMIT = 30

const suite = hasGoWaku ? describe : describe.skip

suite('go-waku: client', () => {
  const resources = new Resources()
  const topic = freshTopic()
  const otherTopic = freshTopic()
  const start = now()
  let go: GoWaku
  let node: ServiceNode
  let sent: { readonly hash: string; readonly timestamp: bigint }[]

  before(async () => {
    go = resources.add(await GoWaku.start('client', { clusterId: CLUSTER_ID, shards: SHARDS }))
    node = await startNode({ standalone: true, maxPageLimit: MAX_PAGE_LIMIT })
    sent = []
    for (let index = 0; index < COUNT; index++) {
      const timestamp = start + BigInt(Math.floor(index / 5)) * 1_000n
      sent.push({ hash: await push(node, message(topic, index, timestamp)), timestamp })
    }
    await push(node, message(otherTopic, 0, start))
  })

  after(() => resources.close())

  async function startNode(
    options: Parameters<typeof createServiceNode>[0] = {}
  ): Promise<ServiceNode> {
    return resources.add(await createServiceNode({ ...NETWORK, ...options }))
  }

  async function push(to: ServiceNode, pushed: GoMessage, pubsubTopic = PUBSUB_TOPIC) {
    const args = { addr: addressOf(to), pubsubTopic, message: pushed }
    const { hash } = await go.call<{ hash: string }>('lightPush', args)
    return hash
  }

  async function query<Cursor>(cmd: string, args: object = {}, of = node) {
    const criteria =
      'messageHashes' in args ? {} : { pubsubTopic: PUBSUB_TOPIC, contentTopics: [topic] }
    return await go.call<GoPages<Cursor>>(cmd, { addr: addressOf(of), ...criteria, ...args })
  }

  const generations = [
    { protocol: STORE_QUERY_3_PROTOCOL, cmd: 'storeQuery', isEndIn: false },
    { protocol: STORE_BETA4_PROTOCOL, cmd: 'legacyStoreQuery', isEndIn: true }
  ]

  for (const { protocol, cmd, isEndIn } of generations) {
    describe(protocol, () => {
      for (const backward of [false, true]) {
        const direction = backward ? 'backward' : 'forward'

        it(`its walk gets each message once and in order, ${direction}`, async () => {
          const { pages } = await query(cmd, { backward, pageLimit: 10, maxPages: 100 })
          expect(pages.map(({ messages }) => messages.length)).to.deep.equal([10, 10, 10, 10, 5])
          expect(pages.map(({ cursor }) => cursor !== null)).to.deep.equal([
            true,
            true,
            true,
            true,
            false
          ])
          const walked = (backward ? [...pages].reverse() : pages).flatMap(
            ({ messages }) => messages
          )
          const hashes = walked.map(({ hash }) => hash)
          expect(hashes).to.have.members(sent.map(({ hash }) => hash))
          expect(walked.map((entry) => BigInt(entry.message?.timestamp ?? 0))).to.deep.equal(
            sent.map(({ timestamp }) => timestamp)
          )
          if (cmd === 'storeQuery') {
            expect(hashes).to.deep.equal(inStoreOrder(sent))
          }
        })

        it(`a walk goes on from a cursor in a query of its own, ${direction}`, async () => {
          const first = await query(cmd, { backward, pageLimit: 7 })
          const [{ messages = [], cursor = null } = {}] = first.pages
          const rest = await query(cmd, { backward, pageLimit: 30, cursor, maxPages: 100 })
          const hashes = [...messages, ...rest.pages.flatMap((page) => page.messages)].map(
            ({ hash }) => hash
          )
          expect(hashes).to.have.members(sent.map(({ hash }) => hash))
          expect(hashes).to.have.lengthOf(COUNT)
        })
      }

      it('a page of exactly what matches has no cursor', async () => {
        const { pages } = await query(cmd, { pageLimit: 5, timeEnd: text(start + 999n) })
        expect(pages.map(({ messages, cursor }) => [messages.length, cursor])).to.deep.equal([
          [5, null]
        ])
      })

      it("a page size over the node's own is cut to it", async () => {
        const { pages } = await query(cmd, { pageLimit: 100, maxPages: 100 })
        expect(pages.map(({ messages }) => messages.length)).to.deep.equal([MAX_PAGE_LIMIT, 15])
      })

      it('filters by one content topic, and by several', async () => {
        const one = await query(cmd, { contentTopics: [otherTopic] })
        expect(one.pages[0]?.messages.map((entry) => entry.message?.contentTopic)).to.deep.equal([
          otherTopic
        ])
        const contentTopics = [topic, otherTopic, freshTopic()]
        const all = await query(cmd, { contentTopics, pageLimit: 10, maxPages: 100 })
        expect(all.pages.flatMap(({ messages }) => messages)).to.have.lengthOf(COUNT + 1)
      })

      it('gets everything of a pubsub topic without a content topic, and nothing of another', async () => {
        const all = await query(cmd, { contentTopics: [], pageLimit: 30, maxPages: 100 })
        expect(all.pages.flatMap(({ messages }) => messages)).to.have.lengthOf(COUNT + 1)
        const pubsubTopic = `/waku/2/rs/${CLUSTER_ID}/4`
        const { pages } = await query(cmd, { pubsubTopic })
        expect(pages).to.deep.equal([{ messages: [], cursor: null }])
      })

      it(`a time range: its start is in, its end is ${isEndIn ? 'too' : 'not'}`, async () => {
        const range = { timeStart: text(start + 1_000n), timeEnd: text(start + 3_000n) }
        const { pages } = await query(cmd, range)
        const times = new Set(pages[0]?.messages.map((entry) => entry.message?.timestamp))
        expect([...times]).to.deep.equal(
          [1_000n, 2_000n, ...(isEndIn ? [3_000n] : [])].map((offset) => text(start + offset))
        )
      })

      it('large messages come in pages of 4 MB at the most', async () => {
        const large = await startNode({ standalone: true })
        const contentTopic = freshTopic()
        const payload = '01'.repeat(LARGE_PAYLOAD_BYTES)
        const hashes: string[] = []
        for (let index = 0; index < 40; index++) {
          hashes.push(
            await push(large, { ...message(contentTopic, 1, now() + BigInt(index)), payload })
          )
        }
        const args = { contentTopics: [contentTopic], pageLimit: 100, maxPages: 10 }
        const { pages } = await query(cmd, args, large)
        expect(pages.map(({ messages }) => messages.length)).to.deep.equal([26, 14])
        const found = pages.flatMap(({ messages }) => messages.map(({ hash }) => hash))
        expect(found).to.have.members(hashes)
      })

      it('a message comes back with every field that it had', async () => {
        const contentTopic = freshTopic()
        const full = { ...message(contentTopic, 1, now()), version: 2, meta: '0a0b' }
        const pubsubTopic = `/waku/2/rs/${CLUSTER_ID}/5`
        const hash = await push(node, full, pubsubTopic)
        const { pages } = await query(cmd, { pubsubTopic, contentTopics: [contentTopic] })
        expect(pages[0]?.messages).to.deep.equal([{ hash, pubsubTopic, message: full }])
      })
    })
  }

  describe(STORE_QUERY_3_PROTOCOL, () => {
    it('looks messages up by hash', async () => {
      const wanted = [sent[7], sent[3]].map((one) => one?.hash)
      const { pages } = await query('storeQuery', { messageHashes: [...wanted, '00'.repeat(32)] })
      expect(pages[0]?.messages.map(({ hash }) => hash)).to.deep.equal([...wanted].reverse())
      expect(pages[0]?.messages[0]?.message?.contentTopic).to.equal(topic)
      expect(pages[0]?.cursor).to.equal(null)
    })

    it('asks for presence, without the messages', async () => {
      const messageHashes = [sent[0]?.hash, '11'.repeat(32)]
      const { pages } = await query('storeQuery', { messageHashes, includeData: false })
      expect(pages).to.deep.equal([{ messages: [{ hash: sent[0]?.hash }], cursor: null }])
    })

    it('looks more hashes up than a page holds', async () => {
      const messageHashes = sent.map(({ hash }) => hash)
      const { pages } = await query('storeQuery', { messageHashes, pageLimit: 100, maxPages: 100 })
      expect(pages.map(({ messages }) => messages.length)).to.deep.equal([MAX_PAGE_LIMIT, 15])
      expect(pages.flatMap(({ messages }) => messages.map(({ hash }) => hash))).to.deep.equal(
        inStoreOrder(sent)
      )
    })

    it('pages through hashes alone', async () => {
      const options = { includeData: false, pageLimit: 20, maxPages: 100 }
      const { pages } = await query('storeQuery', options)
      expect(pages.flatMap(({ messages }) => messages)).to.deep.equal(
        inStoreOrder(sent).map((hash) => ({ hash }))
      )
    })

    it('is told of an unknown cursor', async () => {
      expect(await errorOf(query('storeQuery', { cursor: 'ab'.repeat(32) }))).to.include(
        '300 - BAD_RESPONSE: archive error: DRIVER_ERROR: cursor not found'
      )
    })

    it('is told of a cursor of another length', async () => {
      expect(await errorOf(query('storeQuery', { cursor: 'ab' }))).to.include('400 - BAD_REQUEST')
    })

    it('is told of too many requests', async () => {
      const busy = await startNode({
        standalone: true,
        rateLimits: { store: { perPeer: { count: 1, periodMs: 60_000 } } }
      })
      await query('storeQuery', {}, busy)
      expect(await errorOf(query('storeQuery', {}, busy))).to.include('429 - TOO_MANY_REQUESTS')
    })

    it('difference: it sends no query without a pubsub topic, with more than ten content topics, or that ends before it starts', async () => {
      const contentTopics = Array.from({ length: 11 }, () => freshTopic())
      const range = { timeStart: text(start + 1n), timeEnd: text(start) }
      for (const [args, error] of [
        [{ pubsubTopic: '' }, 'missing PubsubTopic field'],
        [{ contentTopics }, 'exceeds the maximum number of ContentTopics allowed'],
        [range, 'invalid time range']
      ] as const) {
        expect(await errorOf(query('storeQuery', args))).to.include(error)
      }
    })
  })

  describe(STORE_BETA4_PROTOCOL, () => {
    it('is told of a cursor that is not ours', async () => {
      const [{ cursor } = { cursor: null }] = (
        await query<object>('legacyStoreQuery', { pageLimit: 5 })
      ).pages
      const args = { cursor: { ...cursor, digest: 'ab'.repeat(32) } }
      expect(await errorOf(query('legacyStoreQuery', args))).to.include('invalid cursor')
    })

    it('equal messages in a row are not lost where a page ends between them', async () => {
      const contentTopic = freshTopic()
      const timestamp = now()
      // the cursor of this generation is of content topic, payload and time alone
      for (const meta of ['01', '02', '03', '04', '05']) {
        await push(node, { ...message(contentTopic, 1, timestamp), meta })
      }
      const args = { contentTopics: [contentTopic], pageLimit: 2, maxPages: 100 }
      const { pages } = await query('legacyStoreQuery', args)
      const metas = pages.flatMap(({ messages }) => messages.map((entry) => entry.message?.meta))
      expect(metas).to.have.members(['01', '02', '03', '04', '05'])
      expect(metas).to.have.lengthOf(5)
    })

    it('difference: it sends no query with more than ten content topics', async () => {
      const contentTopics = Array.from({ length: 11 }, () => freshTopic())
      expect(await errorOf(query('legacyStoreQuery', { contentTopics }))).to.include(
        'exceeds the maximum number of content'
      )
    })

    it('difference: it takes too many requests for the answer to another one', async () => {
      const busy = await startNode({
        standalone: true,
        rateLimits: { store: { perPeer: { count: 1, periodMs: 60_000 } } }
      })
      await query('legacyStoreQuery', {}, busy)
      expect(await errorOf(query('legacyStoreQuery', {}, busy))).to.equal(
        'requestID in response does not match request'
      )
    })
  })

  describe(LIGHT_PUSH_2_PROTOCOL, () => {
    it('a push is accepted and archived', async () => {
      const before = node.messageCount()
      await push(node, message(freshTopic(), 1, now()))
      expect(node.messageCount()).to.equal(before + 1)
    })

    it('a push is relayed to the other nodes', async () => {
      const first = await startNode()
      const second = await startNode({ peers: first.multiaddrs })
      await until('the nodes are joined', () => first.relayPeerCount(PUBSUB_TOPIC) > 0)
      await push(first, message(freshTopic(), 1, now()))
      await until('it arrives', () => second.messageCount() === 1)
    })

    it('an ephemeral push is accepted, but not archived', async () => {
      const before = node.messageCount()
      await push(node, { ...message(freshTopic(), 1, now()), ephemeral: true })
      await push(node, message(freshTopic(), 1, now()))
      expect(node.messageCount()).to.equal(before + 1)
    })

    it('a repeated push is accepted, and archived once', async () => {
      const repeated = message(freshTopic(), 1, now())
      const hash = await push(node, repeated)
      const count = node.messageCount()
      expect(await push(node, repeated)).to.equal(hash)
      expect(node.messageCount()).to.equal(count)
    })

    it('is told that a message is too large', async () => {
      const large = { ...message(freshTopic(), 1, now()), payload: '01'.repeat(153_600) }
      expect(await errorOf(push(node, large))).to.include(
        'Message size exceeded maximum of 153600 bytes'
      )
    })

    it('is told that a pubsub topic is not served', async () => {
      const unserved = push(node, message(freshTopic(), 1, now()), `/waku/2/rs/${CLUSTER_ID}/1000`)
      expect(await errorOf(unserved)).to.include('not_published_to_any_peer')
    })

    it('is told that there is nobody to relay to', async () => {
      const lone = await startNode()
      expect(await errorOf(push(lone, message(freshTopic(), 1, now())))).to.include(
        'not_published_to_any_peer'
      )
    })

    it('is told of too many requests', async () => {
      const busy = await startNode({
        standalone: true,
        rateLimits: { lightPush: { perPeer: { count: 1, periodMs: 60_000 } } }
      })
      await push(busy, message(freshTopic(), 1, now()))
      expect(await errorOf(push(busy, message(freshTopic(), 2, now())))).to.include(
        'TOO_MANY_REQUESTS'
      )
    })
  })

  describe(METADATA_PROTOCOL, () => {
    it('stays connected to a node of its cluster', async () => {
      await go.call('connect', { addr: addressOf(node) })
      await push(node, message(freshTopic(), 1, now()))
      expect((await go.call<{ peers: string[] }>('peers')).peers).to.include(node.peerId)
    })

    it('leaves, and is left by, a node of another cluster', async () => {
      const other = await startNode({ clusterId: OTHER_CLUSTER_ID })
      await go.call('connect', { addr: addressOf(other) }).catch(() => undefined)
      await until('they part', async () => {
        const { peers } = await go.call<{ peers: string[] }>('peers')
        return !peers.includes(other.peerId)
      })
    })
  })
})

function message(contentTopic: string, index: number, timestamp: bigint): GoMessage {
  const payload = `01${index.toString(16).padStart(2, '0')}`
  return { contentTopic, payload, timestamp: text(timestamp) }
}

function text(time: bigint): string {
  return time.toString()
}

/** go-waku as a client dials tcp only. */
function addressOf(node: ServiceNode): string {
  return node.multiaddrs.find((one) => !one.includes('/ws/')) ?? expect.fail('no tcp address')
}
