import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { type MessagePage, parallel, StoreClient, type WalkOptions } from 'waku-light/store'
import { decodeStoreQueryRequest, STORE_BETA4_PROTOCOL } from 'waku-light/wire'
import { Archive, inHashOrder } from '../helpers/archive.ts'
import { collect, failure, failureOf, hashesOf, messageAt } from '../helpers/collect.ts'
import { FakePeers, never } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'
import { countingSignal, Rounds, settle } from '../helpers/store-peers-rounds.ts'

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

/** Random numbers that are the same each time. */
function* random(seed = 1): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    yield state / 2 ** 31
  }
}

function at(count: number, gap: (index: number, random: number) => number): number[] {
  const numbers = random()
  let time = 0
  return Array.from({ length: count }, (_, index) => {
    time += gap(index, numbers.next().value)
    return time
  })
}

const SHAPES = {
  even: at(3000, () => 1000),
  random: at(3000, (_index, value) => -Math.log(1 - value) * 1000),
  // a day takes 1000 messages, most of them by day
  'of day and night': at(3000, (i, value) => (1.05 + Math.sin(i / 160)) * value * 1000),
  clumps: at(3000, (index, value) => (index % 16 === 0 ? value * 100 : 0)),
  bursts: at(3000, (index, value) => (index % 500 === 0 ? 3_600_000 : value * 100))
}

/** How many of the 60 round trips of a plain walk are left, by eight walks, and how many requests it may take. */
const GOALS = {
  even: { rounds: 15, requests: 100 },
  random: { rounds: 15, requests: 100 },
  'of day and night': { rounds: 40, requests: 180 },
  clumps: { rounds: 30, requests: 180 },
  bursts: { rounds: 30, requests: 180 }
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

  it('walks a moment that is longer than many pages by its cursor', async () => {
    const archive = archiveOf([...Array<number>(200).fill(1), ...SHAPES.even.slice(0, 100)])
    const plain = await walkAll(archive, {})
    const { hashes, requests } = await walkAll(archive, { walker: parallel(8) })
    expect(hashes).to.deep.equal(plain.hashes)
    expect(requests).to.be.at.most(30)
  })

  it('holds a page for each walk, and asks for nothing while nobody pulls', async () => {
    const bursts = SHAPES.bursts.slice(400, 700)
    const times = [...SHAPES.random.slice(0, 200), ...bursts.map((time) => time + 400_000)]
    const rounds = new Rounds()
    const peers = new FakePeers([rounds.slow(archivePeer(archiveOf(times)))])
    const pages = new StoreClient(peers).queryPages(CRITERIA, { walker: parallel(5) })
    let before = 0
    for (;;) {
      const { done } = await pages.next()
      await settle(4)
      if (done === true) {
        break
      }
      const now = peers.requests.length
      expect(peers.pending).to.equal(0)
      expect(now - before).to.be.at.most(6 + (before === 0 ? 1 : 0))
      before = now
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
    const peers = new FakePeers([
      {
        ...inner,
        answer: (request) => {
          const { timeStart } = decodeStoreQueryRequest(request.bytes, 1000)
          if (timeStart !== undefined && timeStart > limit) {
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

  it('refuses another number of walks', async () => {
    for (const walks of [0, 33, 1.5, Number.NaN, undefined as unknown as number]) {
      const error = await failureOf('ERR_INVALID_ARGUMENT', () => parallel(walks))
      expect(error.parameter).to.equal('walks')
    }
  })
})
