import { expect } from 'chai'
import { LIGHT_PUSH_2, LightPushClient, type PushResult } from 'waku-light/light-push'
import { fromHex, toHex } from 'waku-light/message'
import { createLightNode, type LightNode } from 'waku-light/node'
import { encodeWakuMessage, LIGHT_PUSH_2_PROTOCOL, METADATA_PROTOCOL } from 'waku-light/wire'
import { type GoEntry, GoWaku, hasGoWaku } from './lib/go-waku.ts'
import { CLUSTER_ID, freshTopic, NETWORK, now, OTHER_CLUSTER_ID, SHARDS } from './lib/network.ts'
import { publishAll } from './lib/publish.ts'
import { RawClient } from './lib/raw-client.ts'
import { recordedExchanges } from './lib/recorded.ts'
import { Resources } from './lib/resources.ts'
import { until } from './lib/until.ts'

const MAX_BYTES = 153_600

const suite = hasGoWaku ? describe : describe.skip

suite('go-waku: service node', () => {
  let go: GoWaku
  let partner: GoWaku
  let lone: GoWaku
  let node: LightNode
  let lightPush: LightPushClient
  let raw: RawClient
  let loneRaw: RawClient

  const resources = new Resources()

  before(async () => {
    const network = { clusterId: CLUSTER_ID, shards: SHARDS, pushRate: 0 }
    go = resources.add(await GoWaku.start('serve', network))
    const peers = [go.tcpAddress]
    partner = resources.add(await GoWaku.start('serve', { ...network, peers }))
    lone = resources.add(await GoWaku.start('serve', { clusterId: CLUSTER_ID, shards: [0] }))
    node = resources.add(await createLightNode({ serviceNodes: [go.wsAddress] }))
    lightPush = new LightPushClient(node, { maxMessageBytes: 2 * MAX_BYTES })
    raw = resources.add(await RawClient.connect(go.wsAddress, CLUSTER_ID))
    loneRaw = resources.add(await RawClient.connect(lone.wsAddress, CLUSTER_ID))
    await Promise.all(
      SHARDS.map((shard) => go.meshed(`/waku/2/rs/${CLUSTER_ID}/${shard}`, partner.peerId))
    )
  })

  after(() => resources.close())

  async function received(contentTopic: string): Promise<GoEntry[]> {
    const { messages } = await partner.call<{ messages: GoEntry[] }>('received')
    return messages.filter(({ message }) => message?.contentTopic === contentTopic)
  }

  describe(METADATA_PROTOCOL, () => {
    it('cluster and number of shards are learnt from it', async () => {
      expect(await node.network()).to.deep.equal(NETWORK)
    })

    it('difference: it tells its shards in field 3 only, packed, in any order', async () => {
      const answer = toText(await raw.request(METADATA_PROTOCOL, fromHex('0800')))
      expect(answer.slice(0, 8)).to.equal('082a1a08')
      expect([...fromHex(answer.slice(8))].sort()).to.deep.equal(SHARDS)
    })

    for (const [name, clusterId] of [
      ['is of another cluster', OTHER_CLUSTER_ID],
      ['does not answer metadata', undefined]
    ] as const) {
      it(`a client that ${name} is dropped`, async () => {
        const client = await RawClient.connect(go.wsAddress, clusterId)
        await until('it is dropped', () => !client.isConnected)
        await client.close()
      })
    }

    it('a light node of another cluster says so, with both clusters', async () => {
      const other = await createLightNode({
        clusterId: OTHER_CLUSTER_ID,
        shardCount: 8,
        serviceNodes: [go.wsAddress]
      })
      const { status, attempts } = await new LightPushClient(other).push(message())
      await other.close()
      // the request goes out together with the question for the cluster
      expect(status).to.equal('unknown')
      expect(attempts[0]?.error).to.include({
        code: 'ERR_CLUSTER_MISMATCH',
        clusterId: OTHER_CLUSTER_ID,
        remoteClusterId: CLUSTER_ID
      })
    })

    for (const { id, note, request, response } of recordedExchanges(/^metadata\.(?!we-|node-)/)) {
      it(`answered as recorded: ${id.slice(9)} (${note})`, async () => {
        expect(toText(await loneRaw.request(METADATA_PROTOCOL, request))).to.equal(response)
      })
    }
  })

  describe(LIGHT_PUSH_2_PROTOCOL, () => {
    it('a push falls back from 3.0.0, is accepted, and is in both archives', async () => {
      const result = await lightPush.push(message())
      expect(verdict(result)).to.deep.equal(['published', 'accepted', 'OK'])
      expect(result.attempts[0]?.protocol).to.equal(LIGHT_PUSH_2_PROTOCOL)
      const hash = toHex(result.messageHash ?? new Uint8Array())
      for (const archive of [go, partner]) {
        await archive.archived([hash])
      }
    })

    it('every field arrives at the other end, and the hash is the same', async () => {
      const contentTopic = freshTopic()
      const [sent] = await publishAll(lightPush, [
        { ...message(contentTopic), meta: Uint8Array.of(7, 8), version: 1, timestamp: 5n }
      ])
      const [entry] = await until('it arrives', async () => {
        const entries = await received(contentTopic)
        return entries.length > 0 && entries
      })
      expect(entry).to.deep.equal({
        hash: sent?.hash,
        pubsubTopic: sent?.pubsubTopic,
        message: { payload: '0102', contentTopic, version: 1, timestamp: '5', meta: '0708' }
      })
    })

    it('messages of several shards go to the pubsub topics that autosharding gives', async () => {
      const applications = ['toychat', 'toychat2', 'myapp', 'statusim', 'waku']
      const sent = await publishAll(
        lightPush,
        applications.map((application) => message(freshTopic(application)))
      )
      expect(new Set(sent.map(({ pubsubTopic }) => pubsubTopic)).size).to.be.greaterThan(2)
      for (const { contentTopic, pubsubTopic } of sent) {
        const [entry] = await until('it arrives', async () => {
          const entries = await received(contentTopic)
          return entries.length > 0 && entries
        })
        expect(entry?.pubsubTopic).to.equal(pubsubTopic)
      }
    })

    it('an ephemeral message is relayed, but not archived', async () => {
      const contentTopic = freshTopic()
      const [sent] = await publishAll(lightPush, [{ ...message(contentTopic), ephemeral: true }])
      const [after] = await publishAll(lightPush, [message(contentTopic)])
      await until('both arrive', async () => (await received(contentTopic)).length === 2)
      await partner.archived([after?.hash ?? ''])
      expect(await partner.stored()).to.not.include(sent?.hash)
    })

    it('difference: a message of any age is archived', async () => {
      const [sent] = await publishAll(lightPush, [
        { ...message(), timestamp: now() - 3_600_000_000_000n }
      ])
      await go.archived([sent?.hash ?? ''])
    })

    it('difference: a duplicate is accepted', async () => {
      const repeated = { ...message(), timestamp: now() }
      await publishAll(lightPush, [repeated])
      expect(verdict(await lightPush.push(repeated))).to.deep.equal(['published', 'accepted', 'OK'])
    })

    it('difference: an empty payload is refused', async () => {
      const result = await lightPush.push({ ...message(), payload: new Uint8Array() })
      const text = 'invalid request: missing Payload field'
      expect(verdict(result)).to.deep.equal(['failed', 'refused', text])
    })

    it(`difference: the limit is ${MAX_BYTES} bytes as encoded, without empty fields`, async () => {
      expect(verdict(await lightPush.push(messageOf(MAX_BYTES)))[0]).to.equal('published')
      const text = 'Could not publish message: message size exceeds gossipsub max message size'
      expect(verdict(await lightPush.push(messageOf(MAX_BYTES + 1)))).to.deep.equal([
        'failed',
        'refused',
        text
      ])
    })

    it('difference: an unserved pubsub topic has no answer of its own', async () => {
      const pubsubTopic = `/waku/2/rs/${CLUSTER_ID}/1000`
      const result = await lightPush.push(message(), { pubsubTopic, retry: false })
      const text = 'Could not publish message: not enough peers to publish'
      expect(verdict(result)).to.deep.equal(['unknown', 'not-relayed', text])
    })

    it('a lone node relays to nobody, and a second push within a second is too many', async () => {
      const alone = await createLightNode({ serviceNodes: [lone.wsAddress] })
      const client = new LightPushClient(alone)
      const first = verdict(await client.push(message(), { retry: false }))
      const second = verdict(await client.push(message(), { retry: false }))
      await alone.close()
      const text = 'Could not publish message: not enough peers to publish'
      expect(first).to.deep.equal(['unknown', 'not-relayed', text])
      expect(second).to.deep.equal(['failed', 'rate-limited', 'exceeds the rate limit'])
    })

    it('the answer to one push too many has a placeholder for its id', async () => {
      const client = await RawClient.connect(lone.wsAddress, CLUSTER_ID)
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => client.request(LIGHT_PUSH_2_PROTOCOL, new Uint8Array()))
      )
      await client.close()
      const text = Buffer.from('exceeds the rate limit').toString('hex')
      expect(answers.map(toText)).to.include(`0a034e2f411a181216${text}`)
    })

    for (const exchange of recordedExchanges(/^lightpush2\.(?!lone-node|topic-unserved)/)) {
      const { id, note, request, response } = exchange
      it(`answered as recorded: ${id.slice(11)} (${note})`, async () => {
        const answer = await raw.request(LIGHT_PUSH_2_PROTOCOL, request)
        expect(toText(answer)).to.equal(response)
        if (answer !== 'reset') {
          const { status } = LIGHT_PUSH_2.decode(answer, 'r1', go.peerId)
          expect(status).to.equal(expectedStatus(exchange.info))
        }
      })
    }
  })
})

function message(contentTopic = freshTopic()): { contentTopic: string; payload: Uint8Array } {
  return { contentTopic, payload: Uint8Array.of(1, 2) }
}

/** A message that is so long when it is encoded. */
function messageOf(bytes: number) {
  const draft = { contentTopic: freshTopic(), payload: new Uint8Array(bytes), timestamp: now() }
  const excess = encodeWakuMessage(draft).length - bytes
  return { ...draft, payload: new Uint8Array(bytes - excess).fill(1) }
}

function verdict({ status, attempts }: PushResult): unknown[] {
  expect(attempts).to.have.lengthOf(1)
  return [status, attempts[0]?.reason, attempts[0]?.statusDesc]
}

/** What a caller of our client may be told, by the node's own words. */
function expectedStatus(info: string | undefined): string {
  if (info === 'OK') {
    return 'published'
  }
  return info === 'Could not publish message: not enough peers to publish' ? 'unknown' : 'failed'
}

function toText(answer: Uint8Array | 'reset'): string {
  return answer === 'reset' ? answer : toHex(answer)
}
