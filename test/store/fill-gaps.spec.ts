import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { fillGaps, type SourcesPage, StoreClient, sources, type Walker } from 'waku-light/store'
import {
  decodeStoreQueryRequest,
  encodeStoreQueryResponse,
  type StoreQueryRequest
} from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failureOf, hashesOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, never } from '../helpers/fake-peers.ts'
import {
  archivePeer,
  CONTENT_TOPIC,
  cursorOf,
  entryOf,
  hashOf,
  PUBSUB_TOPIC,
  query3Peer
} from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const TEXT = 'x'.repeat(300)

const messages = Array.from({ length: 60 }, (_, index) =>
  messageAt(BigInt(1000 + index), `${index} ${TEXT}`)
)
const all = hashesOf(messages.map((message) => ({ messageHash: hashOf(message) })))

function without(lacks: (index: number) => boolean): Archive {
  const archive = new Archive({ maxPage: 10 })
  for (const [index, message] of messages.entries()) {
    if (!lacks(index)) {
      archive.add(message, PUBSUB_TOPIC)
    }
  }
  return archive
}

const none = (): boolean => false
const few = (index: number): boolean => index % 20 === 3

/** Counts the bytes of a peer's answers. */
function counted(peer: FakePeer): { peer: FakePeer; bytes: () => number } {
  let count = 0
  return {
    peer: {
      ...peer,
      answer: async (request) => {
        const bytes = await peer.answer(request)
        count += bytes.length
        return bytes
      }
    },
    bytes: () => count
  }
}

const walk = (
  peers: FakePeers,
  walker: Walker<SourcesPage> = fillGaps('all')
): Promise<SourcesPage[]> => collect(new StoreClient(peers).queryPages(CRITERIA, { walker }))

const hashesOfPages = (pages: readonly SourcesPage[]): string[] =>
  pages.flatMap((page) => hashesOf(page.messages))

const queriesOf = ({ requests }: FakePeers, peerId: string): StoreQueryRequest[] =>
  requests
    .filter((request) => request.peerId === peerId)
    .map(({ bytes }) => decodeStoreQueryRequest(bytes, 1000))

describe('fillGaps, what it asks', () => {
  it('asks others for hashes, and by hash for what is missing only', async () => {
    const peers = new FakePeers([
      archivePeer(without(few), 'one'),
      archivePeer(without(none), 'two')
    ])
    const pages = await walk(peers)
    expect(hashesOfPages(pages)).to.deep.equal(all)
    expect(queriesOf(peers, 'one').every(({ includeData }) => includeData)).to.equal(true)
    const others = queriesOf(peers, 'two')
    expect(others.every((query) => query.includeData === query.messageHashes.length > 0)).to.equal(
      true
    )
    const fetched = others.flatMap(({ messageHashes }) => messageHashes)
    expect(hashesOf(fetched.map((messageHash) => ({ messageHash })))).to.deep.equal(
      all.filter((_, index) => few(index))
    )
  })

  it('takes a fraction of the bytes that a second walk takes', async () => {
    const bytes = await Promise.all(
      [fillGaps, sources].map(async (walkerOf) => {
        const two = counted(archivePeer(without(none), 'two'))
        await walk(new FakePeers([archivePeer(without(few), 'one'), two.peer]), walkerOf('all'))
        return two.bytes()
      })
    )
    expect(bytes[0]).to.be.below((bytes[1] ?? 0) / 4)
  })

  it('does not fetch again what was delivered before the position', async () => {
    const peers = new FakePeers([
      archivePeer(without(none), 'one'),
      archivePeer(without(none), 'two')
    ])
    const client = new StoreClient(peers)
    const walker = fillGaps('all')
    const pages = client.queryPages(CRITERIA, { walker })
    const { value } = (await pages.next()) as IteratorYieldResult<SourcesPage>
    await pages.return(undefined)
    await collect(client.query(CRITERIA, { walker, position: value.position }))
    expect(queriesOf(peers, 'two').some(({ messageHashes }) => messageHashes.length > 0)).to.equal(
      false
    )
  })

  it('fetches once what several others have', async () => {
    const peers = new FakePeers([
      archivePeer(without(few), 'one'),
      archivePeer(without(none), 'two'),
      archivePeer(without(none), 'three')
    ])
    expect(hashesOfPages(await walk(peers))).to.deep.equal(all)
    expect(queriesOf(peers, 'three').every(({ includeData }) => !includeData)).to.equal(true)
  })

  for (const direction of ['forward', 'backward'] as const) {
    it(`fills a gap that is many pages long, page by page, ${direction}`, async () => {
      const peers = new FakePeers([
        archivePeer(
          without((index) => index > 0 && index < 59),
          'one'
        ),
        archivePeer(without(none), 'two'),
        archivePeer(without(few), 'three')
      ])
      const found: string[] = []
      let held = 0
      for await (const page of new StoreClient(peers).queryPages(CRITERIA, {
        direction,
        walker: fillGaps('all')
      })) {
        const hashes = hashesOf(page.messages)
        found.push(...(direction === 'forward' ? hashes : hashes.reverse()))
        const fetched = queriesOf(peers, 'two').flatMap(({ messageHashes }) => messageHashes)
        held = Math.max(held, fetched.length - found.length)
      }
      expect(found).to.deep.equal(direction === 'forward' ? all : [...all].reverse())
      expect(held).to.be.at.most(10)
    })
  }
})

describe('fillGaps, nodes that fail', () => {
  it('goes on with another first node, and tells of the one that failed', async () => {
    let count = 0
    const one = archivePeer(without(few), 'one')
    const answer: FakePeer['answer'] = (request) => {
      if (count++ > 1) {
        throw new ConnectionError('broken')
      }
      return one.answer(request)
    }
    const two = archivePeer(
      without((index) => index % 2 === 0),
      'two'
    )
    const three = archivePeer(without(none), 'three')
    const pages = await walk(new FakePeers([{ ...one, answer }, two, three]))
    expect(hashesOfPages(pages)).to.deep.equal(all)
    const states = pages.at(-1)?.sources ?? []
    expect(states.map(({ peerId, state }) => `${peerId} ${state}`).sort()).to.deep.equal([
      'one dropped',
      'three complete',
      'two complete'
    ])
    expect(states.find(({ peerId }) => peerId === 'one')?.failure?.error).to.deep.include({
      code: 'ERR_CONNECTION'
    })
  })

  it('goes on without a node that fails when it is asked for what is missing', async () => {
    const inner = archivePeer(without(none), 'two')
    for (const fail of [
      (): never => {
        throw new ConnectionError('broken')
      },
      (signal: AbortSignal) => never(signal)
    ]) {
      const answer: FakePeer['answer'] = (request) =>
        decodeStoreQueryRequest(request.bytes, 1000).messageHashes.length > 0
          ? fail(request.signal)
          : inner.answer(request)
      const peers = new FakePeers([
        archivePeer(without(few), 'one'),
        { ...inner, answer },
        archivePeer(without(none), 'three')
      ])
      const pages = await walk(peers, fillGaps(2, { patienceMs: 5 }))
      expect(hashesOfPages(pages)).to.deep.equal(all)
      expect(pages.at(-1)?.sources.map(({ state }) => state)).to.deep.equal([
        'complete',
        'dropped',
        'complete'
      ])
      expect(peers.pending).to.equal(0)
    }
  })

  it('passes over hashes that nobody can give, and messages that do not match', async () => {
    const foreign = messageAt(1005n, 'foreign', '/app/22/b/proto')
    const late = messageAt(900n, 'too old')
    const liar = query3Peer(
      ({ messageHashes }) => ({
        messages:
          messageHashes.length > 0
            ? [entryOf(foreign), entryOf(late)]
            : [late, foreign, messageAt(1n, 'not there')].map((message) =>
                entryOf(message, { message: undefined, pubsubTopic: undefined })
              )
      }),
      'liar'
    )
    const peers = new FakePeers([archivePeer(without(none), 'one'), liar])
    const rejected: string[] = []
    const pages = await collect(
      new StoreClient(peers).queryPages(
        { ...CRITERIA, timeStart: 1000n },
        {
          walker: fillGaps('all'),
          onProgress: ({ type, detail }) => {
            if (type === 'store:rejected') {
              rejected.push(detail.reason)
            }
          }
        }
      )
    )
    expect(hashesOfPages(pages)).to.deep.equal(all)
    expect(rejected).to.include('foreign')
  })

  it('drops a node that lists hashes without end, or such as are none', async () => {
    const bogus = query3Peer(({ messageHashes, paginationLimit = 0n }, index) => {
      const hashes = Array.from({ length: Number(paginationLimit) }, (_, entry) => {
        const hash = new Uint8Array(32).fill(7)
        new DataView(hash.buffer).setUint32(0, index * 1000 + entry)
        return entryOf(messages[0] as (typeof messages)[0], {
          messageHash: hash,
          message: undefined,
          pubsubTopic: undefined
        })
      })
      return messageHashes.length > 0
        ? {}
        : { messages: hashes, paginationCursor: cursorOf((index % 250) + 1) }
    }, 'bogus')
    const empty = query3Peer(
      (_query, index) => ({ paginationCursor: cursorOf(index + 1) }),
      'empty'
    )
    const short = query3Peer(() => ({ messages: [new Uint8Array()] }), 'short')
    const peers = new FakePeers([archivePeer(without(none), 'one'), bogus, empty, short])
    const pages = await walk(peers)
    expect(hashesOfPages(pages)).to.deep.equal(all)
    const codes = pages
      .at(-1)
      ?.sources.map(({ failure }) => (failure?.error as { code?: string })?.code)
    expect(codes).to.deep.equal([
      undefined,
      'ERR_LIMIT_EXCEEDED',
      'ERR_PROTOCOL_VIOLATION',
      'ERR_INVALID_MESSAGE'
    ])
  })

  it('fails where more messages are of one time than it holds, with a position for other walks', async () => {
    const crowd = Array.from({ length: 2200 }, (_, index) => entryOf(messageAt(5n, `${index}`)))
    const order = crowd
      .map((entry) => ({
        entry,
        text: [...entry.subarray(2, 34)].map((byte) => String.fromCharCode(byte)).join('')
      }))
      .sort((a, b) => (a.text < b.text ? -1 : 1))
      .map(({ entry }) => entry)
    const cursorAt = (index: number): Uint8Array<ArrayBuffer> => {
      const cursor = cursorOf(1)
      new DataView(cursor.buffer).setUint32(0, index)
      return cursor
    }
    const crowded: FakePeer = {
      ...archivePeer(new Archive(), 'crowded'),
      answer: ({ bytes }) => {
        const { requestId, paginationCursor, paginationLimit } = decodeStoreQueryRequest(
          bytes,
          1000
        )
        const to = Number(paginationLimit)
        const from =
          paginationCursor === undefined
            ? 0
            : new DataView(paginationCursor.slice().buffer).getUint32(0)
        return encodeStoreQueryResponse({
          requestId,
          statusCode: 200,
          messages: order.slice(from, from + to),
          paginationCursor: from + to < order.length ? cursorAt(from + to) : undefined
        })
      }
    }
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () => walk(new FakePeers([crowded])))
    expect(error.cause).to.deep.include({ code: 'ERR_LIMIT_EXCEEDED', limit: 2000 })
    const rest = await collect(
      new StoreClient(new FakePeers([crowded])).query(CRITERIA, { position: error.position })
    )
    expect(rest).to.have.length(2200)
  })
})
