import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import { yamux } from '@chainsafe/libp2p-yamux'
import type { StreamMuxerFactory } from '@libp2p/interface'
import { mplex } from '@libp2p/mplex'
import { lpStream } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'chai'
import { hasErrorCode } from 'waku-light/errors'
import { fromHex } from 'waku-light/message'
import {
  decodeMetadata,
  encodeMetadata,
  LIGHT_PUSH_3_PROTOCOL,
  METADATA_PROTOCOL
} from 'waku-light/wire'
import { RELAY_PROTOCOL, type ServiceNode } from 'waku-light-service-node'
import { generateKey } from '../src/key-file.ts'
import { resolveOptions } from '../src/options.ts'
import { createRelayNode } from '../src/relay-node.ts'
import { CLUSTER, encodeMessage, TOPIC } from './helpers/messages.ts'
import { metric } from './helpers/metric.ts'
import { push } from './helpers/push.ts'
import { Resources } from './helpers/resources.ts'
import { waitFor } from './helpers/wait-for.ts'

type Muxer = () => StreamMuxerFactory

const MUXERS: Record<string, Muxer[]> = {
  'yamux alone': [yamux()],
  'mplex alone': [mplex()],
  'yamux before mplex': [yamux(), mplex()],
  'mplex before yamux': [mplex(), yamux()]
}

describe('connections', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  for (const [name, muxers] of Object.entries(MUXERS)) {
    for (const transport of ['tcp', 'ws']) {
      it(`serves a client that offers ${name}, by ${transport}`, async () => {
        const node = await resources.node({ standalone: true })
        const client = await resources.client({ clusterId: CLUSTER, muxers })
        const address = node.multiaddrs.find(
          (each) => each.includes('/ws/') === (transport === 'ws')
        )
        expect(await client.dial(address)).to.have.property(
          'multiplexer',
          name.startsWith('mplex') ? '/mplex/6.7.0' : '/yamux/1.0.0'
        )
        expect((await push(client, address, encodeMessage())).statusCode).to.equal(200)
      })
    }
  }

  it('serves by wss where there is a certificate', async () => {
    const read = (name: string) =>
      readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8')
    const tls = { cert: read('cert.pem'), key: read('key.pem') }
    const node = await resources.node({ tls })
    expect(node.multiaddrs).to.have.lengthOf(3)
    const port = /\/tcp\/(\d+)\/tls\/ws\//.exec(node.multiaddrs.join('\n'))?.[1]
    const headers = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64')
    }
    const request = https.get(`https://127.0.0.1:${port}/`, { ca: tls.cert, headers })
    const [response, socket] = await once(request, 'upgrade')
    socket.destroy()
    expect(response.statusCode).to.equal(101)
  })

  it('serves others while one peer stalls as many streams as it can', async () => {
    const node = await resources.node({ standalone: true })
    const [staller, client] = [await resources.client(), await resources.client()]
    const connection = await staller.dial(node.multiaddrs[0])
    const stalled = await Promise.allSettled(
      Array.from({ length: 400 }, () => staller.open(node.multiaddrs[0], LIGHT_PUSH_3_PROTOCOL))
    )
    const streams = stalled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(streams.length).to.be.at.least(256)
    const open = () => streams.filter(({ status }) => status === 'open').length
    await waitFor('those over the limit to be reset', () => open() <= 256)
    expect(open()).to.be.greaterThan(0)
    expect((await push(client, node.multiaddrs[0], encodeMessage())).statusCode).to.equal(200)
    expect(connection.status).to.equal('open')
  })

  it('closes in the midst of requests, with nothing acknowledged that is lost', async () => {
    const file = `${resources.directory()}/archive.db`
    const node = await resources.node({ standalone: true, databaseFile: file })
    const client = await resources.client()
    await client.dial(node.multiaddrs[0])
    let acknowledged = 0
    const first = Promise.withResolvers<void>()
    const pushes = Array.from({ length: 50 }, async () => {
      const { statusCode } = await push(client, node.multiaddrs[0], encodeMessage())
      acknowledged += statusCode === 200 ? 1 : 0
      first.resolve()
    })
    await first.promise
    await node.close()
    await Promise.allSettled(pushes)
    const again = await resources.node({ databaseFile: file })
    expect(again.messageCount()).to.be.within(acknowledged, 50)
  })

  it('lists the protocols that it serves', async () => {
    const node = await resources.node()
    const client = await resources.client()
    const { remotePeer } = await client.dial(node.multiaddrs[0])
    const protocols = await waitFor('identify', async () => {
      const peer = await client.libp2p.peerStore.get(remotePeer)
      return peer.protocols.includes(RELAY_PROTOCOL) ? peer.protocols : undefined
    })
    expect(protocols).to.include.members([
      '/ipfs/id/1.0.0',
      '/ipfs/ping/1.0.0',
      RELAY_PROTOCOL,
      '/vac/waku/lightpush/3.0.0',
      '/vac/waku/lightpush/2.0.0-beta1',
      '/vac/waku/store-query/3.0.0',
      '/vac/waku/store/2.0.0-beta4',
      '/vac/waku/store/2.0.0-beta2',
      METADATA_PROTOCOL
    ])
    expect(protocols.filter((each) => /meshsub|floodsub/.test(each))).to.deep.equal([])
  })
})

describe('metadata', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  it('answers with cluster and shards', async () => {
    const node = await resources.node({ clusterId: 16, shards: [0, 3] })
    const client = await resources.client({ clusterId: 16 })
    const answer = await client.request(node.multiaddrs[0], METADATA_PROTOCOL, fromHex('0810'))
    expect(decodeMetadata(answer)).to.deep.equal({ clusterId: 16, shards: [0, 3] })
  })

  it('answers even a peer of another cluster, then leaves it', async () => {
    const node = await resources.node()
    const client = await resources.client({ clusterId: CLUSTER + 1 })
    const connection = await client.dial(node.multiaddrs[0])
    const stream = await connection.newStream(METADATA_PROTOCOL)
    const frames = lpStream(stream)
    await frames.write(encodeMetadata({ clusterId: CLUSTER + 1, shards: [] }))
    expect(decodeMetadata((await frames.read()).subarray()).clusterId).to.equal(CLUSTER)
    await waitFor('the connection to end', () =>
      ['closed', 'aborted', 'reset'].includes(connection.status)
    )
  })

  it('leaves a peer that does not speak metadata', async () => {
    const node = await resources.node()
    const client = await resources.client({})
    const connection = await client.dial(node.multiaddrs[0])
    await waitFor('the connection to end', () =>
      ['closed', 'aborted', 'reset'].includes(connection.status)
    )
  })

  it('leaves a peer that does not answer in time', async () => {
    const node = await resources.node({ metadataTimeoutMs: 100 })
    const client = await resources.client({})
    await client.libp2p.handle(METADATA_PROTOCOL, () => undefined)
    const connection = await client.dial(node.multiaddrs[0])
    await waitFor('the connection to end', () =>
      ['closed', 'aborted', 'reset'].includes(connection.status)
    )
  })

  it('keeps a peer of its own cluster', async () => {
    const node = await resources.node({ metadataTimeoutMs: 100 })
    const client = await resources.client()
    const asked = Promise.withResolvers<void>()
    await client.libp2p.handle(
      METADATA_PROTOCOL,
      async (stream) => {
        const frames = lpStream(stream)
        await frames.read()
        await frames.write(encodeMetadata({ clusterId: CLUSTER, shards: [] }))
        await stream.close()
        asked.resolve()
      },
      { force: true }
    )
    const connection = await client.dial(node.multiaddrs[0])
    await asked.promise
    const { statusCode } = await push(client, node.multiaddrs[0], encodeMessage())
    expect([statusCode, connection.status]).to.deep.equal([505, 'open'])
  })

  it('connect rejects for another cluster, with both ids', async () => {
    const [a, b] = [await resources.node(), await resources.node({ clusterId: CLUSTER + 1 })]
    const error = await a.connect(b.multiaddrs[0] ?? '').then(
      () => undefined,
      (reason: unknown) => reason
    )
    if (!hasErrorCode(error, 'ERR_CLUSTER_MISMATCH')) {
      throw new Error('not a cluster mismatch', { cause: error })
    }
    expect([error.clusterId, error.remoteClusterId]).to.deep.equal([CLUSTER, CLUSTER + 1])
  })
})

describe('relay', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  const joined = (...nodes: ServiceNode[]) =>
    waitFor('the nodes joined', () => nodes.every((node) => node.relayPeerCount(TOPIC) > 0))

  it('passes messages along a chain of nodes', async () => {
    const a = await resources.node()
    const b = await resources.node({ peers: [a.multiaddrs[0] ?? ''] })
    const c = await resources.node({ peers: [b.multiaddrs[1] ?? ''] })
    await joined(a, b, c)
    const client = await resources.client()
    await waitFor('a message at the far end', async () => {
      await push(client, a.multiaddrs[0], encodeMessage())
      return c.messageCount() > 0
    })
    expect(b.messageCount()).to.be.at.least(c.messageCount())
  })

  it('drops what is too large, and neither stores it nor passes it on', async () => {
    const strict = { maxMessageBytes: 1000, admin: { port: 0 } }
    const a = await resources.node()
    const b = await resources.node({ ...strict, peers: [a.multiaddrs[0] ?? ''] })
    await joined(a, b)
    const client = await resources.client()
    expect(
      (await push(client, a.multiaddrs[0], encodeMessage({ payload: new Uint8Array(1000) })))
        .statusCode
    ).to.equal(200)
    expect((await push(client, a.multiaddrs[0], encodeMessage())).statusCode).to.equal(200)
    await waitFor('the small one', () => b.messageCount() === 1)
    expect(await metric(b, 'waku_relay_received_total')).to.equal(1)
  })

  it('drops what does not decode, and neither stores it nor passes it on', async () => {
    const [a, b] = [
      await resources.node({ admin: { port: 0 } }),
      await resources.node({ admin: { port: 0 } })
    ]
    await a.connect(b.multiaddrs[0] ?? '')
    const hostile = await createRelayNode(
      resolveOptions({ clusterId: CLUSTER }),
      await generateKey()
    )
    resources.add(() => hostile.stop())
    await hostile.handle(METADATA_PROTOCOL, async (stream) => {
      await lpStream(stream).write(encodeMetadata({ clusterId: CLUSTER, shards: [] }))
      await stream.close()
    })
    await hostile.start()
    const { pubsub } = hostile.services
    pubsub.subscribe(TOPIC)
    await hostile.dial(multiaddr(a.multiaddrs[0] ?? ''))
    await waitFor(
      'the nodes joined',
      () => a.relayPeerCount(TOPIC) === 2 && pubsub.getSubscribers(TOPIC).length === 1
    )
    await joined(a, b)
    expect((await pubsub.publish(TOPIC, Uint8Array.of(1, 2, 3))).recipients).to.have.lengthOf(1)
    await waitFor('a message at the far end', async () => {
      await pubsub.publish(TOPIC, encodeMessage())
      return b.messageCount() > 0
    })
    expect(await metric(a, 'waku_relay_received_total')).to.equal(a.messageCount())
    expect(await metric(b, 'waku_relay_received_total')).to.equal(b.messageCount())
  })

  it('stays connected to its peers: dials one again that comes back', async () => {
    const directory = resources.directory()
    const options = { keyFile: `${directory}/key` }
    const first = await resources.node(options)
    const address = first.multiaddrs[0] ?? ''
    const port = /\/tcp\/(\d+)/.exec(address)?.[1]
    const b = await resources.node({ peers: [address] })
    await joined(b)
    await first.close()
    await waitFor('the peer gone', () => b.relayPeerCount(TOPIC) === 0)
    // The very port again, which is free now.
    const listen = [`/ip4/127.0.0.1/tcp/${port}`]
    const second = await resources.node({ ...options, listen })
    expect(second.peerId).to.equal(first.peerId)
    await joined(second, b)
  })

  it('keeps trying a peer that is not there yet, and can be closed while it does', async () => {
    const gone = await resources.node()
    const [address] = gone.multiaddrs
    await gone.close()
    const b = await resources.node({ peers: [address ?? ''] })
    await b.close()
    await b.close()
    expect(b.multiaddrs).to.deep.equal([])
  })
})
