import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { type MessagePage, readAhead, StoreClient } from 'waku-light/store'
import { Archive } from '../helpers/archive.ts'
import { collect, failure, failureOf, hashesOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, never } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'
import { countingSignal, settle } from '../helpers/store-peers-rounds.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const REASON = { why: 'because' }

function filled(count = 10): Archive {
  const archive = new Archive()
  for (let index = 0; index < count; index++) {
    archive.add(messageAt(BigInt(1000 + index), `${index}`), PUBSUB_TOPIC)
  }
  return archive
}

/** Answers some requests, and then does something else. */
function after(answered: number, then: FakePeer['answer']): FakePeer {
  const inner = archivePeer(filled())
  return {
    ...inner,
    answer: (request) => (request.index < answered ? inner.answer(request) : then(request))
  }
}

const pagesOf = (peers: FakePeers, pages: number, signal?: AbortSignal) =>
  new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2, signal, walker: readAhead(pages) })

async function pull(pages: AsyncGenerator<MessagePage>): Promise<MessagePage> {
  return ((await pages.next()) as IteratorYieldResult<MessagePage>).value
}

describe('readAhead', () => {
  it('asks for nothing before the first pull, and then for so many pages more than the app has', async () => {
    for (const ahead of [0, 1, 3]) {
      const peers = new FakePeers([archivePeer(filled())])
      const pages = pagesOf(peers, ahead)
      await settle()
      expect(peers.requests).to.have.length(0)
      for (let pulled = 1; pulled <= 5; pulled++) {
        await pull(pages)
        await settle()
        expect(peers.requests).to.have.length(Math.min(pulled + ahead, 5))
      }
      expect((await pages.next()).done).to.equal(true)
    }
  })

  it('gives the same pages and positions as a plain walk', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    const plain = new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2 })
    expect(await collect(pagesOf(peers, 2))).to.deep.equal(await collect(plain))
  })

  it('has a position that goes on after what was delivered, whatever is held', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    const pages = pagesOf(peers, 3)
    const { messages, position } = await pull(pages)
    await settle()
    await pages.return(undefined)
    const rest = await collect(new StoreClient(peers).query(CRITERIA, { position }))
    expect([...messages, ...rest].map(({ timestamp }) => timestamp)).to.deep.equal(
      filled().rows.map(({ message }) => message.timestamp)
    )
  })

  it('delivers what it holds before it fails, with the position after that', async () => {
    const broken = (): never => {
      throw new ConnectionError('broken')
    }
    const pages = pagesOf(new FakePeers([after(2, broken)]), 3)
    await pull(pages)
    await settle()
    const { position } = await pull(pages)
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () => pages.next())
    expect(error.position).to.equal(position)
    expect((await pages.next()).done).to.equal(true)
  })

  it('gives up what is under way when the loop is left, and asks for nothing more', async () => {
    const peers = new FakePeers([after(1, ({ signal }) => never(signal))])
    const pages = pagesOf(peers, 3)
    await pull(pages)
    await settle()
    expect(peers.pending).to.equal(1)
    await pages.return(undefined)
    await settle()
    expect(peers.pending).to.equal(0)
    expect(peers.requests).to.have.length(2)
  })

  it('rejects with the reason of an abort, be it that it holds pages, and leaves no listener', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    const { controller, signal, listeners } = countingSignal()
    const pages = pagesOf(peers, 2, signal)
    await pull(pages)
    await settle()
    controller.abort(REASON)
    expect(await failure(() => pages.next())).to.equal(REASON)
    await settle()
    expect(peers.requests).to.have.length(3)
    expect(listeners()).to.equal(0)
  })

  it('rejects with the reason while it waits, and before it asks', async () => {
    const peers = new FakePeers([after(0, ({ signal }) => never(signal))])
    const controller = new AbortController()
    const outcome = failure(() => pagesOf(peers, 2, controller.signal).next())
    await settle()
    controller.abort(REASON)
    expect(await outcome).to.equal(REASON)
    expect(peers.pending).to.equal(0)
    expect(await failure(() => pagesOf(peers, 2, controller.signal).next())).to.equal(REASON)
    expect(peers.requests).to.have.length(1)
  })

  it('leaves no listener behind at the end', async () => {
    const { signal, listeners } = countingSignal()
    expect(
      await collect(pagesOf(new FakePeers([archivePeer(filled())]), 2, signal))
    ).to.have.length(5)
    expect(listeners()).to.equal(0)
  })

  it('works for messages, the newest ones, and in front of another walker', async () => {
    const client = new StoreClient(new FakePeers([archivePeer(filled())]))
    const walker = readAhead(1, readAhead(1))
    const all = await collect(client.query(CRITERIA, { walker, pageLimit: 2 }))
    expect(all).to.have.length(10)
    const newest = await client.last(CRITERIA, 3, { walker, pageLimit: 2 })
    expect(hashesOf(newest)).to.deep.equal(hashesOf(all.slice(-3)))
  })

  it('refuses another number of pages', async () => {
    for (const pages of [-1, 1.5, 101, Number.NaN, '1' as unknown as number]) {
      const error = await failureOf('ERR_INVALID_ARGUMENT', () => readAhead(pages))
      expect(error.parameter).to.equal('pages')
    }
  })
})
