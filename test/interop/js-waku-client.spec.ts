import { expect } from 'chai'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'
import {
  LIGHT_PUSH_2_PROTOCOL,
  LIGHT_PUSH_3_PROTOCOL,
  METADATA_PROTOCOL,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { createServiceNode, type ServiceNode } from 'waku-light-service-node'
import { type JsMessage, type JsPages, type JsPush, JsWaku } from './lib/js-waku.ts'
import { errorOf } from './lib/line-peer.ts'
import {
  CLUSTER_ID,
  freshTopic,
  inStoreOrder,
  LARGE_PAYLOAD_BYTES,
  NETWORK,
  OTHER_CLUSTER_ID
} from './lib/network.ts'
import { hashesOf, publishAll } from './lib/publish.ts'
import { Resources } from './lib/resources.ts'
import { until } from './lib/until.ts'

const COUNT = 45
const MS = 1_000_000n

describe('js-waku: client', () => {
  const resources = new Resources()
  const topic = freshTopic()
  const startMs = Date.now()
  let node: ServiceNode
  let js: JsWaku
  let store: StoreClient
  /** As our own client reads them, oldest first. */
  let stored: { readonly hash: string; readonly timestamp: bigint }[]

  before(async () => {
    node = await startNode({ standalone: true })
    js = await startJs(node)
    const reader = await createLightNode({ serviceNodes: [addressOf(node)] })
    store = new StoreClient(resources.add(reader))
    for (let index = 0; index < COUNT; index++) {
      const { failures } = await push({
        contentTopic: topic,
        payload: `01${index.toString(16).padStart(2, '0')}`,
        timestampMs: startMs + Math.floor(index / 5)
      })
      expect(failures).to.deep.equal([])
    }
    const messages = await read(topic)
    stored = messages.map(({ messageHash, timestamp = 0n }) => ({
      hash: hashesOf([{ messageHash }])[0] ?? '',
      timestamp
    }))
  })

  after(() => resources.close())

  async function startNode(
    options: Parameters<typeof createServiceNode>[0] = {}
  ): Promise<ServiceNode> {
    return resources.add(await createServiceNode({ ...NETWORK, ...options }))
  }

  async function startJs(of: ServiceNode, network: object = NETWORK): Promise<JsWaku> {
    const address = addressOf(of)
    const peer = resources.add(await JsWaku.start({ ...NETWORK, ...network, address }))
    await peer.call('waitForPeers', { timeoutMs: 10_000 })
    return peer
  }

  async function push(args: object, through = js): Promise<JsPush> {
    return await through.call<JsPush>('lightPush', { payload: '0102', ...args })
  }

  async function query(args: object = {}, through = js): Promise<(JsMessage | null)[][]> {
    const { pages } = await through.call<JsPages>('storeQuery', { contentTopics: [topic], ...args })
    return pages.map((page) => [...page])
  }

  async function read(contentTopic: string) {
    const messages = []
    for await (const message of store.query({ contentTopics: [contentTopic] })) {
      messages.push(message)
    }
    return messages
  }

  describe(METADATA_PROTOCOL, () => {
    it('it takes a node for the shards that the node says it has, and for no other', async () => {
      const partial = await startNode({ shards: [0, 1], standalone: true })
      const peer = await startJs(partial)
      // autosharding puts myapp on shard 0 and toychat on shard 3
      const served = await push({ contentTopic: freshTopic('myapp') }, peer)
      expect(served).to.deep.include({ successes: [partial.peerId], failures: [] })
      const unserved = await push({ contentTopic: freshTopic('toychat') }, peer)
      expect(unserved).to.deep.include({ successes: [], failures: ['No peer available'] })
    })

    it('it does not get to use a node of another cluster', async () => {
      const peer = resources.add(
        await JsWaku.start({
          clusterId: OTHER_CLUSTER_ID,
          shardCount: NETWORK.shardCount,
          address: addressOf(node)
        })
      )
      // in the moment before it is left, a push is refused
      await until('it has no peer', async () => {
        const { successes, failures } = await push({ contentTopic: topic }, peer)
        expect(successes).to.deep.equal([])
        return failures.includes('No peer available')
      })
    })
  })

  for (const { protocol, useLegacy } of [
    { protocol: LIGHT_PUSH_3_PROTOCOL, useLegacy: false },
    { protocol: LIGHT_PUSH_2_PROTOCOL, useLegacy: true }
  ]) {
    describe(protocol, () => {
      it('a push is accepted, and archived under the hash that it computes', async () => {
        const contentTopic = freshTopic()
        const timestampMs = Date.now()
        const sent = await push({ contentTopic, useLegacy, timestampMs })
        expect(sent).to.deep.include({ successes: [node.peerId], failures: [] })
        const [message] = await read(contentTopic)
        expect(message).to.deep.include({
          payload: Uint8Array.of(1, 2),
          timestamp: BigInt(timestampMs) * MS,
          pubsubTopic: sent.pubsubTopic
        })
        const [[found] = []] = await query({ contentTopics: [contentTopic] })
        expect(found?.hash).to.equal(message && hashesOf([message])[0])
      })

      it('both sides derive the same pubsub topic from a content topic', async () => {
        for (const application of ['toychat', 'toychat2', 'myapp', 'statusim', 'waku']) {
          const contentTopic = freshTopic(application)
          const { pubsubTopic, failures } = await push({ contentTopic, useLegacy })
          expect(failures).to.deep.equal([])
          const [message] = await read(contentTopic)
          expect(message?.pubsubTopic).to.equal(pubsubTopic)
        }
      })

      it('a push is relayed to the other nodes', async () => {
        const first = await startNode()
        const second = await startNode({ peers: first.multiaddrs })
        const peer = await startJs(first)
        await until('a push is relayed', async () => {
          const { successes } = await push({ contentTopic: topic, useLegacy }, peer)
          return successes.length > 0
        })
        await until('it arrives', () => second.messageCount() > 0)
      })

      it('an ephemeral push is accepted, but not archived', async () => {
        const before = node.messageCount()
        const { successes } = await push({ contentTopic: topic, useLegacy, ephemeral: true })
        expect(successes).to.have.lengthOf(1)
        expect(node.messageCount()).to.equal(before)
      })

      it('is refused what is too large, goes nowhere or comes too often', async () => {
        const large = await push({ contentTopic: topic, useLegacy, payload: '01'.repeat(160_000) })
        const loneNode = await startNode()
        const lone = await push({ contentTopic: topic, useLegacy }, await startJs(loneNode))
        const rateLimits = { lightPush: { perPeer: { count: 1, periodMs: 60_000 } } }
        const busyNode = await startNode({ standalone: true, rateLimits })
        const busy = await startJs(busyNode)
        await push({ contentTopic: topic, useLegacy }, busy)
        const often = await push({ contentTopic: topic, useLegacy }, busy)
        for (const { failures } of [large, lone, often]) {
          expect(failures).to.deep.equal(['Remote peer rejected'])
        }
      })

      it('static sharding: a push names its shard', async () => {
        const peer = await startJs(node, { shardCount: undefined })
        const contentTopic = freshTopic('toychat')
        const sent = await push({ contentTopic, shardId: 6, useLegacy }, peer)
        expect(sent).to.deep.equal({
          pubsubTopic: `/waku/2/rs/${CLUSTER_ID}/6`,
          successes: [node.peerId],
          failures: []
        })
        const [page = []] = await query({ contentTopics: [contentTopic], shardId: 6 }, peer)
        expect(page.map((message) => message?.pubsubTopic)).to.deep.equal([sent.pubsubTopic])
      })

      it('difference: it does not send an empty payload', async () => {
        const { failures } = await push({ contentTopic: topic, payload: '', useLegacy })
        expect(failures).to.deep.equal(['Payload is empty'])
      })
    })
  }

  describe(STORE_QUERY_3_PROTOCOL, () => {
    for (const backward of [false, true]) {
      const direction = backward ? 'backward' : 'forward'

      it(`its walk gets each message once and in order, ${direction}`, async () => {
        const pages = await query({ backward, pageLimit: 10 })
        expect(pages.map((page) => page.length)).to.deep.equal([10, 10, 10, 10, 5])
        const walked = (backward ? [...pages].reverse() : pages).flat()
        expect(walked.map((message) => message?.hash)).to.deep.equal(inStoreOrder(stored))
      })

      it(`a walk goes on from a cursor in a query of its own, ${direction}`, async () => {
        const [first = []] = await query({ backward, pageLimit: 7, maxPages: 1 })
        const cursor = first.at(backward ? 0 : -1)?.hash
        const rest = await query({ backward, cursor, pageLimit: 100 })
        expect(rest.map((page) => page.length)).to.deep.equal([COUNT - 7])
        const hashes = [...first, ...rest.flat()].map((message) => message?.hash)
        expect(hashes).to.have.members(stored.map(({ hash }) => hash))
      })
    }

    it('goes forward in pages of twenty where it is not told otherwise', async () => {
      const pages = await query()
      expect(pages.map((page) => page.length)).to.deep.equal([20, 20, 5])
      expect(pages[0]?.[0]?.hash).to.equal(inStoreOrder(stored)[0])
    })

    it('filters by content topic, and by several', async () => {
      const others = [freshTopic(), freshTopic()]
      for (const contentTopic of others) {
        await push({ contentTopic })
      }
      const one = (await query({ contentTopics: others.slice(1) })).flat()
      expect(one.map((message) => message?.contentTopic)).to.deep.equal(others.slice(1))
      expect((await query({ contentTopics: others })).flat()).to.have.lengthOf(2)
      expect(await query({ contentTopics: [freshTopic()] })).to.deep.equal([])
    })

    it('looks messages up by hash', async () => {
      const wanted = [stored[9], stored[3]].map((one) => one?.hash)
      const found = await query({ messageHashes: [...wanted, '00'.repeat(32)], pageLimit: 100 })
      expect(found.map((page) => page.map((message) => message?.hash))).to.deep.equal([
        [...wanted].reverse()
      ])
    })

    it('looks more hashes up than a page holds', async () => {
      const messageHashes = stored.map(({ hash }) => hash)
      const pages = await query({ messageHashes, pageLimit: 20 })
      expect(pages.map((page) => page.length)).to.deep.equal([20, 20, 5])
      expect(pages.flat().map((message) => message?.hash)).to.deep.equal(inStoreOrder(stored))
    })

    it('large messages come in pages of 4 MB at the most', async () => {
      const contentTopic = freshTopic()
      const writer = resources.add(await createLightNode({ serviceNodes: [addressOf(node)] }))
      await publishAll(
        new LightPushClient(writer),
        Array.from({ length: 40 }, (_, index) => ({
          contentTopic,
          payload: new Uint8Array(LARGE_PAYLOAD_BYTES).fill(index)
        }))
      )
      const pages = await query({ contentTopics: [contentTopic], pageLimit: 100 })
      expect(pages.map((page) => page.length)).to.deep.equal([26, 14])
      expect(new Set(pages.flat().map((message) => message?.hash)).size).to.equal(40)
    })

    it('is told of an unknown cursor', async () => {
      expect(await errorOf(query({ cursor: 'ab'.repeat(32) }))).to.include(
        'status code: 300, description: BAD_RESPONSE: archive error: DRIVER_ERROR: cursor not found'
      )
    })

    it('is told of too many requests', async () => {
      const rateLimits = { store: { perPeer: { count: 1, periodMs: 60_000 } } }
      const busy = await startJs(await startNode({ standalone: true, rateLimits }))
      await query({}, busy)
      expect(await errorOf(query({}, busy))).to.include('status code: 429')
    })

    it('is told of more than ten content topics', async () => {
      const contentTopics = Array.from({ length: 11 }, () => freshTopic())
      expect(await errorOf(query({ contentTopics }))).to.include(
        'status code: 400, description: BAD_REQUEST: too many content topics'
      )
    })

    it('reads what our client published', async () => {
      const writer = resources.add(await createLightNode({ serviceNodes: [addressOf(node)] }))
      const contentTopic = freshTopic()
      const message = { contentTopic, payload: Uint8Array.of(3), meta: Uint8Array.of(4) }
      const [sent] = await publishAll(new LightPushClient(writer), [message])
      const [[found] = []] = await query({ contentTopics: [contentTopic] })
      expect(found).to.include({ payload: '03', hash: sent?.hash })
    })

    it('difference: a message of a version over 0 comes back as nothing', async () => {
      const writer = resources.add(await createLightNode({ serviceNodes: [addressOf(node)] }))
      const contentTopic = freshTopic()
      const message = { contentTopic, payload: Uint8Array.of(3), version: 1 }
      await publishAll(new LightPushClient(writer), [message])
      expect(await query({ contentTopics: [contentTopic] })).to.deep.equal([[null]])
    })

    it('difference: hashes alone come back as nothing', async () => {
      const messageHashes = stored.slice(0, 2).map(({ hash }) => hash)
      expect(await query({ messageHashes, includeData: false })).to.deep.equal([[null, null]])
    })

    it('difference: it rounds the start and end of a time range to a double', async () => {
      // some of the next milliseconds are rounded up, and miss a message of just that time
      const ms = Array.from({ length: 100 }, (_, index) => Date.now() + index).find(
        (one) => BigInt(one * 1_000_000) > BigInt(one) * MS
      )
      const contentTopic = freshTopic()
      await push({ contentTopic, timestampMs: ms })
      const inRange = { contentTopics: [contentTopic], timeStartMs: ms }
      expect(await query(inRange)).to.deep.equal([])
      const earlier = { ...inRange, timeStartMs: (ms ?? 0) - 1, timeEndMs: (ms ?? 0) + 1 }
      expect((await query(earlier)).flat()).to.have.lengthOf(1)
    })
  })
})

function addressOf(node: ServiceNode): string {
  return node.multiaddrs.find((one) => one.includes('/ws/')) ?? expect.fail('no ws address')
}
