import { expect } from 'chai'
import {
  AddressError,
  ClosedError,
  ConnectionError,
  NoUsablePeerError,
  TimeoutError
} from 'waku-light/errors'
import { LightPushClient, type PushOptions, type PushProgress } from 'waku-light/light-push'
import { messageHash as hashOf, toHex, type WakuMessage } from 'waku-light/message'
import {
  decodeLegacyPushRequest,
  decodeLightPushRequest,
  decodeWakuMessage,
  LIGHT_PUSH_2_PROTOCOL,
  LIGHT_PUSH_3_PROTOCOL
} from 'waku-light/wire'
import { failure, failureOf } from '../helpers/collect.ts'
import {
  type FakePeer,
  FakePeers,
  type FakeRequest,
  NETWORK,
  never
} from '../helpers/fake-peers.ts'
import { push2Peer, push3Peer } from '../helpers/push-peers.ts'

const TOPIC = '/app/22/a/proto'
const PUBSUB_TOPIC = '/waku/2/rs/1/2'
const NOW = 1_700_000_000_123
const outgoing = () => ({ contentTopic: TOPIC, payload: Uint8Array.of(1, 2, 3) })
const client = (peers: FakePeers, init = {}) =>
  new LightPushClient(peers, { now: () => NOW, sleep: async () => {}, ...init })

const broken = (peerId: string, afterWrite: boolean): FakePeer => {
  const fail = (): never => {
    throw new ConnectionError('broken')
  }
  return { ...push3Peer({}, peerId), ...(afterWrite ? { answer: fail } : { dial: fail }) }
}
const silent = (peerId = 'silent'): FakePeer => ({
  ...push3Peer({}, peerId),
  answer: ({ signal }) => never(signal)
})

function sent({ bytes, protocol }: FakeRequest) {
  return protocol === LIGHT_PUSH_3_PROTOCOL
    ? decodeLightPushRequest(bytes)
    : decodeLegacyPushRequest(bytes)
}

describe('LightPushClient.push', () => {
  it('pushes the same content twice in a millisecond as two messages, unless it is given a timestamp', async () => {
    const pushing = client(new FakePeers([push3Peer()]))
    const timestamp = BigInt(NOW) * 1_000_000n
    const results = await Promise.all([
      pushing.push(outgoing()),
      pushing.push(outgoing()),
      pushing.push({ ...outgoing(), timestamp })
    ])
    expect(results.map((result) => result.timestamp)).to.deep.equal([
      timestamp,
      timestamp + 1n,
      timestamp
    ])
    const [first, second, given] = results.map((result) => toHex(result.messageHash as Uint8Array))
    expect(second).to.not.equal(first)
    expect(given).to.equal(first)
  })

  it('publishes at the first node, under the derived pubsub topic, with timestamp and hash', async () => {
    const peers = new FakePeers([push3Peer({ relayPeerCount: 4 }), push3Peer({}, 'other')])
    const result = await client(peers).push(outgoing())
    const [request] = peers.requests as [FakeRequest]
    const { pubsubTopic, message } = sent(request)
    const decoded = decodeWakuMessage(message)
    expect(pubsubTopic).to.equal(PUBSUB_TOPIC)
    expect(decoded).to.deep.equal({ ...outgoing(), timestamp: BigInt(NOW) * 1_000_000n })
    expect(result).to.deep.equal({
      status: 'published',
      messageHash: hashOf(PUBSUB_TOPIC, decoded),
      pubsubTopic: PUBSUB_TOPIC,
      timestamp: decoded.timestamp,
      relayPeerCount: 4,
      attempts: [
        {
          status: 'published',
          reason: 'accepted',
          statusCode: 200,
          statusDesc: undefined,
          relayPeerCount: 4,
          peerId: 'peer',
          protocol: LIGHT_PUSH_3_PROTOCOL,
          startedAtMs: NOW,
          durationMs: 0,
          error: undefined
        }
      ]
    })
    expect(peers.requests).to.have.length(1)
  })

  it('sends identical bytes at all tries, over both generations, each under an id of its own', async () => {
    let time = NOW
    const peers = new FakePeers([
      push3Peer({ statusCode: 505 }, 'a'),
      push2Peer({ isSuccess: false, info: 'not_published_to_any_peer' }, 'b'),
      push3Peer({ statusCode: 429, requestId: 'N/A' }, 'c')
    ])
    const message = outgoing()
    const pushing = client(peers, { now: () => time++, maxAttempts: 3 }).push(message)
    message.payload.fill(9)
    const result = await pushing
    message.payload.fill(8)
    const requests = peers.requests.map(sent)
    expect(requests).to.have.length(3)
    for (const { message: bytes, pubsubTopic } of requests) {
      expect(bytes).to.deep.equal(requests[0]?.message)
      expect(pubsubTopic).to.equal(PUBSUB_TOPIC)
      const decoded = decodeWakuMessage(bytes)
      expect(decoded.payload).to.deep.equal(Uint8Array.of(1, 2, 3))
      expect(hashOf(PUBSUB_TOPIC, decoded)).to.deep.equal(result.messageHash)
    }
    expect(new Set(requests.map(({ requestId }) => requestId)).size).to.equal(3)
    expect(result.status).to.equal('unknown')
    expect(
      result.attempts.map(({ peerId, reason, protocol }) => [peerId, reason, protocol])
    ).to.deep.equal([
      ['a', 'not-relayed', LIGHT_PUSH_3_PROTOCOL],
      ['b', 'not-relayed', LIGHT_PUSH_2_PROTOCOL],
      ['c', 'rate-limited', LIGHT_PUSH_3_PROTOCOL]
    ])
    for (const { startedAtMs, durationMs } of result.attempts) {
      expect(startedAtMs).to.be.at.least(NOW)
      expect(durationMs).to.be.greaterThan(0)
    }
  })

  it('is published if any node took it, whatever the others said', async () => {
    const peers = new FakePeers([
      broken('a', true),
      push3Peer({ statusCode: 420 }, 'b'),
      push3Peer({ relayPeerCount: 2 }, 'c')
    ])
    const { status, attempts } = await client(peers).push(outgoing())
    expect(status).to.equal('published')
    expect(attempts.map((attempt) => attempt.status)).to.deep.equal([
      'unknown',
      'failed',
      'published'
    ])
  })

  it('is failed only if nothing can have left', async () => {
    const failed = new FakePeers([broken('a', false), push3Peer({ statusCode: 400 }, 'b')])
    const { status, attempts } = await client(failed, { maxAttempts: 2 }).push(outgoing())
    expect(status).to.equal('failed')
    expect(attempts.map(({ reason }) => reason)).to.deep.equal(['not-sent', 'refused'])
    expect(attempts[0]).to.deep.nested.include({ 'error.code': 'ERR_CONNECTION', peerId: 'a' })
    const unknown = new FakePeers([broken('a', true), push3Peer({ statusCode: 400 }, 'b')])
    expect((await client(unknown).push(outgoing())).status).to.equal('unknown')
  })

  it('tries no more nodes than it may', async () => {
    const peers = new FakePeers(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => broken(id, true)))
    expect((await client(peers).push(outgoing())).attempts).to.have.length(5)
    expect((await client(peers, { maxAttempts: 3 }).push(outgoing())).attempts).to.have.length(3)
    expect((await client(peers, { maxAttempts: 1 }).push(outgoing())).attempts).to.have.length(1)
  })

  it('takes a node that speaks neither generation as one to which nothing was sent', async () => {
    const peers = new FakePeers([{ ...push3Peer(), protocols: ['/other/1'] }])
    const { status, attempts } = await client(peers).push(outgoing())
    expect(status).to.equal('failed')
    expect(attempts[0]).to.deep.nested.include({
      reason: 'not-sent',
      'error.code': 'ERR_UNSUPPORTED'
    })
    expect(attempts[0]?.protocol).to.equal(undefined)
  })

  it('resolves whatever a transport throws', async () => {
    const odd = {
      ...push3Peer(),
      answer: () => {
        throw new TypeError('not of this package')
      }
    }
    const { status, attempts } = await client(new FakePeers([odd, push3Peer({}, 'b')])).push(
      outgoing()
    )
    expect(status).to.equal('published')
    expect(attempts[0]).to.deep.nested.include({ status: 'unknown', 'error.name': 'TypeError' })
  })

  it('tells of each try, and survives a listener that throws', async () => {
    const events: PushProgress[] = []
    const peers = new FakePeers([broken('a', false), push3Peer({}, 'b')])
    const { attempts, messageHash, pubsubTopic, timestamp } = await client(peers).push(outgoing(), {
      onProgress: (event) => {
        events.push(event)
        throw new Error('in the listener')
      }
    })
    expect(events).to.deep.equal([
      { type: 'light-push:sealed', detail: { messageHash, pubsubTopic, timestamp } },
      { type: 'light-push:attempt', detail: { peerId: 'a' } },
      { type: 'light-push:attempted', detail: attempts[0] },
      { type: 'light-push:attempt', detail: { peerId: 'b' } },
      { type: 'light-push:attempted', detail: attempts[1] }
    ])
  })

  it('carries fields that are given', async () => {
    const peers = new FakePeers([push3Peer()])
    const message = {
      ...outgoing(),
      timestamp: new Date(5),
      meta: Uint8Array.of(7),
      version: 1,
      ephemeral: true
    }
    await client(peers).push(message, { pubsubTopic: '/waku/2/rs/1/7' })
    const { message: bytes, pubsubTopic } = sent(peers.requests[0] as FakeRequest)
    expect(decodeWakuMessage(bytes)).to.deep.equal({ ...message, timestamp: 5_000_000n })
    expect(pubsubTopic).to.equal('/waku/2/rs/1/7')
  })

  it('fails with the reason for each node where the network cannot be learnt', async () => {
    const failures = ['a', 'b'].map((peerId) => ({ peerId, error: new ConnectionError('down') }))
    const peers = new FakePeers([push3Peer()], () => {
      throw new NoUsablePeerError(failures)
    })
    const sent = await client(peers).push(outgoing(), { retry: false })
    const { status, attempts, messageHash: hash, error } = sent
    expect(status).to.equal('failed')
    expect(hash).to.equal(undefined)
    expect(error).to.deep.include({ code: 'ERR_NO_USABLE_PEER' })
    expect(
      attempts.map(({ peerId, reason, error: why }) => ({ peerId, reason, why }))
    ).to.deep.equal(failures.map(({ peerId, error: why }) => ({ peerId, reason: 'not-sent', why })))
  })

  it('tries to learn the network again, as a push is tried again', async () => {
    let calls = 0
    const down = { peerId: 'a', error: new ConnectionError('down') }
    const peers = new FakePeers([push3Peer()], () => {
      if (++calls < 3) {
        throw new NoUsablePeerError([down])
      }
      return NETWORK
    })
    const waits: number[] = []
    const sleep = async (ms: number): Promise<void> => {
      waits.push(ms)
    }
    const patient = new LightPushClient(peers, { sleep, random: () => 1 })
    const { status, attempts } = await patient.push(outgoing())
    expect(status).to.equal('published')
    expect(attempts.map(({ reason }) => reason)).to.deep.equal(['not-sent', 'not-sent', 'accepted'])
    expect(waits).to.deep.equal([500, 1000])
    calls = -100
    const given = await patient.push(outgoing(), { maxAttempts: 2 })
    expect(given.attempts.map(({ reason }) => reason)).to.deep.equal(['not-sent', 'not-sent'])
    // what stays wrong is not tried again
    const refused = new FakePeers([push3Peer()], () => {
      throw new NoUsablePeerError([{ peerId: 'a', error: new AddressError('a', 'is no address') }])
    })
    const wrong = await new LightPushClient(refused, { sleep }).push(outgoing())
    expect(wrong.attempts).to.have.length(1)
  })

  it('names each node where the deadline passes while the network is being learnt', async () => {
    const peers = new FakePeers([push3Peer()], (signal) => never(signal))
    const { status, attempts, error } = await client(peers).push(outgoing(), { timeoutMs: 5 })
    expect(status).to.equal('failed')
    expect(attempts).to.have.length(1)
    expect(attempts[0]).to.include({ reason: 'not-sent', error })
  })

  it('keeps what failed before a pause in which the deadline passes', async () => {
    const down = new ConnectionError('down')
    const peers = new FakePeers([push3Peer()], () => {
      throw new NoUsablePeerError([{ peerId: 'a', error: down }])
    })
    const sleep = (_ms: number, signal: AbortSignal): Promise<void> => never(signal)
    const patient = new LightPushClient(peers, { now: () => 0, minBackoffMs: 1, sleep })
    const { status, attempts, error } = await patient.push(outgoing(), { timeoutMs: 5 })
    expect(status).to.equal('failed')
    expect(error).to.deep.include({ code: 'ERR_TIMEOUT' })
    expect(attempts.map(({ error: why }) => why)).to.deep.equal([down, error])
  })

  it('fails without any node', async () => {
    const { status, attempts, error } = await client(new FakePeers([])).push(outgoing())
    expect(status).to.equal('failed')
    expect(attempts).to.deep.equal([])
    expect(error).to.deep.include({ code: 'ERR_NO_USABLE_PEER' })
  })

  it('needs a pubsub topic under static sharding with several', async () => {
    const peers = new FakePeers([push3Peer()], { clusterId: 5, pubsubTopics: ['/x', '/y'] })
    const error = await failureOf('ERR_INVALID_ARGUMENT', () => client(peers).push(outgoing()))
    expect(error.parameter).to.equal('pubsubTopic')
    expect((await client(peers).push(outgoing(), { pubsubTopic: '/y' })).pubsubTopic).to.equal('/y')
    const one = new FakePeers([push3Peer()], { clusterId: 5, pubsubTopics: ['/x'] })
    expect((await client(one).push(outgoing())).pubsubTopic).to.equal('/x')
  })
})

describe('LightPushClient.push, proofs', () => {
  it('asks once, after the timestamp is set, and carries the proof untouched', async () => {
    const asked: [WakuMessage, string][] = []
    const given = Uint8Array.of(4, 5, 6)
    const peers = new FakePeers([push3Peer({ statusCode: 505 }, 'a'), push3Peer({}, 'b')])
    const result = await client(peers).push(outgoing(), {
      proof: async (message, pubsubTopic) => {
        asked.push([message, pubsubTopic])
        return given
      }
    })
    given.fill(0)
    expect(asked).to.have.length(1)
    expect(asked[0]).to.deep.equal([
      {
        ...outgoing(),
        timestamp: result.timestamp,
        version: undefined,
        meta: undefined,
        ephemeral: undefined
      },
      PUBSUB_TOPIC
    ])
    for (const request of peers.requests) {
      const { rateLimitProof, timestamp } = decodeWakuMessage(sent(request).message)
      expect(rateLimitProof).to.deep.equal(Uint8Array.of(4, 5, 6))
      expect(timestamp).to.equal(result.timestamp)
    }
  })

  it('rejects with what the prover throws, and with an argument error for what is no proof', async () => {
    const peers = new FakePeers([push3Peer()])
    const reason = new Error('no proof today')
    const throwing = { proof: () => Promise.reject(reason) }
    expect(await failure(() => client(peers).push(outgoing(), throwing))).to.equal(reason)
    const wrong = { proof: () => 'text' } as unknown as PushOptions
    const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
      client(peers).push(outgoing(), wrong)
    )
    expect(error.parameter).to.equal('message.rateLimitProof')
    const huge = { proof: () => new Uint8Array(200_000) }
    await failureOf('ERR_MESSAGE_TOO_LARGE', () => client(peers).push(outgoing(), huge))
    expect(peers.requests).to.have.length(0)
  })

  it('resolves within the deadline where the prover never answers', async () => {
    const options = { proof: () => new Promise<never>(() => undefined), timeoutMs: 2 }
    const { status, error, attempts } = await client(new FakePeers([push3Peer()])).push(
      outgoing(),
      options
    )
    expect(status).to.equal('failed')
    expect(attempts).to.deep.equal([])
    expect(error).to.be.instanceOf(TimeoutError)
  })
})

describe('LightPushClient.push, its end', () => {
  it('rejects with the reason of an abort before the first write', async () => {
    const reason = { why: 'because' }
    const peers = new FakePeers([push3Peer()])
    const signal = AbortSignal.abort(reason)
    expect(await failure(() => client(peers).push(outgoing(), { signal }))).to.equal(reason)
    expect(peers.networkCalls).to.equal(0)

    for (const where of ['network', 'dial'] as const) {
      const controller = new AbortController()
      const waiting =
        where === 'network'
          ? new FakePeers([push3Peer()], (inner) => never(inner))
          : new FakePeers([{ ...push3Peer(), dial: (inner) => never(inner) }])
      const outcome = failure(() => client(waiting).push(outgoing(), controller))
      await Promise.resolve()
      controller.abort(reason)
      expect(await outcome).to.equal(reason)
      expect(waiting.requests).to.have.length(0)
    }
  })

  it('rejects with a reason that is an error of this package', async () => {
    const reason = new TimeoutError('the caller', 5)
    const controller = new AbortController()
    const peers = new FakePeers([{ ...push3Peer(), dial: (inner) => never(inner) }])
    const outcome = failure(() => client(peers).push(outgoing(), controller))
    controller.abort(reason)
    expect(await outcome).to.equal(reason)
  })

  it('resolves as unknown after an abort that follows the first write', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const peers = new FakePeers([
      {
        ...push3Peer({}, 'a'),
        answer: ({ signal }) => {
          queueMicrotask(() => controller.abort(reason))
          return never(signal)
        }
      },
      push3Peer({}, 'b')
    ])
    const result = await client(peers).push(outgoing(), controller)
    expect(result).to.deep.include({ status: 'unknown', error: reason })
    expect(result.messageHash).to.have.length(32)
    expect(result.attempts).to.have.length(1)
    expect(result.attempts[0]).to.deep.include({
      status: 'unknown',
      reason: 'no-answer',
      error: reason,
      peerId: 'a',
      protocol: LIGHT_PUSH_3_PROTOCOL
    })
    expect(peers.requests).to.have.length(1)
  })

  it('writes nothing once it has been given up', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const peers = new FakePeers([{ ...push3Peer(), dial: () => controller.abort(reason) }])
    expect(await failure(() => client(peers).push(outgoing(), controller))).to.equal(reason)
    await new Promise((resolve) => setTimeout(resolve))
    expect(peers.requests).to.have.length(0)
  })

  it('resolves when its deadline passes, and when that of a try does', async () => {
    const late = await client(new FakePeers([silent(), push3Peer()])).push(outgoing(), {
      timeoutMs: 2
    })
    expect(late.status).to.equal('unknown')
    expect(late.error).to.deep.include({ code: 'ERR_TIMEOUT', operation: 'push', timeoutMs: 2 })
    expect(late.attempts).to.have.length(1)

    const peers = new FakePeers([silent(), push3Peer({}, 'b')])
    const result = await client(peers, { attemptTimeoutMs: 2 }).push(outgoing())
    expect(result.status).to.equal('published')
    expect(result.attempts[0]).to.deep.nested.include({
      peerId: 'silent',
      status: 'unknown',
      reason: 'no-answer',
      'error.code': 'ERR_TIMEOUT'
    })
    expect(peers.pending).to.equal(0)
  })

  it('is failed where the deadline passes before anything was written', async () => {
    const peers = new FakePeers([{ ...push3Peer(), dial: (signal) => never(signal) }])
    const { status, attempts } = await client(peers).push(outgoing(), { timeoutMs: 2 })
    expect(status).to.equal('failed')
    expect(attempts[0]).to.deep.include({ reason: 'not-sent', peerId: 'peer' })
  })

  it('rejects at a closed node, unless something was written', async () => {
    const closed = (): never => {
      throw new ClosedError()
    }
    await failureOf('ERR_CLOSED', () =>
      client(new FakePeers([push3Peer()], closed)).push(outgoing())
    )
    await failureOf('ERR_CLOSED', () =>
      client(new FakePeers([{ ...push3Peer(), dial: closed }])).push(outgoing())
    )
    const { status, error } = await client(
      new FakePeers([{ ...push3Peer(), answer: closed }])
    ).push(outgoing())
    expect(status).to.equal('unknown')
    expect(error).to.deep.include({ code: 'ERR_CLOSED' })
  })
})

describe('LightPushClient.push, arguments', () => {
  const wrong: [string, unknown, unknown?][] = [
    ['message', undefined],
    ['message', 'text'],
    ['message.payload', { contentTopic: TOPIC }],
    ['message.payload', { contentTopic: TOPIC, payload: [1] }],
    ['message.contentTopic', { payload: new Uint8Array() }],
    ['message.contentTopic', { ...outgoing(), contentTopic: '' }],
    ['message.contentTopic', { ...outgoing(), contentTopic: 'free form' }],
    ['message.meta', { ...outgoing(), meta: new Uint8Array(65) }],
    ['message.meta', { ...outgoing(), meta: 'text' }],
    ['message.meta', { ...outgoing(), meta: null }],
    ['message.version', { ...outgoing(), version: -1 }],
    ['message.ephemeral', { ...outgoing(), ephemeral: 'yes' }],
    ['message.timestamp', { ...outgoing(), timestamp: 5 }],
    ['message.timestamp', { ...outgoing(), timestamp: new Date(Number.NaN) }],
    ['message.timestamp', { ...outgoing(), timestamp: 2n ** 63n }],
    ['message.timestamp', { ...outgoing(), timestamp: 0n }],
    ['pubsubTopic', outgoing(), { pubsubTopic: '' }],
    ['pubsubTopic', outgoing(), { pubsubTopic: 5 }],
    ['proof', outgoing(), { proof: Uint8Array.of(1) }],
    ['timeoutMs', outgoing(), { timeoutMs: 0 }],
    ['timeoutMs', outgoing(), { timeoutMs: Number.NaN }]
  ]
  for (const [index, [parameter, message, options]] of wrong.entries()) {
    it(`names ${parameter} before any I/O (${index})`, async () => {
      const peers = new FakePeers([push3Peer()])
      const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
        client(peers).push(message as never, options as PushOptions)
      )
      expect(error.parameter).to.equal(parameter)
      expect(peers.networkCalls).to.equal(0)
    })
  }

  it('checks the size as a node counts it, before any I/O', async () => {
    const peers = new FakePeers([push3Peer()])
    const contentTopic = '/a/1/b/proto'
    const limit = 153_600
    const big = client(peers, { maxMessageBytes: limit })
    const message = { contentTopic, timestamp: 1_700_000_001_000_000_000n }
    const payload = new Uint8Array(153_562)
    expect((await big.push({ ...message, payload })).status).to.equal('published')
    const error = await failureOf('ERR_MESSAGE_TOO_LARGE', () =>
      big.push({ ...message, payload: new Uint8Array(153_563) })
    )
    expect(error).to.include({ sizeBytes: limit + 1, limitBytes: limit })
    await failureOf('ERR_MESSAGE_TOO_LARGE', () => client(peers).push({ ...message, payload }))
    expect(peers.networkCalls).to.equal(1)
  })

  for (const [parameter, init] of [
    ['generations', { generations: [] }],
    ['maxMessageBytes', { maxMessageBytes: 0 }],
    ['maxAttempts', { maxAttempts: -1 }],
    ['attemptTimeoutMs', { attemptTimeoutMs: Number.NaN }]
  ] as const) {
    it(`names ${parameter} of a wrong init`, async () => {
      const error = await failureOf(
        'ERR_INVALID_ARGUMENT',
        () => new LightPushClient(new FakePeers([]), init)
      )
      expect(error.parameter).to.equal(parameter)
    })
  }
})
