import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { type FollowProgress, STORE_BETA4, StoreClient, type StoredMessage } from 'waku-light/store'
import { decodeStoreQueryRequest, STORE_BETA4_PROTOCOL } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { failure, failureOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const MS = 1_000_000n
const NOW = 1_700_000_000_000

/** A tail over one archive, with a clock that the test sets, that says when it has caught up. */
class Tail {
  readonly archive = new Archive()
  readonly events: FollowProgress[] = []
  readonly texts: string[] = []
  readonly peers: FakePeers
  nowMs = NOW
  /** Called when a question is about to be answered. */
  onRequest: () => void = () => undefined
  readonly #controller = new AbortController()
  readonly #messages: AsyncGenerator<StoredMessage>
  #onIdle: () => void = () => undefined
  #reading: Promise<void> | undefined

  constructor(options = {}, wrap: (peer: FakePeer) => FakePeer = (peer) => peer, init = {}) {
    const inner = archivePeer(this.archive)
    const peer = wrap({
      ...inner,
      answer: (request) => {
        this.onRequest()
        return inner.answer(request)
      }
    })
    this.peers = new FakePeers([peer])
    const client = new StoreClient(this.peers, { now: () => this.nowMs, ...init })
    this.#messages = client.follow(CRITERIA, {
      intervalMs: 0.01,
      overlapMs: 1000,
      signal: this.#controller.signal,
      onProgress: (event) => {
        this.events.push(event)
        if (event.type === 'store:caught-up' || event.type === 'store:follow-failed') {
          this.#onIdle()
        }
      },
      ...options
    })
  }

  add(ms: number, text: string): void {
    this.archive.add(messageAt(BigInt(ms) * MS, text), PUBSUB_TOPIC, BigInt(this.nowMs) * MS)
  }

  /** Reads along until some questions from now on have ended. */
  async settle(questions = 2): Promise<void> {
    this.#reading ??= this.#read()
    const settled = new Promise<void>((resolve) => {
      let left = questions
      this.#onIdle = () => {
        if (--left === 0) {
          resolve()
        }
      }
    })
    await Promise.race([settled, this.#reading])
  }

  /** Aborts; returns what the reading ended with. */
  async stop(reason: unknown = new Error('enough')): Promise<unknown> {
    this.#controller.abort(reason)
    return await failure(() => this.#reading)
  }

  async #read(): Promise<void> {
    for await (const { payload } of this.#messages) {
      this.texts.push(new TextDecoder().decode(payload))
    }
  }

  starts(): bigint[] {
    return this.peers.requests.map(
      ({ bytes }) => decodeStoreQueryRequest(bytes, 10).timeStart ?? -1n
    )
  }
}

describe('StoreClient.follow', () => {
  it('delivers what comes, each message once, from now on', async () => {
    const tail = new Tail()
    tail.add(NOW - 1, 'before')
    tail.add(NOW, 'first')
    await tail.settle()
    tail.add(NOW + 10, 'second')
    tail.add(NOW + 11, 'third')
    tail.nowMs += 100
    await tail.settle()
    await tail.settle(5)
    await tail.stop()
    expect(tail.texts).to.deep.equal(['first', 'second', 'third'])
  })

  it('delivers what reached the archive late, within the overlap', async () => {
    const tail = new Tail({}, undefined, {})
    tail.nowMs += 10_000
    tail.add(NOW + 5000, 'newest')
    await tail.settle()
    tail.add(NOW + 4500, 'late')
    tail.add(NOW + 100, 'too late')
    await tail.settle()
    await tail.settle(5)
    await tail.stop()
    expect(tail.texts).to.deep.equal(['newest', 'late'])
  })

  it('reaches back from the newest message by the overlap, and never back', async () => {
    const tail = new Tail({ overlapMs: 2 })
    tail.nowMs += 10_000
    tail.add(NOW + 10, 'a')
    await tail.settle()
    tail.nowMs = NOW - 100_000 // the clock is set back
    await tail.settle(3)
    await tail.stop()
    expect(tail.texts).to.deep.equal(['a'])
    expect(tail.starts()[0]).to.equal(BigInt(NOW) * MS)
    expect(new Set(tail.starts().slice(1))).to.deep.equal(new Set([BigInt(NOW + 8) * MS]))
  })

  it('loses nothing where a message comes from the future, and its window follows the clock', async () => {
    const tail = new Tail({ overlapMs: 50 })
    tail.add(NOW + 3_600_000, 'future')
    await tail.settle()
    tail.nowMs += 10_000
    tail.add(tail.nowMs, 'present')
    await tail.settle()
    tail.nowMs += 10_000
    await tail.settle(3)
    await tail.stop()
    expect(tail.texts).to.deep.equal(['future', 'present'])
    expect(tail.starts().at(-1)).to.equal(BigInt(tail.nowMs - 50) * MS)
  })

  it('delivers a message without a time once, over beta4', async () => {
    const tail = new Tail(
      { overlapMs: 1 },
      (peer) => ({ ...peer, protocols: [STORE_BETA4_PROTOCOL] }),
      { generations: [STORE_BETA4] }
    )
    tail.nowMs = NOW + 500
    tail.archive.add(messageAt(0n, 'untimed'), PUBSUB_TOPIC, BigInt(NOW + 500) * MS)
    tail.add(NOW + 490, 'timed')
    await tail.settle(6)
    await tail.stop()
    expect(tail.texts.sort()).to.deep.equal(['timed', 'untimed'])
  })

  it('tells of failures, waits longer after each, and goes on where it stood', async () => {
    let failing = 0
    const tail = new Tail({ pageLimit: 1 }, (peer) => ({
      ...peer,
      answer: (request) => {
        if (failing > 0) {
          failing--
          throw new ConnectionError('broken')
        }
        return peer.answer(request)
      }
    }))
    await tail.settle()
    for (const [index, text] of ['a', 'b', 'c'].entries()) {
      tail.add(NOW + index, text)
    }
    failing = 4
    await tail.settle(6)
    await tail.stop()
    expect(tail.texts).to.deep.equal(['a', 'b', 'c'])
    const waits = tail.events.flatMap((event) =>
      event.type === 'store:follow-failed' ? [event.detail.retryInMs] : []
    )
    expect(waits).to.deep.equal([0.01, 0.02])
  })

  it('forgets what cannot come again while it catches up', async () => {
    const tail = new Tail({ timeStart: 0n, overlapMs: 1, pageLimit: 100 })
    tail.nowMs += 100_000
    for (let index = 0; index < 300; index++) {
      tail.add(NOW + index, `${index}`)
    }
    await tail.settle(4)
    await tail.stop()
    expect(tail.texts).to.have.length(300)
    expect(tail.starts().at(-1)).to.equal(BigInt(NOW + 298) * MS)
  })

  it('rejects with the reason of an abort, unwrapped, while it waits', async () => {
    const tail = new Tail({ intervalMs: 3_600_000 })
    await tail.settle(1)
    const reason = { enough: true }
    expect(await tail.stop(reason)).to.equal(reason)
    expect(tail.peers.pending).to.equal(0)
  })

  it('ends with what asking again does not mend', async () => {
    const peers = new FakePeers([], () => {
      throw new Error('not of this package')
    })
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      new StoreClient(peers).follow(CRITERIA).next()
    )
    expect(error.cause).to.be.an('error')
  })

  it('asks for nothing before the first pull', () => {
    const peers = new FakePeers([])
    new StoreClient(peers).follow(CRITERIA)
    expect(peers.networkCalls).to.equal(0)
  })

  for (const [parameter, options] of [
    ['intervalMs', { intervalMs: 0 }],
    ['overlapMs', { overlapMs: -1 }],
    ['overlapMs', { overlapMs: Number.POSITIVE_INFINITY }],
    ['pageLimit', { pageLimit: 0 }],
    ['timeoutMs', { timeoutMs: 0 }]
  ] as const) {
    it(`refuses ${parameter} ${Object.values(options)[0]} at once`, async () => {
      const peers = new FakePeers([])
      const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
        new StoreClient(peers).follow(CRITERIA, options)
      )
      expect(error.parameter).to.equal(parameter)
      expect(peers.networkCalls).to.equal(0)
    })
  }

  it('refuses an end', async () => {
    const client = new StoreClient(new FakePeers([]))
    const criteria = { ...CRITERIA, timeEnd: 2n ** 62n }
    const error = await failureOf('ERR_INVALID_ARGUMENT', () => client.follow(criteria))
    expect(error.parameter).to.equal('criteria.timeEnd')
  })
})
