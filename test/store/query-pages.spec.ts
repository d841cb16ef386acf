import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { STORE_BETA4, StoreClient } from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import {
  decodeStoreQueryRequest,
  STORE_BETA4_PROTOCOL,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failureOf, hashesOf, messageAt } from '../helpers/collect.ts'
import { FakePeers, never } from '../helpers/fake-peers.ts'
import {
  archivePeer,
  CONTENT_TOPIC,
  cursorOf,
  entryOf,
  PUBSUB_TOPIC,
  query3Peer
} from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }

function filled(count: number, init = {}): Archive {
  const archive = new Archive(init)
  for (let index = 0; index < count; index++) {
    archive.add(messageAt(BigInt(1000 + index), `m${index}`), PUBSUB_TOPIC)
  }
  return archive
}

const textOf = ({ payload }: { payload: Uint8Array }): string => new TextDecoder().decode(payload)

describe('StoreClient.queryPages', () => {
  it('says more on each page but the last, which is complete', async () => {
    const peers = new FakePeers([archivePeer(filled(5))])
    const pages = await collect(new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2 }))
    expect(pages.map(({ completeness }) => completeness)).to.deep.equal([
      'more',
      'more',
      'complete'
    ])
    expect(pages.map(({ messages }) => messages.map(textOf))).to.deep.equal([
      ['m0', 'm1'],
      ['m2', 'm3'],
      ['m4']
    ])
    expect(peers.requests).to.have.length(3)
    expect(pages[0]).to.include({ peerId: 'peer', protocol: STORE_QUERY_3_PROTOCOL })
  })

  it('delivers pages oldest first in both directions', async () => {
    const peers = new FakePeers([archivePeer(filled(5))])
    const pages = await collect(
      new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2, direction: 'backward' })
    )
    expect(pages.map(({ messages }) => messages.map(textOf))).to.deep.equal([
      ['m3', 'm4'],
      ['m1', 'm2'],
      ['m0']
    ])
  })

  it('gives one empty page, complete, where nothing matches', async () => {
    const pages = await collect(
      new StoreClient(new FakePeers([archivePeer(new Archive())])).queryPages(CRITERIA)
    )
    expect(pages).to.have.length(1)
    expect(pages[0]).to.deep.include({ messages: [], rejected: [], completeness: 'complete' })
  })

  it('goes on after a page that is shorter than asked', async () => {
    const pages = await collect(
      new StoreClient(new FakePeers([archivePeer(filled(7, { maxPage: 2 }))])).queryPages(CRITERIA)
    )
    expect(pages.flatMap(({ messages }) => messages)).to.have.length(7)
  })

  it('asks for nothing before the first pull, for one page a pull, and nothing ahead', async () => {
    const peers = new FakePeers([archivePeer(filled(6))])
    const pages = new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2 })
    expect(peers.requests).to.have.length(0)
    expect(peers.networkCalls).to.equal(0)
    for (const pulled of [1, 2, 3]) {
      await pages.next()
      await Promise.resolve()
      expect(peers.requests).to.have.length(pulled)
    }
    expect((await pages.next()).done).to.equal(true)
    expect(peers.requests).to.have.length(3)
  })

  it('asks for nothing after return()', async () => {
    const peers = new FakePeers([archivePeer(filled(6))])
    const pages = new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 2 })
    await pages.next()
    await pages.return(undefined)
    expect((await pages.next()).done).to.equal(true)
    expect(peers.requests).to.have.length(1)
  })

  it('asks with identical criteria and the cursor of the node', async () => {
    const peers = new FakePeers([archivePeer(filled(5))])
    await collect(
      new StoreClient(peers).queryPages(
        { ...CRITERIA, timeStart: 1000n, timeEnd: new Date(1) },
        { pageLimit: 2 }
      )
    )
    const queries = peers.requests.map(({ bytes }) => decodeStoreQueryRequest(bytes, 100))
    const ids = queries.map(({ requestId }) => requestId)
    expect(new Set(ids).size).to.equal(3)
    for (const { requestId: _id, paginationCursor: _cursor, ...query } of queries) {
      expect(query).to.deep.include({
        includeData: true,
        pubsubTopic: PUBSUB_TOPIC,
        contentTopics: [CONTENT_TOPIC],
        timeStart: 1000n,
        timeEnd: 1_000_000n,
        messageHashes: [],
        paginationForward: true,
        paginationLimit: 2n
      })
    }
    expect(queries.map(({ paginationCursor }) => paginationCursor !== undefined)).to.deep.equal([
      false,
      true,
      true
    ])
  })

  it('is unverifiable at the end where an empty page of beta4 may stand for an error', async () => {
    const client = new StoreClient(
      new FakePeers([archivePeer(new Archive(), 'peer', [STORE_BETA4_PROTOCOL])])
    )
    const pages = await collect(client.queryPages(CRITERIA))
    expect(pages.map(({ completeness }) => completeness)).to.deep.equal(['unverifiable'])
    expect(pages[0]?.protocol).to.equal(STORE_BETA4_PROTOCOL)
  })

  it('is complete at the end of beta4 where the last page has no cursor', async () => {
    const client = new StoreClient(new FakePeers([archivePeer(filled(3))]), {
      generations: [STORE_BETA4]
    })
    const pages = await collect(client.queryPages(CRITERIA, { pageLimit: 2 }))
    expect(pages.map(({ completeness }) => completeness)).to.deep.equal(['more', 'complete'])
  })

  it('is unverifiable at the end of beta2', async () => {
    const client = new StoreClient(new FakePeers([archivePeer(filled(3))]), {
      generations: [STORE_BETA2]
    })
    const pages = await collect(client.queryPages(CRITERIA, { pageLimit: 2 }))
    expect(pages.map(({ completeness }) => completeness)).to.deep.equal([
      'more',
      'more',
      'unverifiable'
    ])
    expect(pages.map(({ messages }) => messages.length)).to.deep.equal([2, 1, 0])
  })

  it('tells of each page and each rejection, and survives a listener that throws', async () => {
    const good = messageAt(1n, 'good')
    const peers = new FakePeers([
      query3Peer(() => ({ messages: [entryOf(good, { messageHash: cursorOf(1) }), entryOf(good)] }))
    ])
    const events: unknown[] = []
    const pages = await collect(
      new StoreClient(peers).queryPages(CRITERIA, {
        onProgress: (event) => {
          events.push(event)
          throw new Error('in the listener')
        }
      })
    )
    expect(pages[0]?.messages).to.have.length(1)
    expect(events).to.have.length(2)
    expect(events[0]).to.deep.nested.include({
      type: 'store:page',
      'detail.peerId': 'peer',
      'detail.protocol': STORE_QUERY_3_PROTOCOL,
      'detail.count': 2
    })
    expect(events[1]).to.deep.nested.include({
      type: 'store:rejected',
      'detail.reason': 'hash-mismatch',
      'detail.peerId': 'peer'
    })
  })

  it('gives up the requests under way where one of several fails, and turns to the next node', async () => {
    const archive = filled(3)
    const other = messageAt(1001n, 'other', '/toychat/2/a/proto')
    archive.add(other, '/waku/2/rs/1/3')
    const slow = {
      ...archivePeer(archive, 'slow'),
      answer: async ({ bytes, signal }: { bytes: Uint8Array; signal: AbortSignal }) => {
        if (decodeStoreQueryRequest(bytes, 100).pubsubTopic === PUBSUB_TOPIC) {
          throw new ConnectionError('broken')
        }
        return await never(signal)
      }
    }
    const peers = new FakePeers([slow, archivePeer(archive, 'good')])
    const messages = await collect(
      new StoreClient(peers).query({ contentTopics: [CONTENT_TOPIC, other.contentTopic] })
    )
    expect(messages.map(textOf).sort()).to.deep.equal(['m0', 'm1', 'm2', 'other'])
    expect(peers.pending).to.equal(0)
  })

  it('fails with each reason where no node answers', async () => {
    const broken = (peerId: string) => ({
      ...archivePeer(new Archive(), peerId),
      dial: () => {
        throw new ConnectionError(`${peerId} is down`)
      }
    })
    const client = new StoreClient(new FakePeers([broken('a'), broken('b')]))
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(client.queryPages(CRITERIA))
    )
    const cause = await failureOf('ERR_NO_USABLE_PEER', () => {
      throw error.cause
    })
    expect(cause.message).to.contain('a is down').and.contain('b is down')
  })

  it('fails without any node', async () => {
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(new StoreClient(new FakePeers([])).queryPages(CRITERIA))
    )
    expect(error.cause).to.deep.include({ code: 'ERR_NO_USABLE_PEER', failures: [] })
  })
})

describe('StoreClient.query', () => {
  it('is strictly newest first backward', async () => {
    const archive = new Archive()
    for (const time of [5n, 5n, 6n, 5n, 7n]) {
      archive.add(messageAt(time, `${archive.rows.length}`), PUBSUB_TOPIC)
    }
    const client = new StoreClient(new FakePeers([archivePeer(archive)]))
    const forward = await collect(client.query(CRITERIA, { pageLimit: 2 }))
    const backward = await collect(client.query(CRITERIA, { pageLimit: 2, direction: 'backward' }))
    expect(hashesOf(backward)).to.deep.equal(hashesOf(forward).reverse())
    expect(forward.map(({ timestamp }) => timestamp)).to.deep.equal([5n, 5n, 5n, 6n, 7n])
  })

  it('asks for nothing more once the loop is left', async () => {
    const peers = new FakePeers([archivePeer(filled(10))])
    for await (const message of new StoreClient(peers).query(CRITERIA, { pageLimit: 2 })) {
      if (textOf(message) === 'm2') {
        break
      }
    }
    expect(peers.requests).to.have.length(2)
  })
})

describe('StoreClient.last', () => {
  it('gives the newest messages, oldest first', async () => {
    const peers = new FakePeers([archivePeer(filled(10))])
    const messages = await new StoreClient(peers).last(CRITERIA, 3)
    expect(messages.map(textOf)).to.deep.equal(['m7', 'm8', 'm9'])
    expect(peers.requests).to.have.length(1)
  })

  it('pages as far as it has to, and gives what there is', async () => {
    const peers = new FakePeers([archivePeer(filled(7))])
    const client = new StoreClient(peers)
    expect((await client.last(CRITERIA, 5, { pageLimit: 2 })).map(textOf)).to.deep.equal([
      'm2',
      'm3',
      'm4',
      'm5',
      'm6'
    ])
    expect(peers.requests).to.have.length(3)
    expect(await client.last(CRITERIA, 500)).to.have.length(7)
  })

  for (const count of [0, -1, 1.5, Number.NaN]) {
    it(`rejects ${count} as a count, before any I/O`, async () => {
      const peers = new FakePeers([archivePeer(filled(1))])
      const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
        new StoreClient(peers).last(CRITERIA, count)
      )
      expect(error.parameter).to.equal('count')
      expect(peers.networkCalls).to.equal(0)
    })
  }
})
