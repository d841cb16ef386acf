import { expect } from 'chai'
import { ClosedError, ConnectionError } from 'waku-light/errors'
import { LightPushClient, type PushProgress } from 'waku-light/light-push'
import { failure, failureOf } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, never } from '../helpers/fake-peers.ts'
import { PushClock } from '../helpers/push-clock.ts'
import { push3Peer } from '../helpers/push-peers.ts'

const outgoing = { contentTopic: '/app/22/a/proto', payload: Uint8Array.of(1, 2, 3) }
const closed: FakePeer = {
  ...push3Peer({}, 'closed'),
  dial: () => {
    throw new ClosedError()
  }
}

describe('LightPushClient.push, once it is over', () => {
  it('gives up the tries at other nodes where the node is closed', async () => {
    let reason: unknown
    const hanging: FakePeer = {
      ...push3Peer({}, 'hanging'),
      dial: async (signal) => {
        await never(signal).catch((error: unknown) => {
          reason = error
          throw error
        })
      }
    }
    const peers = new FakePeers([hanging, closed])
    const push = () => new LightPushClient(peers).push(outgoing, { redundancy: 2 })
    const error = await failureOf('ERR_CLOSED', push)
    expect(reason).to.equal(error)
    expect(peers.pending).to.equal(0)
  })

  it('resolves after an abort where the one answer was a refusal, as something was written', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const sleep = async (_ms: number, signal: AbortSignal): Promise<void> => {
      controller.abort(reason)
      await never(signal)
    }
    const peers = new FakePeers([push3Peer({ statusCode: 500 })])
    const { signal } = controller
    const { status, attempts, error } = await new LightPushClient(peers, { sleep }).push(outgoing, {
      signal
    })
    expect(status).to.equal('failed')
    expect(error).to.equal(reason)
    expect(attempts.map((attempt) => attempt.reason)).to.deep.equal(['refused'])
  })

  it('tells nothing of a message whose proof comes after that', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const proof = Promise.withResolvers<Uint8Array>()
    const events: PushProgress[] = []
    const pushing = new LightPushClient(new FakePeers([push3Peer()])).push(outgoing, {
      signal: controller.signal,
      proof: () => {
        queueMicrotask(() => controller.abort(reason))
        return proof.promise
      },
      onProgress: (event) => events.push(event)
    })
    expect(await failure(() => pushing)).to.equal(reason)
    proof.resolve(Uint8Array.of(1))
    await new Promise((resolve) => setTimeout(resolve))
    expect(events).to.deep.equal([])
  })

  it('begins no pause after a node took it', async () => {
    const events: string[] = []
    const published = Promise.withResolvers<void>()
    const busy: FakePeer = {
      ...push3Peer({}, 'busy'),
      answer: async (request) => {
        await published.promise
        return await push3Peer({ statusCode: 429 }).answer(request)
      }
    }
    const peers = new FakePeers([busy, push3Peer({}, 'good')])
    const { status, attempts } = await new LightPushClient(peers, new PushClock()).push(outgoing, {
      redundancy: 2,
      onProgress: ({ type, detail }) => {
        events.push(type)
        if (type === 'light-push:attempted' && detail.status === 'published') {
          published.resolve()
        }
      }
    })
    expect(status).to.equal('published')
    expect(attempts.map(({ peerId }) => peerId)).to.deep.equal(['good', 'busy'])
    expect(events).to.not.include('light-push:pause')
  })

  it('names no protocol for a try of which nothing was read', async () => {
    const peers = new FakePeers([push3Peer({}, 'a')])
    peers.request = async (_peer, { protocols, encode, onWrite, onUnread }) => {
      encode(protocols[0] as string)
      onWrite?.()
      onUnread?.()
      throw new ConnectionError('gone')
    }
    const { attempts } = await new LightPushClient(peers).push(outgoing, { retry: false })
    expect(attempts).to.have.length(1)
    expect(attempts[0]).to.deep.include({ reason: 'not-sent', protocol: undefined })
  })
})
