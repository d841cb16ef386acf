import { expect } from 'chai'
import {
  LIGHT_PUSH_2,
  LIGHT_PUSH_3,
  LightPushClient,
  type LightPushGeneration
} from 'waku-light/light-push'
import { fromMilliseconds, toHex } from 'waku-light/message'
import { StoreClient } from 'waku-light/store'
import { type Context, freshTopic, openContext, publish, until } from './context.ts'

describe('conformance: light push', () => {
  let context: Context

  before(async function () {
    this.timeout(60_000)
    context = await openContext()
  })

  after(async () => {
    await context.close()
  })

  for (const generation of [LIGHT_PUSH_3, LIGHT_PUSH_2]) {
    describe(generation.protocol, () => {
      const client = (): LightPushClient =>
        new LightPushClient(context.writer, { generations: [generation] })

      before(async function () {
        if (!(await speaks(context, generation))) {
          this.skip()
        }
      })

      it('publishes a message, which is then in the archive of the node at the other end', async () => {
        const contentTopic = freshTopic()
        const payload = crypto.getRandomValues(new Uint8Array(300))
        const { status, messageHash, attempts } = await client().push({
          contentTopic,
          payload,
          meta: Uint8Array.of(1)
        })
        expect(status).to.equal('published')
        expect(attempts.map(({ protocol }) => protocol)).to.deep.equal([generation.protocol])
        const store = new StoreClient(context.reader)
        const message = await until(
          'it is stored',
          async () => (await store.last({ contentTopics: [contentTopic] }, 1))[0]
        )
        expect(toHex(message.payload)).to.equal(toHex(payload))
        expect(toHex(message.messageHash)).to.equal(toHex(messageHash ?? new Uint8Array()))
      })

      it('does not call a repeat of the same message a failure', async () => {
        const message = {
          contentTopic: freshTopic(),
          payload: Uint8Array.of(1),
          timestamp: fromMilliseconds(Date.now())
        }
        await publish(context, [message])
        const { status } = await client().push(message)
        expect(status).to.be.oneOf(['published', 'unknown'])
      })

      it('says that a message is too large', async () => {
        const large = new LightPushClient(context.writer, {
          generations: [generation],
          maxMessageBytes: 400_000
        })
        const { status, attempts } = await large.push({
          contentTopic: freshTopic(),
          payload: new Uint8Array(200_000)
        })
        expect(status).to.equal('failed')
        expect(attempts[0]).to.include({ reason: 'refused' })
        expect(attempts[0]?.statusDesc).to.match(/size/i)
      })

      it('does not say published for a pubsub topic that it does not serve', async () => {
        const pubsubTopic = `/waku/2/rs/${context.target.clusterId}/1000`
        const { status } = await client().push(
          { contentTopic: freshTopic(), payload: Uint8Array.of(1) },
          { pubsubTopic }
        )
        expect(status).to.not.equal('published')
      })

      it('answers or ends a request that does not decode', async () => {
        const bytes = Uint8Array.of(0x0a, 0x05, 0x01)
        const request = {
          protocols: [generation.protocol],
          encode: () => bytes,
          maxResponseBytes: 1_000
        }
        const [peer] = context.writer.servicePeers.candidates()
        const outcome = await context.writer.servicePeers
          .request(peer ?? expect.fail('no peer'), request, AbortSignal.timeout(5_000))
          .then(
            (reply) => generation.decode(reply.bytes, 'id', reply.peerId).status,
            (error: { code: string }) => error.code
          )
        expect(outcome).to.be.oneOf(['failed', 'ERR_CONNECTION'])
      })
    })
  }

  it('tells the network from the metadata of the node', async () => {
    expect(await context.reader.network()).to.include({ clusterId: context.target.clusterId })
  })
})

async function speaks(context: Context, generation: LightPushGeneration): Promise<boolean> {
  const client = new LightPushClient(context.writer, { generations: [generation] })
  const { attempts } = await client.push({
    contentTopic: freshTopic(),
    payload: Uint8Array.of(1),
    ephemeral: true
  })
  return attempts.some(({ protocol }) => protocol === generation.protocol)
}
