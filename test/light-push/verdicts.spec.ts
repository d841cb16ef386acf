import { expect } from 'chai'
import { LightPushClient, type PushResult } from 'waku-light/light-push'
import { LIGHT_PUSH_2_PROTOCOL, LIGHT_PUSH_3_PROTOCOL } from 'waku-light/wire'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
import { push2Peer, push3Peer } from '../helpers/push-peers.ts'

const push = (peer: FakePeer): Promise<PushResult> =>
  new LightPushClient(new FakePeers([peer])).push(
    { contentTopic: '/app/22/a/proto', payload: Uint8Array.of(1) },
    { retry: false }
  )

describe('LightPushClient.push, of what a node answers in light push 3', () => {
  for (const [statusCode, statusDesc, status, reason] of [
    [200, undefined, 'published', 'accepted'],
    [204, 'another success', 'published', 'accepted'],
    [
      400,
      'decode_rpc_failure: (kind: MissingRequiredField, field: "payload")',
      'failed',
      'refused'
    ],
    [400, 'topic must not be empty', 'failed', 'refused'],
    [413, 'too large', 'failed', 'refused'],
    [420, 'Message size exceeded maximum of 153600 bytes', 'failed', 'refused'],
    [420, 'RLN validation failed', 'failed', 'refused'],
    [420, 'signed shard validation failed', 'failed', 'refused'],
    [420, 'validator failed', 'failed', 'refused'],
    [420, 'Invalid content-topic:invalid format: x', 'failed', 'refused'],
    [420, 'Pubsub topic must be specified when static sharding is enabled', 'failed', 'refused'],
    [421, 'unsupported', 'failed', 'refused'],
    [429, 'Request rejected due to too many requests', 'failed', 'rate-limited'],
    [500, 'Auto-sharding error: Generation > 0 are not supported yet', 'failed', 'refused'],
    [503, 'no relay peers', 'unknown', 'not-relayed'],
    [504, 'could not generate rln-v2 proof: x', 'failed', 'refused'],
    [505, 'No peers for topic, skipping publish', 'unknown', 'not-relayed'],
    [0, undefined, 'unknown', 'no-answer'],
    [100, undefined, 'unknown', 'no-answer'],
    [300, undefined, 'unknown', 'no-answer'],
    [599, 'unheard of', 'unknown', 'no-answer']
  ] as const) {
    it(`${statusCode} ${statusDesc ?? ''} is ${status}: ${reason}`, async () => {
      const result = await push(push3Peer({ statusCode, statusDesc }))
      expect(result.status).to.equal(status)
      expect(result.attempts).to.have.length(1)
      expect(result.attempts[0]).to.deep.include({
        status,
        reason,
        statusCode,
        statusDesc,
        peerId: 'peer',
        protocol: LIGHT_PUSH_3_PROTOCOL
      })
    })
  }

  it('takes 200 with no relay peers as unknown, and without a count as published', async () => {
    const none = await push(push3Peer({ relayPeerCount: 0 }))
    expect(none).to.include({ status: 'unknown', relayPeerCount: 0 })
    expect(none.attempts[0]?.reason).to.equal('not-relayed')
    const untold = await push(push3Peer({}))
    expect(untold).to.include({ status: 'published' }).and.not.have.property('relayPeerCount')
    expect(await push(push3Peer({ relayPeerCount: 7 }))).to.include({
      status: 'published',
      relayPeerCount: 7
    })
  })

  for (const requestId of ['N/A', '', 'another']) {
    it(`reads an error under the request id "${requestId}"`, async () => {
      const { attempts } = await push(push3Peer({ requestId, statusCode: 429 }))
      expect(attempts[0]).to.include({ status: 'failed', reason: 'rate-limited' })
    })

    it(`does not trust a success under the request id "${requestId}"`, async () => {
      for (const relayPeerCount of [3, 0, undefined]) {
        const { status, attempts } = await push(push3Peer({ requestId, relayPeerCount }))
        expect(status).to.equal('unknown')
        expect(attempts[0]).to.deep.nested.include({
          reason: 'no-answer',
          'error.code': 'ERR_PROTOCOL_VIOLATION',
          'error.detail': 'request-id'
        })
      }
    })
  }

  for (const bytes of [Uint8Array.of(0xff), Uint8Array.of(0x0a, 0x09, 0x41)]) {
    it(`takes an answer that does not decode (${bytes.length} bytes) as none`, async () => {
      const { status, attempts } = await push(push3Peer(bytes))
      expect(status).to.equal('unknown')
      expect(attempts[0]).to.deep.nested.include({
        reason: 'no-answer',
        'error.code': 'ERR_INVALID_MESSAGE'
      })
    })
  }

  it('takes an empty answer as none', async () => {
    expect(await push(push3Peer(new Uint8Array()))).to.include({ status: 'unknown' })
  })
})

describe('LightPushClient.push, of what a node answers in light push 2', () => {
  it('OK is published: accepted', async () => {
    const { status, attempts } = await push(push2Peer({ info: 'OK' }))
    expect(status).to.equal('published')
    expect(attempts[0]).to.deep.include({
      reason: 'accepted',
      statusDesc: 'OK',
      protocol: LIGHT_PUSH_2_PROTOCOL
    })
    expect(attempts[0]?.statusCode).to.equal(undefined)
  })

  for (const [info, requestId, status, reason] of [
    ['TOO_MANY_REQUESTS', 'N/A', 'failed', 'rate-limited'],
    ['exceeds the rate limit', 'N/A', 'failed', 'rate-limited'],
    ['decode_rpc_failure: (kind: MissingRequiredField, field: "x")', '', 'failed', 'refused'],
    ['empty_request_body_failure', '', 'failed', 'refused'],
    ['invalid request: missing Query field', undefined, 'failed', 'refused'],
    ['invalid request: missing RequestId field', '', 'failed', 'refused'],
    ['invalid request: missing PubsubTopic field', undefined, 'failed', 'refused'],
    ['invalid request: missing Payload field', undefined, 'failed', 'refused'],
    ['Message size exceeded maximum of 153600 bytes', undefined, 'failed', 'refused'],
    ['RLN validation failed', undefined, 'failed', 'refused'],
    ['could not generate rln-v2 proof: x', undefined, 'failed', 'refused'],
    ['could not get new message id to generate an rln proof: x', undefined, 'failed', 'refused'],
    ['signed shard validation failed', undefined, 'failed', 'refused'],
    ['validator failed', undefined, 'failed', 'refused'],
    [
      'Could not publish message: message size exceeds gossipsub max message size',
      undefined,
      'failed',
      'refused'
    ],
    ['Could not publish message: missing ContentTopic field', undefined, 'failed', 'refused'],
    ['not_published_to_any_peer', undefined, 'unknown', 'not-relayed'],
    ['Could not publish message: not enough peers to publish', undefined, 'unknown', 'not-relayed'],
    ['something that nobody knows', undefined, 'unknown', 'no-answer'],
    [undefined, undefined, 'unknown', 'no-answer']
  ] as const) {
    it(`"${info}" is ${status}: ${reason}`, async () => {
      const id = requestId === undefined ? {} : { requestId }
      const result = await push(push2Peer({ isSuccess: false, info, ...id }))
      expect(result.status).to.equal(status)
      expect(result.attempts[0]).to.deep.include({ status, reason, statusDesc: info })
    })
  }

  it('does not trust a success for another request', async () => {
    const { status, attempts } = await push(push2Peer({ requestId: 'N/A' }))
    expect(status).to.equal('unknown')
    expect(attempts[0]).to.deep.nested.include({ 'error.detail': 'request-id' })
  })

  it('takes an answer without a response, and an empty one, as none', async () => {
    for (const bytes of [Uint8Array.of(0x0a, 0x01, 0x41), new Uint8Array()]) {
      const { status, attempts } = await push(push2Peer(bytes))
      expect(status).to.equal('unknown')
      expect(attempts[0]).to.deep.nested.include({ 'error.code': 'ERR_INVALID_MESSAGE' })
    }
  })
})
