import { expect } from 'chai'
import { fromHex, messageHash, messageSizeBytes, toHex } from 'waku-light/message'
import {
  decodeLegacyPushResponse,
  decodeLightPushResponse,
  decodeWakuMessage,
  encodeLegacyPushRequest,
  encodeWakuMessage,
  LIGHT_PUSH_2_PROTOCOL,
  LIGHT_PUSH_3_PROTOCOL
} from 'waku-light/wire'
import type { ServiceNode } from 'waku-light-service-node'
import type { Client } from './helpers/client.ts'
import { encodeMessage, makeMessage, NOW, TOPIC } from './helpers/messages.ts'
import { metric } from './helpers/metric.ts'
import { push } from './helpers/push.ts'
import { recorded } from './helpers/recorded.ts'
import { Resources } from './helpers/resources.ts'
import { query } from './helpers/store.ts'
import { waitFor } from './helpers/wait-for.ts'

/** Where this node answers differently from the reference node, on purpose. */
const DIFFERENT: Record<string, string> = {
  'lightpush3.duplicate-same-node': '0c0a057265712d3150c8016001',
  // What came by relay: relayed, to nobody knows how many.
  'lightpush3.duplicate-other-node': '0a0a057265712d3250c801',
  'lightpush3.duplicate-version-set': '0c0a057265712d3350c8016001',
  'lightpush3.same-hash-other-version': '0c0a057265712d3450c8016001',
  'lightpush2.duplicate-same-node': '0c0a0272311a06080112024f4b',
  'lightpush2.duplicate-other-node': '0c0a0272311a06080112024f4b'
}

/** Status codes of ours where the reference node has another. */
const DIFFERENT_STATUS: Record<string, number> = {
  'lightpush3.topic-unserved': 421,
  'lightpush3.topic-other-cluster': 421,
  'lightpush3.topic-garbage': 421,
  'lightpush3.lone-node-unserved': 421
}

/** Which of the recorded nodes answered. */
function nodeOf(id: string): string {
  const marks = { auto1: '.auto-', lone: '.lone-', rate: '.rate-', b: '.duplicate-other-node' }
  return Object.entries(marks).find(([, mark]) => id.includes(mark))?.[0] ?? 'a'
}

async function join(
  resources: Resources,
  clusterId: number,
  options = {}
): Promise<[ServiceNode, ServiceNode]> {
  const a = await resources.node({ clusterId, ...options })
  const b = await resources.node({ clusterId, ...options, peers: [a.multiaddrs[0] ?? ''] })
  await waitFor('two nodes joined', () =>
    [a, b].every((node) => node.pubsubTopics.every((topic) => node.relayPeerCount(topic) > 0))
  )
  return [a, b]
}

describe('light push, against recorded answers of the reference node', () => {
  const resources = new Resources()
  const nodes: Record<string, string | undefined> = {}
  const clients: Record<string, Client> = {}
  let a: ServiceNode
  let b: ServiceNode

  before(async () => {
    ;[a, b] = await join(resources, 16, { shards: [0, 1], admin: { port: 0 } })
    const [auto1] = await join(resources, 17, { shardCount: 8 })
    const lone = await resources.node({ clusterId: 16 })
    Object.assign(nodes, {
      a: a.multiaddrs[0],
      b: b.multiaddrs[0],
      auto1: auto1.multiaddrs[0],
      lone: lone.multiaddrs[0]
    })
    clients.plain = await resources.client({ clusterId: 16 })
    clients.auto1 = await resources.client({ clusterId: 17 })
  })
  after(() => resources.release())

  for (const { id, request, response } of recorded('lightpush')) {
    const protocol = id.startsWith('lightpush3.') ? LIGHT_PUSH_3_PROTOCOL : LIGHT_PUSH_2_PROTOCOL
    const node = nodeOf(id)
    if (node === 'rate' || typeof response !== 'string') {
      continue
    }
    it(id, async () => {
      if (id.endsWith('.duplicate-other-node')) {
        await waitFor('gossip to arrive', async () => {
          const relayed = await metric(a, 'waku_relay_published_total')
          return relayed > 0 && relayed === (await metric(b, 'waku_relay_received_total'))
        })
      }
      const client = clients[node] ?? clients.plain
      const answer = await client?.exchangeRaw(nodes[node], protocol, fromHex(request ?? ''))
      const status = DIFFERENT_STATUS[id]
      if (status === undefined) {
        expect(toHex(answer ?? new Uint8Array())).to.equal(DIFFERENT[id] ?? response)
      } else {
        expect(
          decodeLightPushResponse((answer ?? new Uint8Array()).subarray(1)).statusCode
        ).to.equal(status)
      }
    })
  }
})

describe('light push', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  it('archives, relays and acknowledges; the other node archives too', async () => {
    const [a, b] = await join(resources, 42)
    const client = await resources.client()
    const message = makeMessage({ version: 1, meta: Uint8Array.of(7) })
    expect(await push(client, a.multiaddrs[1], encodeWakuMessage(message))).to.deep.equal({
      requestId: 'req-1',
      statusCode: 200,
      relayPeerCount: 1
    })
    const hash = toHex(messageHash(TOPIC, message))
    expect((await query(client, a.multiaddrs[0])).hashes).to.deep.equal([hash])
    await waitFor('the message at the other node', () => b.messageCount() === 1)
    expect((await query(client, b.multiaddrs[0])).hashes).to.deep.equal([hash])
  })

  it('acknowledges a message again, without relaying it again', async () => {
    const [a, b] = await join(resources, 42, { admin: { port: 0 } })
    const client = await resources.client()
    const message = encodeMessage()
    const answers = await Promise.all([1, 2, 3].map(() => push(client, a.multiaddrs[0], message)))
    answers.push(await push(client, a.multiaddrs[0], message))
    expect(
      answers.map(({ statusCode, relayPeerCount }) => [statusCode, relayPeerCount])
    ).to.deep.equal(Array(4).fill([200, 1]))
    await waitFor('the message at the other node', () => b.messageCount() === 1)
    expect(await push(client, b.multiaddrs[0], message)).to.deep.equal({
      requestId: 'req-1',
      statusCode: 200
    })
    // Relayed last: whatever was relayed before it has come.
    await push(client, a.multiaddrs[0], encodeMessage())
    await waitFor('the last message', () => b.messageCount() === 2)
    expect(await metric(b, 'waku_relay_received_total')).to.equal(2)
  })

  it('answers 505 without peers, keeps the message, and relays the same bytes later', async () => {
    const a = await resources.node()
    const client = await resources.client()
    const message = encodeMessage()
    for (const _ of [1, 2]) {
      const { statusCode, statusDesc } = await push(client, a.multiaddrs[0], message)
      expect([statusCode, statusDesc]).to.deep.equal([505, 'No peers for topic, skipping publish'])
    }
    expect(a.messageCount()).to.equal(1)
    const b = await resources.node()
    await b.connect(a.multiaddrs[0] ?? '')
    await waitFor('the nodes joined', () => a.relayPeerCount(TOPIC) === 1)
    expect((await push(client, a.multiaddrs[0], message)).relayPeerCount).to.equal(1)
    await waitFor('the message at the other node', () => b.messageCount() === 1)
  })

  it('standalone acknowledges without a count', async () => {
    const a = await resources.node({ standalone: true })
    const client = await resources.client()
    expect(await push(client, a.multiaddrs[0], encodeMessage())).to.deep.equal({
      requestId: 'req-1',
      statusCode: 200
    })
    expect(a.messageCount()).to.equal(1)
  })

  it('relays ephemeral, untimed and far-off messages, and archives none of them', async () => {
    const [a, b] = await join(resources, 42, { now: () => NOW, admin: { port: 0 } })
    const client = await resources.client()
    const pushed = [
      encodeMessage({ timestamp: NOW, ephemeral: true }),
      encodeMessage({ timestamp: undefined }),
      encodeMessage({ timestamp: NOW - 21_000_000_000n }),
      encodeMessage({ timestamp: NOW + 21_000_000_000n }),
      encodeMessage({ timestamp: NOW - 19_000_000_000n })
    ]
    for (const message of pushed) {
      expect((await push(client, a.multiaddrs[0], message)).statusCode).to.equal(200)
    }
    await waitFor(
      'all of them at the other node',
      async () => (await metric(b, 'waku_relay_received_total')) === 5
    )
    await waitFor('one archived', () => b.messageCount() === 1)
    expect(a.messageCount()).to.equal(1)
  })

  it('measures a message as the reference node encodes it', async () => {
    const a = await resources.node({ standalone: true })
    const client = await resources.client()
    const sized = (payloadBytes: number) =>
      encodeMessage({ payload: new Uint8Array(payloadBytes), contentTopic: '/a/1/b/proto' })
    expect(messageSizeBytes(decodeWakuMessage(sized(153_562)))).to.equal(153_600)
    expect((await push(client, a.multiaddrs[0], sized(153_562))).statusCode).to.equal(200)
    const refused = {
      requestId: 'req-1',
      statusCode: 420,
      statusDesc: 'Message size exceeded maximum of 153600 bytes'
    }
    expect(await push(client, a.multiaddrs[0], sized(153_563))).to.deep.equal(refused)
    expect(await push(client, a.multiaddrs[0], sized(200_000))).to.deep.equal(refused)
    // Not even read.
    expect(await push(client, a.multiaddrs[0], sized(400_000))).to.deep.equal({
      ...refused,
      requestId: 'N/A'
    })
    expect(a.messageCount()).to.equal(1)
  })

  it('answers 500 and relays nothing when the archive is full, then goes on', async () => {
    const [a, b] = await join(resources, 42, { admin: { port: 0 } })
    const client = await resources.client()
    a.limitArchivePages(40)
    const big = () => encodeMessage({ payload: crypto.getRandomValues(new Uint8Array(60_000)) })
    let answer = await push(client, a.multiaddrs[0], big())
    let acknowledged = 0
    for (; answer.statusCode === 200; acknowledged++) {
      answer = await push(client, a.multiaddrs[0], big())
    }
    expect(answer.statusCode).to.equal(500)
    expect(answer.statusDesc).to.match(/full/)
    expect((await fetch(`${a.adminUrl}/health`)).status).to.equal(503)
    const legacy = encodeLegacyPushRequest({ requestId: 'r1', pubsubTopic: TOPIC, message: big() })
    const legacyAnswer = decodeLegacyPushResponse(
      await client.request(a.multiaddrs[0], LIGHT_PUSH_2_PROTOCOL, legacy)
    )
    expect(legacyAnswer.isSuccess).to.equal(false)
    a.limitArchivePages(100_000)
    expect((await push(client, a.multiaddrs[0], encodeMessage())).statusCode).to.equal(200)
    expect((await fetch(`${a.adminUrl}/health`)).status).to.equal(200)
    expect(a.messageCount()).to.equal(acknowledged + 1)
    // The last one has come: so has all that was relayed before it, and no more.
    await waitFor('what was acknowledged', () => b.messageCount() === acknowledged + 1)
  })

  it('refuses over the rate limit of the service, without reading, and in time admits again', async () => {
    let now = NOW
    const rateLimits = { lightPush: { perService: { count: 2, periodMs: 1000 } } }
    const a = await resources.node({ standalone: true, now: () => now, rateLimits })
    const [one, two] = [await resources.client(), await resources.client()]
    const statuses = async (clients: Client[]) => {
      const answers: number[] = []
      for (const client of clients) {
        answers.push(
          (await push(client, a.multiaddrs[0], encodeMessage({ timestamp: NOW }))).statusCode
        )
      }
      return answers
    }
    expect(await statuses([one, two, one, two])).to.deep.equal([200, 200, 429, 429])
    const big = encodeMessage({ payload: new Uint8Array(100_000) })
    expect(await push(one, a.multiaddrs[0], big)).to.deep.equal({
      requestId: 'N/A',
      statusCode: 429,
      statusDesc: 'Request rejected due to too many requests'
    })
    now += 500_000_000n
    expect(await statuses([one, one])).to.deep.equal([200, 429])
  })

  it('refuses over the rate limit of one peer, and serves the others', async () => {
    const rateLimits = { lightPush: { perPeer: { count: 1, periodMs: 1000 } } }
    const a = await resources.node({ standalone: true, now: () => NOW, rateLimits })
    const [one, two] = [await resources.client(), await resources.client()]
    const legacy = async (client: Client) => {
      const body = encodeLegacyPushRequest({
        requestId: 'r1',
        pubsubTopic: TOPIC,
        message: encodeMessage()
      })
      return toHex(await client.request(a.multiaddrs[0], LIGHT_PUSH_2_PROTOCOL, body))
    }
    expect(await legacy(one)).to.equal('0a0272311a06080112024f4b')
    expect(await legacy(one)).to.equal('0a034e2f411a1508001211544f4f5f4d414e595f5245515545535453')
    expect(await legacy(two)).to.equal('0a0272311a06080112024f4b')
  })

  it('resets a stream whose request is cut off, too late or endless, and serves the connection on', async () => {
    const a = await resources.node({ standalone: true, requestTimeoutMs: 200 })
    const client = await resources.client()
    const expectReset = async (bytes: Uint8Array) => {
      const stream = await client.open(a.multiaddrs[0], LIGHT_PUSH_3_PROTOCOL)
      const closed = new Promise<Error | undefined>((resolve) =>
        stream.addEventListener('close', ({ error }) => resolve(error))
      )
      stream.send(bytes)
      expect((await closed)?.name).to.equal('StreamResetError')
    }
    await expectReset(fromHex('140a0141')) // 20 bytes announced, nothing follows
    await expectReset(fromHex('ffffffffffffffffffff')) // a length without end
    let failure: unknown
    await client
      .exchangeRaw(a.multiaddrs[0], LIGHT_PUSH_3_PROTOCOL, fromHex('140a0141'))
      .catch((error) => {
        failure = error
      })
    expect(failure).to.be.an('error')
    const [connection, ...others] = client.libp2p.getConnections()
    expect(others).to.deep.equal([])
    expect((await push(client, a.multiaddrs[0], encodeMessage())).statusCode).to.equal(200)
    expect(client.libp2p.getConnections()).to.deep.equal([connection])
  })

  it('serves a hundred pushes of one client at once', async () => {
    const a = await resources.node({ standalone: true })
    const client = await resources.client()
    await client.dial(a.multiaddrs[0])
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => push(client, a.multiaddrs[0], encodeMessage()))
    )
    expect(new Set(answers.map(({ statusCode }) => statusCode))).to.deep.equal(new Set([200]))
    expect(a.messageCount()).to.equal(100)
  })
})
