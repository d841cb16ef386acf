import { expect } from 'chai'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'
import { METADATA_PROTOCOL, STORE_BETA4_PROTOCOL, STORE_QUERY_3_PROTOCOL } from 'waku-light/wire'
import { createServiceNode, RELAY_PROTOCOL, type ServiceNode } from 'waku-light-service-node'
import { GoWaku, hasGoWaku } from './lib/go-waku.ts'
import {
  CLUSTER_ID,
  freshTopic,
  LARGE_PAYLOAD_BYTES,
  NETWORK,
  now,
  OTHER_CLUSTER_ID,
  SHARDS
} from './lib/network.ts'
import { hashesOf, makeMessages, publishAll } from './lib/publish.ts'
import { Resources } from './lib/resources.ts'
import { until } from './lib/until.ts'

const COUNT = 40
const GO_NETWORK = { clusterId: CLUSTER_ID, shards: SHARDS, pushRate: 0 }

/** A go-waku node and one of ours, joined by relay, with clients of either. */
interface Pair {
  readonly go: GoWaku
  readonly ours: ServiceNode
  readonly pushToGo: LightPushClient
  readonly pushToOurs: LightPushClient
  readonly readGo: StoreClient
  readonly readOurs: StoreClient
}

const suite = hasGoWaku ? describe : describe.skip

suite('go-waku: relay', () => {
  let resources: Resources

  beforeEach(() => {
    resources = new Resources()
  })

  afterEach(() => resources.close())

  async function joinPair(transport: 'tcp' | 'ws', dialer: 'go-waku' | 'our node'): Promise<Pair> {
    let go: GoWaku
    let ours: ServiceNode
    if (dialer === 'go-waku') {
      ours = resources.add(await createServiceNode(NETWORK))
      const peers = [addressOf(ours, transport)]
      go = resources.add(await GoWaku.start('serve', { ...GO_NETWORK, peers }))
    } else {
      go = resources.add(await GoWaku.start('serve', GO_NETWORK))
      const peers = [transport === 'ws' ? go.wsAddress : go.tcpAddress]
      ours = resources.add(await createServiceNode({ ...NETWORK, peers }))
    }
    const toGo = resources.add(await createLightNode({ serviceNodes: [go.wsAddress] }))
    const toOurs = resources.add(await createLightNode({ serviceNodes: [addressOf(ours, 'ws')] }))
    const pair = {
      go,
      ours,
      pushToGo: new LightPushClient(toGo),
      pushToOurs: new LightPushClient(toOurs),
      readGo: new StoreClient(toGo),
      readOurs: new StoreClient(toOurs)
    }
    await probe(pair.pushToOurs, pair.readGo)
    await probe(pair.pushToGo, pair.readOurs)
    return pair
  }

  describe(RELAY_PROTOCOL, () => {
    for (const transport of ['tcp', 'ws'] as const) {
      for (const dialer of ['go-waku', 'our node'] as const) {
        it(`over ${transport}, ${dialer} dials: a message pushed to either is in the other's store`, async () => {
          const pair = await joinPair(transport, dialer)
          const [fromOurs, fromGo] = [freshTopic(), freshTopic()]
          const [sentToOurs, sentToGo] = await Promise.all([
            publishAll(pair.pushToOurs, makeMessages(fromOurs, COUNT, now())),
            publishAll(pair.pushToGo, makeMessages(fromGo, COUNT, now()))
          ])
          for (const [sent, contentTopic, reader] of [
            [sentToOurs, fromOurs, pair.readGo],
            [sentToGo, fromGo, pair.readOurs]
          ] as const) {
            const found = await until('all are there', async () => {
              const messages = await read(reader, contentTopic)
              return messages.length >= COUNT && messages
            })
            expect(found).to.have.members(sent.map(({ hash }) => hash))
          }
        })
      }
    }

    it('a message with every field has the same hash in both stores', async () => {
      const { go, pushToOurs, readOurs } = await joinPair('tcp', 'our node')
      const contentTopic = freshTopic()
      const message = {
        contentTopic,
        payload: Uint8Array.of(1),
        meta: Uint8Array.of(2),
        version: 2
      }
      const [sent] = await publishAll(pushToOurs, [message])
      await go.archived([sent?.hash ?? ''])
      expect(await read(readOurs, contentTopic)).to.deep.equal([sent?.hash])
    })

    it('a message of 149 KiB passes, either way', async () => {
      const { go, pushToGo, pushToOurs, readOurs } = await joinPair('tcp', 'our node')
      const contentTopic = freshTopic()
      const payload = new Uint8Array(LARGE_PAYLOAD_BYTES)
      const [viaOurs] = await publishAll(pushToOurs, [{ contentTopic, payload: payload.fill(1) }])
      const [viaGo] = await publishAll(pushToGo, [{ contentTopic, payload: payload.fill(2) }])
      const hashes = [viaOurs?.hash ?? '', viaGo?.hash ?? '']
      await go.archived(hashes)
      const found = await until('both are there', async () => {
        const messages = await read(readOurs, contentTopic)
        return messages.length === 2 && messages
      })
      expect(found).to.have.members(hashes)
    })

    it('an ephemeral message is in neither store', async () => {
      const { go, pushToOurs, readOurs } = await joinPair('tcp', 'our node')
      const contentTopic = freshTopic()
      const [ephemeral, kept] = await publishAll(pushToOurs, [
        { contentTopic, payload: Uint8Array.of(1), ephemeral: true },
        { contentTopic, payload: Uint8Array.of(2) }
      ])
      await go.archived([kept?.hash ?? ''])
      expect(await go.stored()).to.not.include(ephemeral?.hash)
      expect(await read(readOurs, contentTopic)).to.deep.equal([kept?.hash])
    })

    it('difference: it takes in messages of an hour ago, which our archive does not', async () => {
      const { go, pushToOurs, readOurs } = await joinPair('tcp', 'our node')
      const contentTopic = freshTopic()
      const [old, recent] = await publishAll(pushToOurs, [
        { contentTopic, payload: Uint8Array.of(1), timestamp: now() - 3_600_000_000_000n },
        { contentTopic, payload: Uint8Array.of(2) }
      ])
      await go.archived([old?.hash ?? '', recent?.hash ?? ''])
      expect(await read(readOurs, contentTopic)).to.deep.equal([recent?.hash])
    })

    it('difference: it drops messages with an empty payload', async () => {
      const { go, pushToOurs } = await joinPair('tcp', 'our node')
      const contentTopic = freshTopic()
      const [empty, next] = await publishAll(pushToOurs, [
        { contentTopic, payload: new Uint8Array() },
        { contentTopic, payload: Uint8Array.of(1) }
      ])
      await go.archived([next?.hash ?? ''])
      expect(await go.stored()).to.not.include(empty?.hash)
    })
  })

  describe(`${STORE_QUERY_3_PROTOCOL} and ${STORE_BETA4_PROTOCOL}`, () => {
    for (const [leaving, staying] of [
      ['our node', 'go-waku'],
      ['go-waku', 'our node']
    ] as const) {
      it(`a walk that ${leaving} leaves in the middle goes on at ${staying}`, async () => {
        const { go, ours, pushToGo, readOurs } = await joinPair('tcp', 'our node')
        const contentTopic = freshTopic()
        const sent = await publishAll(pushToGo, makeMessages(contentTopic, COUNT, now()))
        const hashes = sent.map(({ hash }) => hash)
        await go.archived(hashes)
        await until('all are there', async () => {
          return (await read(readOurs, contentTopic)).length === COUNT
        })

        const addresses = [addressOf(ours, 'ws'), go.wsAddress]
        const serviceNodes = leaving === 'our node' ? addresses : addresses.reverse()
        const reader = resources.add(await createLightNode({ serviceNodes, ...NETWORK }))
        const pages = new StoreClient(reader).queryPages(
          { contentTopics: [contentTopic] },
          { pageLimit: 7 }
        )
        const protocols = new Set<string>()
        const found: string[] = []
        for await (const { messages, protocol } of pages) {
          if (protocols.size === 0) {
            await (leaving === 'our node' ? ours : go).close()
          }
          protocols.add(protocol)
          found.push(...hashesOf(messages))
        }
        expect(protocols.size).to.equal(2)
        expect(found).to.have.members(hashes)
        expect(found).to.have.lengthOf(COUNT)
      })
    }
  })

  describe(METADATA_PROTOCOL, () => {
    it('a node of another cluster is left by the one that dials, be it ours or go-waku', async () => {
      const other = { ...GO_NETWORK, clusterId: OTHER_CLUSTER_ID }
      const go = resources.add(await GoWaku.start('serve', other))
      const ours = resources.add(await createServiceNode(NETWORK))
      const error = await ours.connect(go.tcpAddress).catch((reason: unknown) => reason)
      // which of the two is quicker to leave is not fixed
      expect((error as { code?: string }).code).to.be.oneOf([
        'ERR_CLUSTER_MISMATCH',
        'ERR_CONNECTION'
      ])
      await go.call('connect', { addr: addressOf(ours, 'tcp') }).catch(() => undefined)
      await until('it is left', async () => {
        const { peers } = await go.call<{ peers: string[] }>('peers')
        return peers.length === 0
      })
    })
  })
})

/** Pushes until a message has arrived at the other end: meshes take a moment. */
async function probe(lightPush: LightPushClient, reader: StoreClient): Promise<void> {
  const contentTopic = freshTopic()
  await until('a probe arrives', async () => {
    await lightPush.push({ contentTopic, payload: Uint8Array.of(0) })
    return (await read(reader, contentTopic)).length > 0
  })
}

async function read(store: StoreClient, contentTopic: string): Promise<string[]> {
  const messages = []
  for await (const message of store.query({ contentTopics: [contentTopic] })) {
    messages.push(message)
  }
  return hashesOf(messages)
}

function addressOf(node: ServiceNode, transport: 'tcp' | 'ws'): string {
  const address = node.multiaddrs.find((one) => one.includes('/ws/') === (transport === 'ws'))
  return address ?? expect.fail(`the node does not listen on ${transport}`)
}
