import { expect } from 'chai'
import { ClosedError } from 'waku-light/errors'
import { StoreClient, type WalkOptions } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { collect, failure, failureOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, never } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, cursorOf, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const REASON = { why: 'because' }

function filled(): Archive {
  const archive = new Archive()
  for (let index = 0; index < 6; index++) {
    archive.add(messageAt(BigInt(1000 + index), `${index}`), PUBSUB_TOPIC)
  }
  return archive
}

/** Answers some requests, and leaves the others open. */
function silentAfter(answered: number): FakePeer {
  const inner = archivePeer(filled())
  return {
    ...inner,
    answer: (request) => (request.index < answered ? inner.answer(request) : never(request.signal))
  }
}

/** Whether something has settled by the end of this turn. */
async function settlesInThisTurn(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  promise.then(
    () => {
      settled = true
    },
    () => {
      settled = true
    }
  )
  await new Promise((resolve) => setTimeout(resolve))
  return settled
}

const CALLS: Record<string, (client: StoreClient, options: WalkOptions) => Promise<unknown>> = {
  query: (client, options) => client.query(CRITERIA, options).next(),
  queryHashes: (client, options) => client.queryHashes(CRITERIA, options).next(),
  queryPages: (client, options) => client.queryPages(CRITERIA, options).next(),
  last: (client, options) => client.last(CRITERIA, 3, options),
  lookup: (client, options) => client.lookup([cursorOf(1)], options).next(),
  has: (client, options) => client.has([cursorOf(1)], options),
  follow: (client, { signal, timeoutMs }) => client.follow(CRITERIA, { signal, timeoutMs }).next()
}

for (const [name, call] of Object.entries(CALLS)) {
  describe(`StoreClient.${name}, abort and deadline`, () => {
    it('rejects with the reason, and asks nothing, if aborted before', async () => {
      const peers = new FakePeers([archivePeer(filled())])
      const signal = AbortSignal.abort(REASON)
      expect(await failure(() => call(new StoreClient(peers), { signal }))).to.equal(REASON)
      expect(peers.requests).to.have.length(0)
    })

    it('rejects with the reason in the same turn, and gives the request up', async () => {
      const peers = new FakePeers([silentAfter(0)])
      const controller = new AbortController()
      const outcome = call(new StoreClient(peers), { signal: controller.signal })
      await new Promise((resolve) => setTimeout(resolve))
      expect(peers.pending).to.equal(1)
      const settles = settlesInThisTurn(outcome)
      controller.abort(REASON)
      expect(await settles).to.equal(true)
      expect(await failure(() => outcome)).to.equal(REASON)
      expect(peers.pending).to.equal(0)
    })

    it('rejects with the reason while the network is being learnt', async () => {
      const peers = new FakePeers([archivePeer(filled())], (signal) => never(signal))
      const controller = new AbortController()
      const outcome = failure(() => call(new StoreClient(peers), { signal: controller.signal }))
      controller.abort(REASON)
      expect(await outcome).to.equal(REASON)
    })

    if (name !== 'follow') {
      it('ends with a timeout, of the call or of the request', async () => {
        for (const [options, init, operation] of [
          [{ timeoutMs: 2 }, {}, name === 'lookup' || name === 'has' ? 'look-up' : 'query'],
          [{}, { requestTimeoutMs: 2 }, 'store query']
        ] as const) {
          const peers = new FakePeers([silentAfter(0)])
          const error = await failure(() => call(new StoreClient(peers, init), options))
          const text = String(error)
          expect(text).to.contain(`${operation} did not finish within 2 ms`)
          expect(peers.pending).to.equal(0)
        }
      })
    }
  })
}

describe('StoreClient, abort in a walk', () => {
  it('rejects on the next pull after an abort between pages, and asks nothing', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    const controller = new AbortController()
    const { signal } = controller
    const pages = new StoreClient(peers).queryPages(CRITERIA, { signal, pageLimit: 2 })
    await pages.next()
    controller.abort(REASON)
    expect(await failure(() => pages.next())).to.equal(REASON)
    expect((await pages.next()).done).to.equal(true)
    expect(peers.requests).to.have.length(1)
  })

  it('rejects in the middle of a page of messages', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const client = new StoreClient(new FakePeers([archivePeer(filled())]))
    const messages = client.query(CRITERIA, { signal })
    await messages.next()
    controller.abort(REASON)
    expect(await failure(() => messages.next())).to.equal(REASON)
  })

  it('rejects during a later page', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const peers = new FakePeers([silentAfter(1)])
    const pages = new StoreClient(peers).queryPages(CRITERIA, { signal, pageLimit: 2 })
    await pages.next()
    const outcome = failure(() => pages.next())
    controller.abort(REASON)
    expect(await outcome).to.equal(REASON)
    expect(peers.pending).to.equal(0)
  })

  it('changes nothing after the end', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const client = new StoreClient(new FakePeers([archivePeer(filled())]))
    expect(await collect(client.query(CRITERIA, { signal }))).to.have.length(6)
    controller.abort(REASON)
  })

  it('carries the position where the time for a page ran out', async () => {
    const peers = new FakePeers([silentAfter(1)])
    const client = new StoreClient(peers)
    const pages = client.queryPages(CRITERIA, { pageLimit: 2, timeoutMs: 5 })
    const { value } = (await pages.next()) as IteratorYieldResult<{ position: string }>
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () => pages.next())
    expect(error.position).to.equal(value.position)
    expect(error.cause).to.deep.include({ code: 'ERR_TIMEOUT' })
  })

  it('carries the position where the node is closed', async () => {
    const inner = archivePeer(filled())
    const peers = new FakePeers([
      {
        ...inner,
        answer: (request) => {
          if (request.index > 0) {
            throw new ClosedError()
          }
          return inner.answer(request)
        }
      },
      archivePeer(filled(), 'other')
    ])
    const pages = new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2 })
    await pages.next()
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () => pages.next())
    expect(error.cause).to.deep.include({ code: 'ERR_CLOSED' })
    expect(peers.requests).to.have.length(2)
  })

  it('carries the position where a transport throws what is no error of this package', async () => {
    const odd = new TypeError('a defect')
    const inner = archivePeer(filled())
    const answer = (): never => {
      throw odd
    }
    const peers = new FakePeers([{ ...inner, answer }, archivePeer(filled(), 'other')])
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(new StoreClient(peers).query(CRITERIA))
    )
    expect(error.cause).to.equal(odd)
    expect(peers.requests).to.have.length(1)
  })
})
