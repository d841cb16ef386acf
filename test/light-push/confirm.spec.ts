import { expect } from 'chai'
import { ClosedError, ConnectionError, NoUsablePeerError } from 'waku-light/errors'
import { LightPushClient, type PresenceStore, type PushOptions } from 'waku-light/light-push'
import { StoreClient } from 'waku-light/store'
import { failureOf } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, never } from '../helpers/fake-peers.ts'
import { PushClock } from '../helpers/push-clock.ts'
import { push3Peer } from '../helpers/push-peers.ts'

const NOW = 1_700_000_000_123
const SLACK = 30_000_000_000n
const outgoing = { contentTopic: '/app/22/a/proto', payload: Uint8Array.of(1, 2, 3) }
const LOST: FakePeer = {
  ...push3Peer(),
  answer: () => {
    throw new ConnectionError('broken')
  }
}

type Has = PresenceStore['has']
type Asked = Parameters<Has>

/** A store that answers from a script, and then as at last. */
function storeOf(...script: (boolean | Error)[]): PresenceStore & { readonly asked: Asked[] } {
  const asked: Asked[] = []
  return {
    asked,
    has: async (...args) => {
      asked.push(args)
      const answer = script[Math.min(asked.length, script.length) - 1]
      if (answer instanceof Error) {
        throw answer
      }
      return [answer === true]
    }
  }
}

async function push(peer: FakePeer, store: PresenceStore, options: PushOptions = {}) {
  const clock = new PushClock()
  const peers = new FakePeers([peer])
  const client = new LightPushClient(peers, { ...clock, store })
  const result = await client.push(outgoing, { confirm: 'stored', ...options })
  return { ...result, waits: clock.waits, requests: peers.requests }
}

describe("LightPushClient.push, confirm: 'stored'", () => {
  it('is stored once a store node says so, asked by hash and by place', async () => {
    const store = storeOf(false, true)
    const { status, stored, messageHash, timestamp = 0n, waits } = await push(push3Peer(), store)
    expect({ status, stored, waits }).to.deep.equal({
      status: 'published',
      stored: true,
      waits: [500, 1000]
    })
    expect(store.asked).to.have.length(2)
    const [[hashes, { within, timeoutMs }]] = store.asked as [Asked]
    expect(hashes).to.deep.equal([messageHash])
    expect(timeoutMs).to.equal(10_000)
    expect(timestamp).to.equal(BigInt(NOW) * 1_000_000n)
    expect(within).to.deep.equal({
      contentTopics: [outgoing.contentTopic],
      pubsubTopic: '/waku/2/rs/1/2',
      timeStart: timestamp - SLACK,
      timeEnd: timestamp + SLACK
    })
  })

  it('is not stored only after it was missing several times, over time', async () => {
    const store = storeOf(false)
    const { status, stored, waits } = await push(push3Peer(), store)
    expect({ status, stored }).to.deep.equal({ status: 'published', stored: false })
    expect(store.asked).to.have.length(4)
    expect(waits).to.deep.equal([500, 1000, 2000, 4000])
  })

  it('is unknown if any question had no answer', async () => {
    const down = new NoUsablePeerError([])
    expect(await push(push3Peer(), storeOf(down))).to.include({ stored: 'unknown' })
    expect(await push(push3Peer(), storeOf(false, down, false))).to.include({ stored: 'unknown' })
    expect(await push(push3Peer(), storeOf(down, true))).to.include({ stored: true })
    const odd = { has: async () => [] } as PresenceStore
    expect(await push(push3Peer(), odd)).to.include({ stored: 'unknown' })
  })

  it('turns unknown into published, without asking the node again', async () => {
    const result = await push(LOST, storeOf(true))
    expect(result).to.include({ status: 'published', stored: true })
    expect(result.attempts.map(({ status }) => status)).to.deep.equal(['unknown'])
    expect(result.requests).to.have.length(1)
  })

  it('leaves unknown what is not there, after one repeat', async () => {
    const result = await push(LOST, storeOf(false))
    expect(result).to.include({ status: 'unknown', stored: false })
    expect(result.requests).to.have.length(2)
  })

  it('does not ask for what cannot have left, nor where it is not told to', async () => {
    const store = storeOf(true)
    const failed = await push(push3Peer({ statusCode: 420 }), store)
    expect(failed.status).to.equal('failed')
    expect(failed).to.not.have.property('stored')
    expect(await push(LOST, store, { confirm: 'published' })).to.not.have.property('stored')
    expect(store.asked).to.have.length(0)
  })

  it('keeps what is known when the deadline passes or the caller aborts', async () => {
    const hanging: PresenceStore = { has: (_hashes, { signal }) => never(signal) }
    const late = await push(push3Peer(), hanging, { timeoutMs: 20 })
    expect(late).to.include({ status: 'published', stored: 'unknown' })
    expect(late.error).to.deep.include({ code: 'ERR_TIMEOUT' })
    const controller = new AbortController()
    const reason = new Error('enough')
    const aborting: PresenceStore = {
      has: (_hashes, { signal }) => {
        controller.abort(reason)
        return never(signal)
      }
    }
    const aborted = await push(push3Peer(), aborting, { signal: controller.signal })
    expect(aborted).to.include({ status: 'published', stored: 'unknown', error: reason })
  })

  it('ends when the node is closed', async () => {
    const store = storeOf(new ClosedError())
    const { stored, error } = await push(push3Peer(), store)
    expect(stored).to.equal('unknown')
    expect(error).to.deep.include({ code: 'ERR_CLOSED' })
    expect(store.asked).to.have.length(1)
  })

  it('needs a store, and a message that stores keep', async () => {
    const peers = new FakePeers([push3Peer()])
    const store: PresenceStore = new StoreClient(peers)
    const wrong = [
      () => new LightPushClient(peers).push(outgoing, { confirm: 'stored' }),
      () => new LightPushClient(peers, { store }).push(outgoing, { confirm: 'kept' as 'stored' }),
      () =>
        new LightPushClient(peers, { store }).push(
          { ...outgoing, ephemeral: true },
          { confirm: 'stored' }
        )
    ]
    for (const call of wrong) {
      expect((await failureOf('ERR_INVALID_ARGUMENT', call)).parameter).to.equal('confirm')
    }
    expect(peers.networkCalls).to.equal(0)
  })
})

describe('LightPushClient.push, of wrong options', () => {
  for (const [parameter, options] of [
    ['maxAttempts', { maxAttempts: 0 }],
    ['maxAttempts', { maxAttempts: Number.NaN }],
    ['redundancy', { redundancy: -1 }],
    ['redundancy', { redundancy: '2' as unknown as number }]
  ] as const) {
    it(`names ${parameter} (${String(Object.values(options))})`, async () => {
      const call = () => new LightPushClient(new FakePeers([])).push(outgoing, options)
      expect((await failureOf('ERR_INVALID_ARGUMENT', call)).parameter).to.equal(parameter)
    })
  }

  for (const init of [{ minBackoffMs: 0 }, { maxBackoffMs: -1 }]) {
    it(`names ${String(Object.keys(init))} of a wrong init`, async () => {
      const call = () => new LightPushClient(new FakePeers([]), init)
      const { parameter } = await failureOf('ERR_INVALID_ARGUMENT', call)
      expect(parameter).to.equal(Object.keys(init)[0])
    })
  }
})
