import { expect } from 'chai'
import { ConnectionError } from 'waku-light/errors'
import { STORE_BETA4, StoreClient } from 'waku-light/store'
import {
  decodeStoreQueryRequest,
  STORE_BETA4_PROTOCOL,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failure, failureOf, hashesOf, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import {
  archivePeer,
  CONTENT_TOPIC,
  cursorOf,
  entryOf,
  hashOf,
  PUBSUB_TOPIC,
  query3Peer
} from '../helpers/store-peers.ts'

const messages = Array.from({ length: 250 }, (_, index) => messageAt(BigInt(index + 1), `${index}`))
const hashes = messages.map(hashOf)
const absent = cursorOf(9)
const toHashed = (message: (typeof messages)[0]) => ({ messageHash: hashOf(message) })
const WITHIN = { contentTopics: [CONTENT_TOPIC] }

function filled(init = {}): Archive {
  const archive = new Archive(init)
  for (const message of messages) {
    archive.add(message, PUBSUB_TOPIC)
  }
  return archive
}

describe('StoreClient.lookup', () => {
  it('finds any number of hashes, 99 in a request, without any filter beside them', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    const found = await collect(new StoreClient(peers).lookup([...hashes, absent, ...hashes]))
    expect(hashesOf(found).sort()).to.deep.equal(
      hashesOf(hashes.map((messageHash) => ({ messageHash }))).sort()
    )
    const queries = peers.requests.map(({ bytes }) => decodeStoreQueryRequest(bytes, 1000))
    expect(queries.map(({ messageHashes }) => messageHashes.length)).to.deep.equal([99, 99, 53])
    for (const query of queries) {
      expect(query).to.deep.include({ contentTopics: [], includeData: true })
      expect(query.pubsubTopic ?? query.timeStart ?? query.timeEnd).to.equal(undefined)
      expect(Number(query.paginationLimit)).to.be.at.least(query.messageHashes.length)
    }
  })

  it('follows the cursor of a node whose pages are smaller', async () => {
    const peers = new FakePeers([archivePeer(filled({ maxPage: 20 }))])
    const client = new StoreClient(peers)
    expect(await collect(client.lookup(hashes.slice(0, 50)))).to.have.length(50)
    expect(await client.has(hashes.slice(0, 50))).to.deep.equal(Array(50).fill(true))
  })

  it('ends with the reason of its signal between two messages', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const client = new StoreClient(new FakePeers([archivePeer(filled())]))
    const found = client.lookup(hashes.slice(0, 3), { signal: controller.signal })
    expect((await found.next()).done).to.equal(false)
    controller.abort(reason)
    expect(await failure(() => found.next())).to.equal(reason)
  })

  it('fails where pages go on without bringing anything', async () => {
    const peers = new FakePeers([
      query3Peer((_query, index) => ({ paginationCursor: cursorOf(index + 1) }))
    ])
    const error = await failureOf('ERR_PROTOCOL_VIOLATION', () =>
      new StoreClient(peers).has([absent])
    )
    expect(error.detail).to.equal('no-progress')
    expect(peers.requests).to.have.length(1)
  })

  it('ignores rows that were not asked for, and reports those that are not what they say', async () => {
    const [one, two, three] = messages as [never, never, never]
    const peers = new FakePeers([
      query3Peer(() => ({
        messages: [entryOf(three), entryOf(one), entryOf(three, { messageHash: hashOf(two) })]
      }))
    ])
    const events: { type: string }[] = []
    const found = await collect(
      new StoreClient(peers).lookup([hashOf(one), hashOf(two), absent], {
        onProgress: (event) => events.push(event)
      })
    )
    expect(found).to.have.length(1)
    expect(found[0]?.messageHash).to.deep.equal(hashOf(one))
    expect(events.map(({ type }) => type)).to.deep.equal(['store:page', 'store:rejected'])
  })

  it('turns to another node where one fails', async () => {
    const broken = {
      ...archivePeer(new Archive(), 'broken'),
      answer: () => {
        throw new ConnectionError('broken')
      }
    }
    const peers = new FakePeers([broken, archivePeer(filled(), 'good')])
    const client = new StoreClient(peers)
    expect(await collect(client.lookup(hashes.slice(0, 2)))).to.have.length(2)
    await failureOf('ERR_CONNECTION', () =>
      collect(client.lookup(hashes.slice(0, 2), { peerId: 'broken' }))
    )
  })

  it('throws ERR_UNSUPPORTED where no node looks up hashes', async () => {
    const peers = new FakePeers([archivePeer(filled(), 'old', [STORE_BETA4_PROTOCOL])])
    await failureOf('ERR_UNSUPPORTED', () => collect(new StoreClient(peers).lookup(hashes)))
    await failureOf('ERR_UNSUPPORTED', () => new StoreClient(peers).has(hashes))
    const old = new StoreClient(peers, { generations: [STORE_BETA4] })
    await failureOf('ERR_UNSUPPORTED', () => old.has(hashes))
    expect(peers.requests).to.have.length(0)
  })

  it('searches the given stretch where no node looks up hashes, as far as need be', async () => {
    const peers = new FakePeers([archivePeer(filled(), 'old', [STORE_BETA4_PROTOCOL])])
    const client = new StoreClient(peers)
    const asked = [hashes[3], absent, hashes[1], hashes[3]] as typeof hashes
    const found = await collect(client.lookup(asked, { within: WITHIN }))
    expect(found.map(({ timestamp }) => timestamp)).to.deep.equal([2n, 4n])
    expect(await client.has(asked, { within: WITHIN })).to.deep.equal([true, false, true, true])
    const before = peers.requests.length
    expect(await client.has([hashes[5]] as typeof hashes, { within: WITHIN })).to.deep.equal([true])
    expect(peers.requests.length - before).to.equal(1)
  })

  it('searches once, however many hashes are asked for', async () => {
    const peers = new FakePeers([archivePeer(filled(), 'old', [STORE_BETA4_PROTOCOL])])
    const asked = hashes.slice(20, 240)
    const found = await collect(new StoreClient(peers).lookup(asked, { within: WITHIN }))
    expect(hashesOf(found)).to.deep.equal(hashesOf(messages.slice(20, 240).map(toHashed)))
    expect(peers.requests).to.have.length(3)
  })

  it('searches too where the nodes that look up hashes are out of reach', async () => {
    const down = {
      ...archivePeer(new Archive(), 'down', [STORE_QUERY_3_PROTOCOL]),
      dial: () => {
        throw new ConnectionError('down')
      }
    }
    const old = archivePeer(filled(), 'old', [STORE_BETA4_PROTOCOL])
    const client = new StoreClient(new FakePeers([down, old]))
    expect(await client.has(hashes.slice(0, 1), { within: WITHIN })).to.deep.equal([true])
    await failureOf('ERR_NO_USABLE_PEER', () => client.has(hashes.slice(0, 1)))
  })

  it('refuses what is no hash, before any I/O', async () => {
    const peers = new FakePeers([])
    const client = new StoreClient(peers)
    for (const wrong of [[new Uint8Array(31)], ['00'.repeat(32)], 'text', undefined]) {
      for (const call of [() => client.lookup(wrong as never), () => client.has(wrong as never)]) {
        expect((await failureOf('ERR_INVALID_ARGUMENT', call)).parameter).to.equal('hashes')
      }
    }
    expect(peers.networkCalls).to.equal(0)
  })

  it('asks for nothing where nothing is asked', async () => {
    const peers = new FakePeers([])
    expect(await new StoreClient(peers).has([])).to.deep.equal([])
    expect(await collect(new StoreClient(peers).lookup([]))).to.deep.equal([])
  })
})

describe('StoreClient.has', () => {
  it('answers in the order of the question, without transferring content', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    const asked = [absent, ...hashes, hashes[0], absent] as typeof hashes
    expect(await new StoreClient(peers).has(asked)).to.deep.equal([
      false,
      ...Array<boolean>(251).fill(true),
      false
    ])
    const queries = peers.requests.map(({ bytes }) => decodeStoreQueryRequest(bytes, 1000))
    expect(queries.map(({ messageHashes }) => messageHashes.length)).to.deep.equal([99, 99, 53])
    expect(queries.every(({ includeData }) => !includeData)).to.equal(true)
  })

  it('does not take a row that was not asked for as an answer', async () => {
    const [one, two] = messages as [never, never]
    const peers = new FakePeers([query3Peer(() => ({ messages: [entryOf(one)] }))])
    expect(await new StoreClient(peers).has([hashOf(two)])).to.deep.equal([false])
  })
})
