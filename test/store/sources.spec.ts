import { expect } from 'chai'
import { ClosedError, ConnectionError } from 'waku-light/errors'
import {
  fillGaps,
  readAhead,
  SOURCES_DEFAULTS,
  type SourcesPage,
  STORE_BETA4,
  StoreClient,
  sources,
  type WalkOptions
} from 'waku-light/store'
import { STORE_BETA4_PROTOCOL } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failure, failureOf, hashesOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, never } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, hashOf, PUBSUB_TOPIC } from '../helpers/store-peers.ts'
import { countingSignal, settle } from '../helpers/store-peers-rounds.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const REASON = { why: 'because' }

const messages = Array.from({ length: 60 }, (_, index) =>
  messageAt(BigInt(1000 + index), `${index}`)
)
const all = hashesOf(messages.map((message) => ({ messageHash: hashOf(message) })))

/** An archive without some of the messages. */
function without(lacks: (index: number) => boolean): Archive {
  const archive = new Archive({ maxPage: 10 })
  for (const [index, message] of messages.entries()) {
    if (!lacks(index)) {
      archive.add(message, PUBSUB_TOPIC)
    }
  }
  return archive
}

const broken = (): never => {
  throw new ConnectionError('broken')
}

/** Answers some requests as an archive does, and then does something else. */
function after(answered: number, peer: FakePeer, then: FakePeer['answer']): FakePeer {
  let count = 0
  return {
    ...peer,
    answer: (request) => (count++ < answered ? peer.answer(request) : then(request))
  }
}

const even = (index: number): boolean => index % 2 === 0
const none = (): boolean => false

/** By peer id: what the last page says of each node. */
const statesOf = (pages: readonly SourcesPage[]) =>
  Object.fromEntries(
    (pages.at(-1)?.sources ?? []).map(({ peerId, state, lackedCount, since, failure: why }) => [
      peerId,
      [state, lackedCount, since, (why?.error as { code?: string } | undefined)?.code, why?.after]
    ])
  )

const UNDEFINED = undefined

for (const [name, walkerOf] of Object.entries({ sources, fillGaps })) {
  describe(name, () => {
    const walk = (
      peers: FakePeers,
      count: number | 'all',
      options: WalkOptions & { patienceMs?: number } = {}
    ) => {
      const { patienceMs, ...rest } = options
      const walker = walkerOf(count, { patienceMs })
      return new StoreClient(peers).queryPages(CRITERIA, { ...rest, walker })
    }
    const hashesOfPages = (pages: readonly SourcesPage[]): string[] =>
      pages.flatMap((page) => hashesOf(page.messages))

    it('delivers what any of the nodes has, and tells who lacked what', async () => {
      const peers = new FakePeers([
        archivePeer(without(even), 'one'),
        archivePeer(
          without((index) => index > 20 && index < 45),
          'two'
        ),
        archivePeer(
          without((index) => index % 2 === 1),
          'three'
        )
      ])
      const pages = await collect(walk(peers, 'all'))
      expect(hashesOfPages(pages)).to.deep.equal(all)
      expect(statesOf(pages)).to.deep.equal({
        one: ['complete', 30, UNDEFINED, UNDEFINED, UNDEFINED],
        two: ['complete', 24, UNDEFINED, UNDEFINED, UNDEFINED],
        three: ['complete', 30, UNDEFINED, UNDEFINED, UNDEFINED]
      })
      const lacked = pages
        .flatMap(({ lacks }) => lacks)
        .filter(({ peerId }) => peerId === 'two')
        .flatMap((lack) => hashesOf(lack.messages))
      expect(lacked).to.deep.equal(all.slice(21, 45))
      expect(pages.at(-1)?.completeness).to.equal('complete')
    })

    it('asks as many nodes as it is told to', async () => {
      const peers = new FakePeers(
        ['one', 'two', 'three'].map((peerId) => archivePeer(without(none), peerId))
      )
      const pages = await collect(walk(peers, 2))
      expect(Object.keys(statesOf(pages))).to.deep.equal(['one', 'two'])
      expect(new Set(peers.requests.map(({ peerId }) => peerId)).size).to.equal(2)
      const one = await collect(walk(peers, 1))
      expect(hashesOfPages(one)).to.deep.equal(all)
    })

    it('replaces a node that fails, from where it failed, and says so', async () => {
      const peers = new FakePeers([
        archivePeer(
          without((index) => index === 50),
          'one'
        ),
        after(2, archivePeer(without(none), 'two'), broken),
        archivePeer(without(none), 'three')
      ])
      const pages = await collect(walk(peers, 2))
      expect(hashesOfPages(pages)).to.deep.equal(all)
      const states = statesOf(pages)
      expect(states).to.have.all.keys('one', 'two', 'three')
      const [state, , , code, failedAfter] = states['two'] ?? []
      expect([state, code]).to.deep.equal(['dropped', 'ERR_CONNECTION'])
      expect(Number(failedAfter)).to.be.within(1005, 1030)
      expect(states['three']?.slice(0, 3)).to.deep.equal(['complete', 0, failedAfter])
      expect(pages.at(-1)?.completeness).to.equal('complete')
    })

    it('drops a node that fails where there is no other one', async () => {
      const two = archivePeer(without(even), 'two')
      const peers = new FakePeers([archivePeer(without(none), 'one'), after(2, two, broken)])
      const pages = await collect(walk(peers, 'all'))
      expect(hashesOfPages(pages)).to.deep.equal(all)
      expect(statesOf(pages)['two']?.[0]).to.equal('dropped')
      expect(statesOf(pages)['one']?.[0]).to.equal('complete')
    })

    it('does not wait for a slow node longer than it has patience', async () => {
      const two = archivePeer(without(none), 'two')
      const peers = new FakePeers([
        archivePeer(without(none), 'one'),
        after(1, two, ({ signal }) => never(signal))
      ])
      const pages = await collect(walk(peers, 'all', { patienceMs: 5 }))
      expect(hashesOfPages(pages)).to.deep.equal(all)
      expect(statesOf(pages)['two']?.slice(0, 1)).to.deep.equal(['dropped'])
      expect(statesOf(pages)['two']?.[3]).to.equal('ERR_TIMEOUT')
      expect(peers.pending).to.equal(0)
    })

    it('fails with the position after what was delivered where no node is left', async () => {
      const peers = new FakePeers(
        ['one', 'two'].map((peerId) => after(3, archivePeer(without(none), peerId), broken))
      )
      const pages: SourcesPage[] = []
      const error = await failureOf('ERR_INCOMPLETE_HISTORY', async () => {
        for await (const page of walk(peers, 'all')) {
          pages.push(page)
        }
      })
      expect(error.cause).to.deep.include({ code: 'ERR_NO_USABLE_PEER' })
      const whole = new FakePeers([archivePeer(without(none), 'other')])
      // Positions of all walkers are the same.
      const rest = await collect(
        new StoreClient(whole).query(CRITERIA, { position: error.position })
      )
      expect([...hashesOfPages(pages), ...hashesOf(rest)]).to.deep.equal(all)
    })

    it('goes on from the position of a plain walk, at whichever node, backward too', async () => {
      for (const direction of ['forward', 'backward'] as const) {
        const first = new FakePeers([archivePeer(without(none), 'first')])
        const plain = new StoreClient(first).queryPages(CRITERIA, { direction, pageLimit: 7 })
        const { value } = (await plain.next()) as IteratorYieldResult<SourcesPage>
        const others = new FakePeers([
          archivePeer(without(even), 'one'),
          archivePeer(
            without((index) => index % 2 === 1),
            'two'
          )
        ])
        const { position } = value
        const pages = await collect(walk(others, 'all', { position, direction }))
        const found = [value, ...pages].flatMap((page) => hashesOf(page.messages))
        expect(found.sort()).to.deep.equal([...all].sort())
      }
    })

    it('works for messages, the newest ones, and a tail', async () => {
      const peers = new FakePeers([
        archivePeer(without(even), 'one'),
        archivePeer(
          without((index) => index % 2 === 1),
          'two'
        )
      ])
      const client = new StoreClient(peers)
      const walker = walkerOf('all')
      expect(hashesOf(await collect(client.query(CRITERIA, { walker })))).to.deep.equal(all)
      const newest = await client.last(CRITERIA, 5, { walker: readAhead(1, walker) })
      expect(hashesOf(newest)).to.deep.equal(all.slice(-5))
      const tail: string[] = []
      for await (const message of client.follow({ ...CRITERIA, timeStart: 1n }, { walker })) {
        tail.push(...hashesOf([message]))
        if (tail.length === 60) {
          break
        }
      }
      expect(tail).to.deep.equal(all)
    })

    it('drops nodes that cannot be compared with others', async () => {
      const peers = new FakePeers([
        archivePeer(without(none), 'one'),
        archivePeer(without(none), 'old', [STORE_BETA4_PROTOCOL])
      ])
      const pages = await collect(walk(peers, 'all'))
      expect(hashesOfPages(pages)).to.deep.equal(all)
      expect(statesOf(pages)['old']?.[3]).to.equal('ERR_UNSUPPORTED')
      const old = new StoreClient(peers, { generations: [STORE_BETA4] })
      await failureOf('ERR_UNSUPPORTED', () =>
        old.queryPages(CRITERIA, { walker: walkerOf('all') })
      )
    })

    it('asks for nothing before the first pull, nor while nobody pulls, nor after leaving', async () => {
      const peers = new FakePeers([
        archivePeer(without(none), 'one'),
        archivePeer(without(none), 'two')
      ])
      const { signal, listeners } = countingSignal()
      const pages = walk(peers, 'all', { signal })
      await settle()
      expect(peers.requests).to.have.length(0)
      await pages.next()
      const asked = peers.requests.length
      await settle()
      expect(peers.requests).to.have.length(asked)
      await pages.return(undefined)
      await settle()
      expect(peers.requests).to.have.length(asked)
      expect(listeners()).to.equal(0)
    })

    it('rejects with the reason of an abort, and gives all requests up', async () => {
      for (const answered of [0, 2]) {
        const peers = new FakePeers(
          ['one', 'two'].map((peerId) =>
            after(answered, archivePeer(without(none), peerId), ({ signal }) => never(signal))
          )
        )
        const { controller, signal, listeners } = countingSignal()
        const outcome = failure(() => collect(walk(peers, 'all', { signal })))
        await settle()
        expect(peers.pending).to.be.above(0)
        controller.abort(REASON)
        expect(await outcome).to.equal(REASON)
        expect(peers.pending).to.equal(0)
        expect(listeners()).to.equal(0)
        const again = walk(peers, 'all', { signal: AbortSignal.abort(REASON) })
        expect(await failure(() => again.next())).to.equal(REASON)
      }
    })

    it('ends where the light node is closed, and where nobody is there', async () => {
      const closed = (): never => {
        throw new ClosedError()
      }
      const peers = new FakePeers([
        after(1, archivePeer(without(none), 'one'), closed),
        after(1, archivePeer(without(none), 'two'), closed)
      ])
      const error = await failureOf('ERR_INCOMPLETE_HISTORY', () => collect(walk(peers, 'all')))
      expect(error.cause).to.deep.include({ code: 'ERR_CLOSED' })
      const empty = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
        collect(walk(new FakePeers([]), 'all'))
      )
      expect(empty.cause).to.deep.include({ code: 'ERR_NO_USABLE_PEER' })
    })

    it('passes on what is wrong with the criteria', async () => {
      const peers = new FakePeers([archivePeer(without(none))])
      await failureOf('ERR_INVALID_ARGUMENT', () =>
        collect(
          new StoreClient(peers).queryPages(
            { contentTopics: ['/2/a/b/c/proto'] },
            { walker: walkerOf('all') }
          )
        )
      )
    })

    it('refuses a single peer, and numbers that make no sense, before any I/O', async () => {
      const peers = new FakePeers([archivePeer(without(none))])
      await failureOf('ERR_INVALID_ARGUMENT', () => walk(peers, 'all', { peerId: 'one' }))
      for (const count of [0, 65, 1.5, 'some' as 'all']) {
        await failureOf('ERR_INVALID_ARGUMENT', () => walkerOf(count))
      }
      for (const patienceMs of [0, -1, Number.NaN, '1' as unknown as number]) {
        await failureOf('ERR_INVALID_ARGUMENT', () => walkerOf('all', { patienceMs }))
      }
      expect(SOURCES_DEFAULTS.patienceMs).to.equal(5_000)
    })
  })
}

describe('sources, memory', () => {
  it('holds a page of each node at the most', async () => {
    const archives = [without((index) => index > 9 && index < 50), without(even), without(none)]
    const given = archives.map(() => 0)
    const peers = new FakePeers(
      archives.map((archive, node) => {
        const peer = archivePeer(archive, `${node}`)
        return {
          ...peer,
          answer: (request) => {
            given[node] = (given[node] ?? 0) + 10
            return peer.answer(request)
          }
        }
      })
    )
    const walker = sources('all')
    const delivered = archives.map(() => 0)
    for await (const page of new StoreClient(peers).queryPages(CRITERIA, { walker })) {
      for (const [node, archive] of archives.entries()) {
        const held = new Set(archive.rows.map(({ hash }) => hash))
        delivered[node] =
          (delivered[node] ?? 0) + hashesOf(page.messages).filter((hash) => held.has(hash)).length
        expect((given[node] ?? 0) - (delivered[node] ?? 0)).to.be.at.most(10)
      }
    }
  })
})
