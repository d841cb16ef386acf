import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import {
  type MessagePage,
  parallel,
  StoreClient,
  type StoreProgress,
  type Walker,
  type WalkOptions
} from 'waku-light/store'
import { decodeStoreQueryRequest, STORE_BETA4_PROTOCOL } from 'waku-light/wire'
import { Archive, inHashOrder } from '../helpers/archive.ts'
import { collect, failure, failureOf, hashesOf, messageAt } from '../helpers/collect.ts'
import { FakePeers, never } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'
import { countingSignal, Rounds, settle } from '../helpers/store-peers-rounds.ts'
import { SHAPES } from '../helpers/time-shapes.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const BASE = 1_700_000_000_000_000_000n
const REASON = { why: 'because' }

/** An archive with messages at these times. */
function archiveOf(times: readonly number[], maxPage = 20): Archive {
  const archive = new Archive({ maxPage })
  for (const [index, time] of times.entries()) {
    archive.add(messageAt(BASE + BigInt(Math.floor(time * 1e6)), `${index}`), PUBSUB_TOPIC)
  }
  return archive
}

/** How many of the 60 round trips of a plain walk are left, by eight walks, and how many requests it may take. */
const GOALS = {
  even: { rounds: 12, requests: 90 },
  random: { rounds: 13, requests: 90 },
  'of day and night': { rounds: 21, requests: 90 },
  clumps: { rounds: 17, requests: 100 },
  pushes: { rounds: 14, requests: 96 },
  bursts: { rounds: 18, requests: 130 },
  'short bursts': { rounds: 34, requests: 136 }
}

/** Walks to the end; how many round trips it took, and how many requests. */
async function walkAll(
  archive: Archive,
  options: WalkOptions,
  criteria = CRITERIA
): Promise<{ hashes: string[]; rounds: number; requests: number }> {
  const rounds = new Rounds()
  const peers = new FakePeers([rounds.slow(archivePeer(archive))])
  const messages = await collect(new StoreClient(peers).query(criteria, options))
  return { hashes: hashesOf(messages), rounds: rounds.count, requests: peers.requests.length }
}

describe('parallel', () => {
  for (const shape of Object.keys(SHAPES) as (keyof typeof SHAPES)[]) {
    it(`takes a fraction of the round trips where times are ${shape}`, async () => {
      const archive = archiveOf(SHAPES[shape], 50)
      for (const direction of ['forward', 'backward'] as const) {
        const plain = await walkAll(archive, { direction })
        expect(plain).to.deep.include({ rounds: 60, requests: 60 })
        const { hashes, rounds, requests } = await walkAll(archive, {
          direction,
          walker: parallel(8)
        })
        expect(hashes).to.deep.equal(plain.hashes)
        expect(rounds).to.be.at.most(GOALS[shape].rounds)
        expect(requests).to.be.at.most(GOALS[shape].requests)
      }
    })
  }

  it('is a plain walk for one walk, for a short history, and at nodes of an older generation', async () => {
    const archive = archiveOf(SHAPES.even.slice(0, 100))
    expect(await walkAll(archive, { walker: parallel(1) })).to.deep.include({ requests: 5 })
    const short = archiveOf(SHAPES.even.slice(0, 20))
    expect(await walkAll(short, { walker: parallel(8) })).to.deep.include({ requests: 1 })
    const peers = new FakePeers([archivePeer(archive, 'old', [STORE_BETA4_PROTOCOL])])
    const pages = await collect(
      new StoreClient(peers).queryPages(CRITERIA, { walker: parallel(8) })
    )
    expect(pages.map(({ messages }) => messages.length)).to.deep.equal([20, 20, 20, 20, 20])
    expect(peers.requests).to.have.length(5)
  })

  it('has the positions of a plain walk as long as nothing is cut, that of an error too', async () => {
    const archive = archiveOf(SHAPES.even.slice(0, 100))
    const positionsOf = async (walker?: Walker): Promise<string[]> => {
      const inner = archivePeer(archive)
      const peers = new FakePeers([
        {
          ...inner,
          answer: (request) => {
            if (request.index > 2) {
              throw new ConnectionError('broken')
            }
            return inner.answer(request)
          }
        }
      ])
      const positions: string[] = []
      const error = await failureOf('ERR_INCOMPLETE_HISTORY', async () => {
        for await (const { position } of new StoreClient(peers).queryPages(CRITERIA, { walker })) {
          positions.push(position)
        }
      })
      return [...positions, error.position]
    }
    const plain = await positionsOf()
    expect(plain).to.have.length(4)
    expect(await positionsOf(parallel(1))).to.deep.equal(plain)
  })

  it('goes on at nodes of the generation alone whose order it is cut by', async () => {
    const archive = archiveOf(SHAPES.even.slice(0, 400))
    const inner = archivePeer(archive, 'new')
    let isGone = false
    const peers = new FakePeers([
      {
        ...inner,
        answer: (request) => {
          if (isGone) {
            throw new ConnectionError('gone')
          }
          return inner.answer(request)
        }
      },
      archivePeer(archive, 'old', [STORE_BETA4_PROTOCOL])
    ])
    await failureOf('ERR_INCOMPLETE_HISTORY', async () => {
      for await (const { peerId } of new StoreClient(peers).queryPages(CRITERIA, {
        walker: parallel(4)
      })) {
        expect(peerId).to.equal('new')
        isGone = true
      }
    })
  })

  it('walks a moment that is longer than many pages by its cursor', async () => {
    const archive = archiveOf([...Array<number>(200).fill(1), ...SHAPES.even.slice(0, 100)])
    const plain = await walkAll(archive, {})
    const { hashes, requests } = await walkAll(archive, { walker: parallel(8) })
    expect(hashes).to.deep.equal(plain.hashes)
    expect(requests).to.be.at.most(30)
  })

  it('cuts no finer than a nanosecond', async () => {
    const archive = archiveOf(Array.from({ length: 400 }, (_, index) => (index >> 5) / 1e6))
    const plain = await walkAll(archive, {})
    expect((await walkAll(archive, { walker: parallel(8) })).hashes).to.deep.equal(plain.hashes)
  })

  it('holds a page for each walk, and asks for nothing while nobody pulls', async () => {
    for (const shape of ['random', 'clumps', 'bursts'] as const) {
      const rounds = new Rounds()
      const archive = archiveOf(SHAPES[shape].slice(0, 400))
      const peers = new FakePeers([rounds.slow(archivePeer(archive))])
      let held = 0
      let most = 0
      const onProgress = (event: StoreProgress): void => {
        held += event.type === 'store:page' ? event.detail.count : 0
      }
      const options = { walker: parallel(5), onProgress }
      for await (const { messages } of new StoreClient(peers).queryPages(CRITERIA, options)) {
        held -= messages.length
        await settle(4)
        expect(peers.pending).to.equal(0)
        most = Math.max(most, held)
        const asked = peers.requests.length
        await settle(4)
        expect(peers.requests).to.have.length(asked)
      }
      expect(held).to.equal(0)
      expect(most).to.be.within(60, 100)
    }
  })

  it('is within the bounds of time, and has positions that any walk goes on from', async () => {
    const archive = archiveOf(SHAPES.random.slice(0, 2000))
    const times = archive.rows.map(({ message }) => message.timestamp ?? 0n)
    const criteria = { ...CRITERIA, timeStart: times[150], timeEnd: times[1800] }
    for (const direction of ['forward', 'backward'] as const) {
      const plain = await walkAll(archive, { direction }, criteria)
      expect(plain.hashes).to.have.length(1650)
      const client = new StoreClient(new FakePeers([archivePeer(archive)]))
      const found: string[] = []
      let position: string | undefined
      for (let round = 0; found.length < 1650; round++) {
        const options = { direction, position, walker: round % 2 ? undefined : parallel(4) }
        let count = 0
        for await (const page of client.queryPages(criteria, options)) {
          const hashes = hashesOf(page.messages)
          found.push(...(direction === 'forward' ? hashes : hashes.reverse()))
          position = page.position
          if (++count === 7) {
            break
          }
        }
      }
      expect(found).to.deep.equal(plain.hashes)
    }
  })

  it('has a position at the end that goes on with what has come since', async () => {
    const archive = archiveOf(SHAPES.even.slice(0, 200))
    const client = new StoreClient(new FakePeers([archivePeer(archive)]))
    const walker = parallel(4)
    const position = (await collect(client.queryPages(CRITERIA, { walker }))).at(-1)?.position
    archive.add(messageAt(BASE * 2n, 'new'), PUBSUB_TOPIC)
    expect(await collect(client.query(CRITERIA, { walker, position }))).to.have.length(1)
  })

  it('stays at the node that gave the first page', async () => {
    const archive = archiveOf(SHAPES.even.slice(0, 400))
    let isBroken = true
    const first = archivePeer(archive, 'first')
    const peers = new FakePeers([
      {
        ...first,
        answer: (request) => {
          if (isBroken) {
            throw new ConnectionError('broken')
          }
          return first.answer(request)
        }
      },
      archivePeer(archive, 'second')
    ])
    const pages = new StoreClient(peers).queryPages(CRITERIA, { walker: parallel(4) })
    await pages.next()
    isBroken = false
    const rest = await collect(pages)
    expect(new Set(rest.map(({ peerId }) => peerId))).to.deep.equal(new Set(['second']))
  })

  it('fails in order, with the position after what was delivered', async () => {
    const archive = archiveOf(SHAPES.even.slice(0, 400))
    const inner = archivePeer(archive)
    const limit = BASE + 200_000_000_000n
    let broken = 0
    const peers = new FakePeers([
      {
        ...inner,
        answer: (request) => {
          const { timeStart } = decodeStoreQueryRequest(request.bytes, 1000)
          if (timeStart !== undefined && timeStart > limit) {
            broken++
            throw new ConnectionError('broken')
          }
          return inner.answer(request)
        }
      }
    ])
    const pages: MessagePage[] = []
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', async () => {
      for await (const page of new StoreClient(peers).queryPages(CRITERIA, {
        walker: parallel(4)
      })) {
        pages.push(page)
      }
    })
    expect(error.position).to.equal(pages.at(-1)?.position)
    expect(error.cause).to.deep.include({ code: 'ERR_NO_USABLE_PEER' })
    // each of four pieces, twice
    expect(broken).to.be.at.most(8)
    const rest = await collect(
      new StoreClient(new FakePeers([inner])).query(CRITERIA, { position: error.position })
    )
    const all = [...archive.rows].sort(inHashOrder).map(({ hash }) => hash)
    expect([
      ...pages.flatMap(({ messages }) => hashesOf(messages)),
      ...hashesOf(rest)
    ]).to.deep.equal(all)
  })

  it('gives up what is under way on leaving and on abort, and leaves no listener', async () => {
    for (const leave of ['return', 'abort'] as const) {
      const inner = archivePeer(archiveOf(SHAPES.even.slice(0, 400)))
      const peers = new FakePeers([
        {
          ...inner,
          answer: (request) => (request.index < 2 ? inner.answer(request) : never(request.signal))
        }
      ])
      const { controller, signal, listeners } = countingSignal()
      const pages = new StoreClient(peers).queryPages(CRITERIA, { signal, walker: parallel(4) })
      await pages.next()
      await settle()
      expect(peers.pending).to.equal(3)
      if (leave === 'return') {
        await pages.return(undefined)
      } else {
        controller.abort(REASON)
        expect(await failure(() => pages.next())).to.equal(REASON)
      }
      await settle()
      expect(peers.pending).to.equal(0)
      expect(peers.requests).to.have.length(5)
      expect(listeners()).to.equal(0)
    }
  })

  it('leaves no listener at the end', async () => {
    const peers = new FakePeers([archivePeer(archiveOf(SHAPES.even.slice(0, 400)))])
    const { signal, listeners } = countingSignal()
    await collect(new StoreClient(peers).query(CRITERIA, { signal, walker: parallel(4) }))
    expect(listeners()).to.equal(0)
  })

  it('refuses another number of walks', async () => {
    for (const walks of [0, 33, 1.5, Number.NaN, undefined as unknown as number]) {
      const error = await failureOf('ERR_INVALID_ARGUMENT', () => parallel(walks))
      expect(error.parameter).to.equal('walks')
    }
  })
})
