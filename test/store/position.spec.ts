import { expect } from 'chai'
import { ConnectionError, TimeoutError } from 'waku-light/errors'
import {
  type MessagePage,
  STORE_BETA4,
  STORE_QUERY_3,
  StoreClient,
  type StoreProgress,
  type WalkOptions
} from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import {
  decodeStoreQueryRequest,
  encodeStoreQueryResponse,
  STORE_BETA4_PROTOCOL,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failureOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers, type FakeRequest } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }

function filled(count = 6): Archive {
  const archive = new Archive()
  for (let index = 0; index < count; index++) {
    archive.add(messageAt(BigInt(1000 + index), `${index}`), PUBSUB_TOPIC)
  }
  return archive
}

const textsOf = (pages: readonly MessagePage[]): string[] =>
  pages.flatMap(({ messages }) => messages.map(({ payload }) => new TextDecoder().decode(payload)))

/** The first page, and its position after a journey through JSON. */
async function firstPage(client: StoreClient, options: WalkOptions = {}): Promise<MessagePage> {
  const pages = client.queryPages(CRITERIA, { pageLimit: 2, ...options })
  const { value } = (await pages.next()) as IteratorYieldResult<MessagePage>
  await pages.return(undefined)
  return { ...value, position: JSON.parse(JSON.stringify(value.position)) as string }
}

/** A peer that answers as an archive does, but for some of its requests, numbered from 0. */
function failing(peer: FakePeer, faults: Record<number, () => Uint8Array>): FakePeer {
  let count = 0
  return {
    ...peer,
    answer: (request: FakeRequest) => faults[count++]?.() ?? peer.answer(request)
  }
}

const broken = (): never => {
  throw new ConnectionError('broken')
}
const expired = (): never => {
  throw new TimeoutError('store query', 1)
}
const status = (statusCode: number) => (): Uint8Array =>
  encodeStoreQueryResponse({ requestId: 'N/A', statusCode, messages: [] })

const peerIdsOf = ({ requests }: FakePeers): string[] => requests.map(({ peerId }) => peerId)
const query = ({ bytes }: FakeRequest) => decodeStoreQueryRequest(bytes, 100)

describe('MessagePage.position', () => {
  it('is text of URL-safe characters that goes on at the same node, by its cursor', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    const client = new StoreClient(peers)
    const { position } = await firstPage(client)
    expect(position).to.match(/^[\w-]+$/)
    const rest = await collect(new StoreClient(peers).queryPages(CRITERIA, { position }))
    expect(textsOf(rest)).to.deep.equal(['2', '3', '4', '5'])
    expect(
      peers.requests.slice(1).map((request) => query(request).paginationCursor?.length)
    ).to.deep.equal([32])
    expect(query(peers.requests[1] as FakeRequest).timeStart).to.equal(undefined)
  })

  it('goes on at another node by time, never with the cursor', async () => {
    const archive = filled()
    archive.add(messageAt(1001n, 'of the same time'), PUBSUB_TOPIC)
    const one = new StoreClient(new FakePeers([archivePeer(archive, 'one')]))
    const first = await firstPage(one)
    const others = new FakePeers([archivePeer(archive, 'two')])
    const rest = await collect(
      new StoreClient(others).queryPages(CRITERIA, { position: first.position, pageLimit: 1 })
    )
    expect(textsOf([first, ...rest]).sort()).to.deep.equal(
      ['0', '1', '2', '3', '4', '5', 'of the same time'].sort()
    )
    const asked = query(others.requests[0] as FakeRequest)
    expect(asked.paginationCursor).to.equal(undefined)
    expect(asked.timeStart).to.equal(1001n)
  })

  it('goes on by time with the end drawn in, backward', async () => {
    const one = new StoreClient(new FakePeers([archivePeer(filled(), 'one')]))
    const { position } = await firstPage(one, { direction: 'backward' })
    const others = new FakePeers([archivePeer(filled(), 'two')])
    const rest = await collect(
      new StoreClient(others).query(CRITERIA, { position, direction: 'backward' })
    )
    expect(rest.map(({ timestamp }) => timestamp)).to.deep.equal([1003n, 1002n, 1001n, 1000n])
    expect(query(others.requests[0] as FakeRequest)).to.deep.include({ timeEnd: 1005n })
  })

  it('goes on at the end too, for what has come since', async () => {
    for (const generation of [undefined, STORE_BETA4, STORE_BETA2]) {
      const archive = filled(3)
      const init = generation === undefined ? {} : { generations: [generation] }
      const client = new StoreClient(new FakePeers([archivePeer(archive)]), init)
      const position = (await collect(client.queryPages(CRITERIA))).at(-1)?.position
      expect(textsOf(await collect(client.queryPages(CRITERIA, { position })))).to.deep.equal([])
      archive.add(messageAt(300_000_000_000n, 'new'), PUBSUB_TOPIC)
      const since = await collect(client.queryPages(CRITERIA, { position }))
      expect(textsOf(since)).to.deep.equal(['new'])
    }
  })

  it('belongs to criteria, whatever the order of their topics, and to a direction', async () => {
    const client = new StoreClient(new FakePeers([archivePeer(filled())]))
    const contentTopics = [CONTENT_TOPIC, '/app/27/a/proto']
    const [page] = await collect(client.queryPages({ contentTopics }))
    const position = page?.position
    const reversed = { contentTopics: [...contentTopics, CONTENT_TOPIC].reverse() }
    expect(await collect(client.query(reversed, { position }))).to.deep.equal([])
    for (const [criteria, options] of [
      [CRITERIA, {}],
      [{ contentTopics, timeStart: 0n }, {}],
      [{ contentTopics, timeEnd: 0n }, {}],
      [{ contentTopics, pubsubTopic: PUBSUB_TOPIC }, {}],
      [{ contentTopics }, { direction: 'backward' as const }]
    ] as const) {
      const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
        client.queryPages(criteria, { ...options, position })
      )
      expect(error.parameter).to.equal('position')
    }
  })

  it('is refused where it is garbage, before any I/O', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    const client = new StoreClient(peers)
    const { position } = await firstPage(client)
    const encode = (value: unknown): string => btoa(JSON.stringify(value)).replace(/=+$/, '')
    for (const wrong of [
      '',
      'x',
      '%%%',
      'AAAA',
      position.slice(0, -2),
      `${position}AAAA`,
      encode(null),
      encode([]),
      encode([2, 'digest', null, null]),
      encode([1, 'digest', 5, null]),
      5,
      null,
      {}
    ]) {
      const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
        client.queryPages(CRITERIA, { position: wrong as string })
      )
      expect(error.parameter).to.equal('position')
    }
    expect(peers.requests).to.have.length(1)
  })

  it('stays short, however many messages share a time', async () => {
    const archive = new Archive()
    for (let index = 0; index < 200; index++) {
      archive.add(messageAt(5n, `${index}`), PUBSUB_TOPIC)
    }
    const one = new StoreClient(new FakePeers([archivePeer(archive, 'one')]))
    const first = await firstPage(one, { pageLimit: 100 })
    expect(first.position.length).to.be.lessThan(600)
    const two = new StoreClient(new FakePeers([archivePeer(archive, 'two')]))
    const rest = await collect(two.queryPages(CRITERIA, { position: first.position }))
    expect(new Set(textsOf([first, ...rest])).size).to.equal(200)
    expect(textsOf([first, ...rest])).to.have.length(200)
  })

  it('of beta2 cannot go on at another node', async () => {
    const init = { generations: [STORE_BETA2] }
    const one = new StoreClient(new FakePeers([archivePeer(filled(), 'one')]), init)
    const { position } = await firstPage(one)
    const two = new StoreClient(new FakePeers([archivePeer(filled(), 'two')]), init)
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(two.queryPages(CRITERIA, { position }))
    )
    expect(error.cause).to.deep.include({ code: 'ERR_UNSUPPORTED' })
    expect(error.position).to.equal(position)
  })
})

describe('StoreClient, when a node fails in a walk', () => {
  it('does not go on elsewhere with what beta2 began, whose order is not that of time', async () => {
    const old = failing(archivePeer(filled(), 'old', [STORE_BETA2.protocol]), {
      1: broken,
      2: broken
    })
    const peers = new FakePeers([old, archivePeer(filled(), 'new')])
    const client = new StoreClient(peers, { generations: [STORE_QUERY_3, STORE_BETA2] })
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(client.queryPages(CRITERIA, { pageLimit: 2 }))
    )
    expect(error.cause).to.include({ code: 'ERR_NO_USABLE_PEER' })
    expect(peerIdsOf(peers)).to.deep.equal(['old', 'old', 'old'])
  })

  it('asks the same node again after a broken connection, with its cursor', async () => {
    const one = failing(archivePeer(filled(), 'one'), { 1: broken })
    const peers = new FakePeers([one, archivePeer(filled(), 'two')])
    const pages = await collect(new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2 }))
    expect(textsOf(pages)).to.deep.equal(['0', '1', '2', '3', '4', '5'])
    expect(peerIdsOf(peers)).to.deep.equal(['one', 'one', 'one', 'one'])
  })

  it('turns to another node after a second one, and after a timeout at once, by time', async () => {
    for (const [faults, asked] of [
      [{ 1: broken, 2: broken }, ['one', 'one', 'one', 'two']],
      [{ 1: expired }, ['one', 'one', 'two']],
      [{ 1: status(429) }, ['one', 'one', 'two']]
    ] as const) {
      const one = failing(archivePeer(filled(), 'one'), faults)
      const peers = new FakePeers([one, archivePeer(filled(), 'two')])
      const pages = await collect(new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2 }))
      expect(textsOf(pages)).to.deep.equal(['0', '1', '2', '3', '4', '5'])
      expect(peerIdsOf(peers).slice(0, asked.length)).to.deep.equal(asked)
      const turned = query(peers.requests[asked.length - 1] as FakeRequest)
      expect(turned.timeStart).to.equal(1001n)
      expect(turned.paginationCursor).to.equal(undefined)
    }
  })

  it('begins again by time at the same node where it knows its cursor no more', async () => {
    const archive = filled()
    const inner = archivePeer(archive, 'one')
    const one = {
      ...inner,
      answer: (request: FakeRequest) => {
        archive.forgetsCursors = request.index === 1
        return inner.answer(request)
      }
    }
    const peers = new FakePeers([one, archivePeer(filled(), 'two')])
    const pages = await collect(new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2 }))
    expect(textsOf(pages)).to.deep.equal(['0', '1', '2', '3', '4', '5'])
    expect(new Set(peerIdsOf(peers))).to.deep.equal(new Set(['one']))
    const again = query(peers.requests[2] as FakeRequest)
    expect(again.timeStart).to.equal(1001n)
    expect(again.paginationCursor).to.equal(undefined)
  })

  it('asks the only node again for its first page', async () => {
    for (const fault of [broken, expired]) {
      const peers = new FakePeers([failing(archivePeer(filled()), { 0: fault })])
      expect(await collect(new StoreClient(peers).query(CRITERIA))).to.have.length(6)
    }
  })

  it('keeps the cursor in the position of the error where it is still good', async () => {
    for (const fault of [broken, expired, status(429)]) {
      const twice = fault === broken || fault === expired
      const times = twice ? [1, 2] : [1, 2, 3, 4]
      const faults = Object.fromEntries(times.map((time) => [time, fault]))
      const peers = new FakePeers([failing(archivePeer(filled()), faults)])
      const client = new StoreClient(peers, { sleep: async () => undefined })
      const messages: unknown[] = []
      const error = await failureOf('ERR_INCOMPLETE_HISTORY', async () => {
        for await (const message of client.query(CRITERIA, { pageLimit: 2 })) {
          messages.push(message)
        }
      })
      expect(messages).to.have.length(2)
      const before = peers.requests.length
      const rest = await collect(client.queryPages(CRITERIA, { position: error.position }))
      expect(textsOf(rest)).to.deep.equal(['2', '3', '4', '5'])
      expect(query(peers.requests[before] as FakeRequest).paginationCursor).to.have.length(32)
    }
  })

  it('waits where the only node has too many requests, longer each time, then goes on with its cursor', async () => {
    const faults = { 1: status(429), 2: status(429), 3: status(429), 5: status(429) }
    const peers = new FakePeers([failing(archivePeer(filled()), faults)])
    const waits: number[] = []
    const client = new StoreClient(peers, {
      sleep: async (ms) => {
        waits.push(ms)
      }
    })
    const pauses: number[] = []
    const onProgress = ({ type, detail }: StoreProgress): void => {
      if (type === 'store:pause') {
        pauses.push(detail.pauseMs)
      }
    }
    const pages = await collect(client.queryPages(CRITERIA, { pageLimit: 2, onProgress }))
    expect(textsOf(pages)).to.deep.equal(['0', '1', '2', '3', '4', '5'])
    expect(pauses).to.deep.equal(waits)
    for (const [index, longestMs] of [1000, 2000, 4000, 1000].entries()) {
      expect(waits[index]).to.be.within(longestMs / 2, longestMs)
    }
    expect(waits).to.have.length(4)
    const asked = peers.requests.slice(1, 5).map((request) => query(request).paginationCursor)
    expect(asked.every((cursor) => cursor?.length === 32)).to.equal(true)
  })

  it('does not wait where another node can go on', async () => {
    const peers = new FakePeers([
      failing(archivePeer(filled(), 'busy'), { 0: status(429) }),
      archivePeer(filled(), 'free')
    ])
    const sleep = (): never => expect.fail('it waits')
    const [page] = await collect(new StoreClient(peers, { sleep }).queryPages(CRITERIA))
    expect(page?.peerId).to.equal('free')
  })

  it('leaves the cursor out of the position of the error where the node refuses it', async () => {
    const peers = new FakePeers([
      failing(archivePeer(filled()), { 1: status(300), 2: status(300) })
    ])
    const client = new StoreClient(peers)
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(client.query(CRITERIA, { pageLimit: 2 }))
    )
    const rest = await collect(client.queryPages(CRITERIA, { position: error.position }))
    expect(textsOf(rest)).to.deep.equal(['2', '3', '4', '5'])
    const resumed = query(peers.requests[3] as FakeRequest)
    expect(resumed.timeStart).to.equal(1001n)
    expect(resumed.paginationCursor).to.equal(undefined)
  })

  it('keeps the cursor of beta2 whatever the node answers, since nothing else goes on', async () => {
    const garbage = (): Uint8Array => Uint8Array.of(0xff)
    const peers = new FakePeers([failing(archivePeer(filled()), { 1: garbage })])
    const client = new StoreClient(peers, { generations: [STORE_BETA2] })
    const first = await firstPage(client)
    const { position } = first
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(client.queryPages(CRITERIA, { position }))
    )
    const rest = await collect(client.queryPages(CRITERIA, { position: error.position }))
    expect(new Set(textsOf([first, ...rest])).size).to.equal(6)
    expect(textsOf([first, ...rest])).to.have.length(6)
  })

  it('delivers messages of beta4 without a time that stand behind the last one, by time', async () => {
    const archive = new Archive()
    archive.add(messageAt(1005n, 'timed'), PUBSUB_TOPIC)
    archive.add(messageAt(0n, 'untimed'), PUBSUB_TOPIC, 1006n)
    const beta4 = [STORE_BETA4_PROTOCOL]
    const one = failing(archivePeer(archive, 'one', beta4), { 1: expired })
    const peers = new FakePeers([one, archivePeer(archive, 'two', beta4)])
    const pages = await collect(new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 1 }))
    expect(textsOf(pages)).to.deep.equal(['timed', 'untimed'])
    expect(peerIdsOf(peers)).to.deep.equal(['one', 'one', 'two', 'two'])
  })

  it('asks nobody but the pinned node', async () => {
    const peers = new FakePeers([
      archivePeer(filled(), 'one'),
      failing(archivePeer(filled(), 'two'), { 0: status(503) })
    ])
    const client = new StoreClient(peers)
    const options = { peerId: 'two' }
    await failureOf('ERR_INCOMPLETE_HISTORY', () => collect(client.query(CRITERIA, options)))
    expect(peerIdsOf(peers)).to.deep.equal(['two'])
    expect(await collect(client.query(CRITERIA, options))).to.have.length(6)
    expect(new Set(peerIdsOf(peers))).to.deep.equal(new Set(['two']))
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(client.query(CRITERIA, { peerId: 'nobody' }))
    )
    expect(error.message).to.contain('not among the service nodes')
  })

  it('goes on over the generation that the next node speaks', async () => {
    const archive = filled()
    const one = failing(archivePeer(archive, 'one', [STORE_QUERY_3_PROTOCOL]), { 1: expired })
    const two = archivePeer(archive, 'two', [STORE_BETA4_PROTOCOL])
    const pages = await collect(
      new StoreClient(new FakePeers([one, two])).queryPages(CRITERIA, { pageLimit: 2 })
    )
    expect(textsOf(pages)).to.deep.equal(['0', '1', '2', '3', '4', '5'])
    expect(pages.map(({ protocol }) => protocol)).to.deep.equal(
      [
        STORE_QUERY_3_PROTOCOL,
        STORE_BETA4_PROTOCOL,
        STORE_BETA4_PROTOCOL,
        STORE_BETA4_PROTOCOL
      ].slice(0, pages.length)
    )
  })

  it('tells of each node that failed', async () => {
    const events: { type: string }[] = []
    const peers = new FakePeers([
      failing(archivePeer(filled(), 'one'), { 0: status(503) }),
      archivePeer(filled(), 'two')
    ])
    await collect(
      new StoreClient(peers).query(CRITERIA, { onProgress: (event) => events.push(event) })
    )
    expect(events[0]).to.deep.nested.include({
      type: 'store:peer-failed',
      'detail.peerId': 'one',
      'detail.error.code': 'ERR_REMOTE_STATUS'
    })
  })
})
