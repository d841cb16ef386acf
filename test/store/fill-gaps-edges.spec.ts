import { expect } from 'chai'
import { InvalidMessageError } from 'waku-light/errors'
import { toHex } from 'waku-light/message'
import { fillGaps, StoreClient, type StoreProgress } from 'waku-light/store'
import { decodeStoreQueryRequest, encodeStoreQueryRequest } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, hashesOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, hashOf, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }

function archiveOf(times: readonly bigint[], maxPage = 10): Archive {
  const archive = new Archive({ maxPage })
  for (const [index, time] of times.entries()) {
    archive.add(messageAt(time, `${time} ${index}`), PUBSUB_TOPIC)
  }
  return archive
}

/** A peer that is asked something else than it was. */
function asked(
  archive: Archive,
  peerId: string,
  change: (query: ReturnType<typeof decodeStoreQueryRequest>) => object
): FakePeer {
  const peer = archivePeer(archive, peerId)
  return {
    ...peer,
    answer: (request) => {
      const query = decodeStoreQueryRequest(request.bytes, 1000)
      return peer.answer({
        ...request,
        bytes: encodeStoreQueryRequest({ ...query, ...change(query) })
      })
    }
  }
}

const times = (count: number): bigint[] => Array.from({ length: count }, (_, n) => BigInt(1000 + n))

describe('fillGaps, at the edges', () => {
  it('tells of a node that was dropped and then gives the messages that it does so', async () => {
    const [one, two] = [
      archivePeer(archiveOf(times(40)), 'one'),
      archivePeer(archiveOf(times(40)), 'two')
    ]
    let [pages, lists] = [0, 0]
    const peers = new FakePeers([
      {
        ...one,
        answer: (request) => {
          if (++pages > 2) {
            throw new InvalidMessageError('garbage')
          }
          return one.answer(request)
        }
      },
      {
        ...two,
        answer: (request) => {
          if (!decodeStoreQueryRequest(request.bytes, 1000).includeData && ++lists === 1) {
            throw new InvalidMessageError('garbage')
          }
          return two.answer(request)
        }
      }
    ])
    const options = { walker: fillGaps('all'), pageLimit: 10 }
    const all = await collect(new StoreClient(peers).queryPages(CRITERIA, options))
    expect(all.flatMap(({ messages }) => messages)).to.have.length(40)
    const states = all.at(-1)?.sources.map(({ peerId, state }) => [peerId, state])
    expect(states).to.deep.equal([
      ['one', 'dropped'],
      ['two', 'complete']
    ])
  })

  it('says of no node that it is complete before it is', async () => {
    const peers = new FakePeers([
      archivePeer(archiveOf(times(40)), 'one'),
      archivePeer(archiveOf(times(40)), 'two')
    ])
    const options = { walker: fillGaps('all'), pageLimit: 10 }
    const all = await collect(new StoreClient(peers).queryPages(CRITERIA, options))
    for (const { sources, completeness } of all) {
      const state = completeness === 'complete' ? 'complete' : 'reading'
      expect(sources.map((source) => source.state)).to.deep.equal([state, state])
    }
  })

  for (const direction of ['forward', 'backward'] as const) {
    it(`has everything of a node that lists all that it has each time, ${direction}`, async () => {
      const every = times(60)
      const full = new Archive({ maxPage: 100 })
      for (const [index, time] of every.entries()) {
        full.add(messageAt(time, `${time} ${index}`), PUBSUB_TOPIC)
      }
      const partial = new Archive({ maxPage: 10 })
      for (const [index, time] of every.entries()) {
        if (index % 9 !== 4) {
          partial.add(messageAt(time, `${time} ${index}`), PUBSUB_TOPIC)
        }
      }
      const peers = new FakePeers([
        archivePeer(partial, 'one'),
        asked(full, 'two', ({ messageHashes }) =>
          messageHashes.length > 0
            ? {}
            : { timeStart: undefined, timeEnd: undefined, paginationLimit: 100n }
        )
      ])
      const options = { walker: fillGaps('all'), pageLimit: 100, direction }
      const hashes = hashesOf(await collect(new StoreClient(peers).query(CRITERIA, options)))
      const wanted = every.map((time, index) => toHex(hashOf(messageAt(time, `${time} ${index}`))))
      expect(hashes).to.deep.equal(direction === 'forward' ? wanted : wanted.reverse())
    })
  }

  it('does not say that the first node lacks what it gives after another one had listed it', async () => {
    const same = [...times(5), ...Array.from({ length: 12 }, () => 1005n), 1006n, 1007n]
    const peers = new FakePeers([
      archivePeer(archiveOf(same), 'one'),
      // as reference nodes: the end is among it
      asked(archiveOf(same), 'two', ({ timeEnd }) => ({
        timeEnd: timeEnd === undefined ? undefined : timeEnd + 1n
      }))
    ])
    const options = { walker: fillGaps('all'), pageLimit: 10 }
    const all = await collect(new StoreClient(peers).queryPages(CRITERIA, options))
    expect(all.flatMap(({ messages }) => messages)).to.have.length(same.length)
    expect(all.flatMap(({ lacks }) => lacks)).to.deep.equal([])
  })

  it('tells of nothing wrong where a node lists what is of the very end', async () => {
    const one = archiveOf([1n, 2n])
    const two = new Archive({ maxPage: 10 })
    for (const time of [1n, 2n, 5n]) {
      two.add(messageAt(time, `${time} ${Number(time) - 1}`), PUBSUB_TOPIC)
    }
    const events: StoreProgress[] = []
    const peers = new FakePeers([
      archivePeer(one, 'one'),
      asked(two, 'two', ({ timeEnd }) => ({
        timeEnd: timeEnd === undefined ? undefined : timeEnd + 1n
      }))
    ])
    const options = {
      walker: fillGaps('all'),
      onProgress: (event: StoreProgress) => void events.push(event)
    }
    const all = await collect(
      new StoreClient(peers).query({ ...CRITERIA, timeStart: 1n, timeEnd: 5n }, options)
    )
    expect(all).to.have.length(2)
    expect(events.filter(({ type }) => type === 'store:rejected')).to.deep.equal([])
  })
})
