import { expect } from 'chai'
import { LightPushClient, StoreClient } from 'waku-light'
import { createLightNode, type LightNode } from 'waku-light/node'
import { type ServiceNodes, startServiceNodes } from '../browser/start-service-nodes.ts'
import { startBlackHole, stopRawServers } from './helpers/raw-server.ts'

const PEER_ID = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'
const CONTENT_TOPIC = '/black-hole/1/all/proto'

/** Longer than any test may take. */
const LONG_MS = 600_000

describe('a node that says nothing, before others', () => {
  let nodes: ServiceNodes
  let node: LightNode

  before(async () => {
    nodes = await startServiceNodes()
  })

  after(async () => {
    await nodes.close()
  })

  afterEach(async () => {
    await node.close()
    await stopRawServers()
  })

  for (const isKnown of [true, false]) {
    it(`holds up no call where the network is ${isKnown ? 'known' : 'to be learnt'}`, async () => {
      const { clusterId, shardCount, addresses } = nodes
      const hole = await startBlackHole()
      node = await createLightNode({
        serviceNodes: [`/ip4/127.0.0.1/tcp/${hole.port}/ws/p2p/${PEER_ID}`, ...addresses.flat()],
        dialTimeoutMs: LONG_MS,
        ...(isKnown && { clusterId, shardCount })
      })
      const lightPush = new LightPushClient(node, { attemptTimeoutMs: LONG_MS })
      const store = new StoreClient(node, { requestTimeoutMs: LONG_MS })
      const criteria = { contentTopics: [CONTENT_TOPIC] }
      const options = { timeoutMs: LONG_MS }
      const payload = Uint8Array.of(Number(isKnown))
      const [sent, , [isStored]] = await Promise.all([
        lightPush.push({ contentTopic: CONTENT_TOPIC, payload }, options),
        store.last(criteria, 1, options),
        store.has([new Uint8Array(32)], options)
      ])
      expect(sent.status).to.equal('published')
      expect(sent.attempts).to.have.length(1)
      expect(isStored).to.equal(false)
    })
  }
})
