import { expect } from 'chai'
import { toHex } from 'waku-light/message'
import { fillGaps, readAhead, STORE_BETA4, StoreClient, type StoreProgress } from 'waku-light/store'
import {
  decodeStoreQueryRequest,
  encodeWakuMessageKeyValue,
  STORE_BETA4_PROTOCOL,
  type StoreQueryRequest,
  type StoreQueryResponse
} from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failureOf, hashesOf, messageAt } from '../helpers/collect.ts'
import { type FakePeer, FakePeers } from '../helpers/fake-peers.ts'
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
const COUNT = 35
const messages = Array.from({ length: COUNT }, (_, index) =>
  messageAt(BigInt(1000 + index), `${index} ${'x'.repeat(300)}`)
)
const all = messages.map((message) => toHex(hashOf(message)))

function filled(init = { maxPage: 10 }): Archive {
  const archive = new Archive(init)
  for (const message of messages) {
    archive.add(message, PUBSUB_TOPIC)
  }
  return archive
}

const queriesOf = ({ requests }: FakePeers): StoreQueryRequest[] =>
  requests.map(({ bytes }) => decodeStoreQueryRequest(bytes, 1000))

/** An entry that names a hash, and nothing else. */
const named = (value: number): Uint8Array<ArrayBuffer> =>
  encodeWakuMessageKeyValue({ messageHash: cursorOf(value) })

/** Answers some requests with what an archive has, then with something else. */
function breakingAfter(count: number, answer: FakePeer['answer'], peerId = 'peer'): FakePeer {
  const inner = archivePeer(filled(), peerId)
  let asked = 0
  return {
    ...inner,
    answer: (request) => (asked++ < count ? inner.answer(request) : answer(request))
  }
}

const garbage = (): Uint8Array => Uint8Array.of(0xff)

const causeOf = async (client: StoreClient, seen: unknown[] = []): Promise<unknown> =>
  (
    await failureOf('ERR_INCOMPLETE_HISTORY', async () => {
      for await (const one of client.queryHashes(CRITERIA)) {
        seen.push(one)
      }
    })
  ).cause

describe('StoreClient.queryHashes', () => {
  for (const direction of ['forward', 'backward'] as const) {
    it(`gives the hash of each match, and is sent no content, ${direction}`, async () => {
      const peers = new FakePeers([archivePeer(filled())])
      let bytes = 0
      const onProgress = (event: StoreProgress): void => {
        bytes += event.type === 'store:page' ? event.detail.bytes : 0
      }
      const client = new StoreClient(peers)
      const found = await collect(client.queryHashes(CRITERIA, { direction, onProgress }))
      expect(hashesOf(found)).to.deep.equal(direction === 'forward' ? all : [...all].reverse())
      expect(found.map((one) => Object.keys(one))).to.deep.equal(all.map(() => ['messageHash']))
      expect(queriesOf(peers).map(({ includeData }) => includeData)).to.deep.equal(
        Array(4).fill(false)
      )
      expect(bytes).to.be.below(COUNT * 50)
    })
  }

  it('asks with the criteria, page size and node that it is given', async () => {
    const peers = new FakePeers([archivePeer(filled(), 'one'), archivePeer(filled(), 'two')])
    await collect(
      new StoreClient(peers).queryHashes(
        { ...CRITERIA, timeStart: 1005n, timeEnd: 1009n },
        { pageLimit: 2, peerId: 'two' }
      )
    )
    expect(peers.requests.map(({ peerId }) => peerId)).to.deep.equal(['two', 'two', 'two'])
    for (const query of queriesOf(peers)) {
      expect(query).to.deep.include({
        contentTopics: [CONTENT_TOPIC],
        pubsubTopic: PUBSUB_TOPIC,
        timeStart: 1005n,
        timeEnd: 1009n,
        paginationLimit: 2n,
        messageHashes: []
      })
    }
  })

  it('asks for a page when it is pulled, and for nothing after the loop is left', async () => {
    const peers = new FakePeers([archivePeer(filled())])
    for await (const _ of new StoreClient(peers).queryHashes(CRITERIA)) {
      break
    }
    expect(peers.requests).to.have.length(1)
  })

  it('asks another node where the first one gives nothing', async () => {
    const peers = new FakePeers([breakingAfter(0, garbage, 'one'), archivePeer(filled(), 'two')])
    const found = await collect(new StoreClient(peers).queryHashes(CRITERIA))
    expect(hashesOf(found)).to.deep.equal(all)
  })

  it('throws a position from which the node that it began with goes on, and no other', async () => {
    let isBroken = true
    const inner = archivePeer(filled(), 'one')
    let asked = 0
    const one: FakePeer = {
      ...inner,
      answer: (request) => (isBroken && asked++ === 2 ? garbage() : inner.answer(request))
    }
    const peers = new FakePeers([one, archivePeer(filled(), 'two')])
    const client = new StoreClient(peers)
    const found: string[] = []
    const { position, cause } = await failureOf('ERR_INCOMPLETE_HISTORY', async () => {
      for await (const { messageHash } of client.queryHashes(CRITERIA)) {
        found.push(toHex(messageHash))
      }
    })
    expect(cause).to.have.property('code', 'ERR_INVALID_MESSAGE')
    expect(found).to.deep.equal(all.slice(0, 20))
    expect(peers.requests.map(({ peerId }) => peerId)).to.deep.equal(['one', 'one', 'one'])
    isBroken = false
    const rest = await collect(
      client.queryHashes(CRITERIA, { position: JSON.parse(`"${position}"`) })
    )
    expect(hashesOf(rest)).to.deep.equal(all.slice(20))
  })

  it('takes no position of a walk through messages, nor the other way round', async () => {
    const client = new StoreClient(new FakePeers([breakingAfter(1, garbage)]))
    const pages = client.queryPages(CRITERIA)
    const ofMessages = (await pages.next()).value as { position: string }
    const { position } = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(new StoreClient(new FakePeers([breakingAfter(1, garbage)])).queryHashes(CRITERIA))
    )
    for (const call of [
      () => client.queryHashes(CRITERIA, { position: ofMessages.position }),
      () => client.queryPages(CRITERIA, { position })
    ]) {
      expect(await failureOf('ERR_INVALID_ARGUMENT', call)).to.include({ parameter: 'position' })
    }
  })

  it('reads ahead, and cannot compare nodes', async () => {
    const client = new StoreClient(new FakePeers([archivePeer(filled())]))
    const found = await collect(client.queryHashes(CRITERIA, { walker: readAhead(2) }))
    expect(hashesOf(found)).to.deep.equal(all)
    await failureOf('ERR_UNSUPPORTED', () =>
      collect(client.queryHashes(CRITERIA, { walker: fillGaps(1) }))
    )
  })

  describe('at nodes that cannot tell hashes', () => {
    it('throws before anything is asked, where no generation in use does it', async () => {
      const peers = new FakePeers([archivePeer(filled())])
      const client = new StoreClient(peers, { generations: [STORE_BETA4] })
      await failureOf('ERR_UNSUPPORTED', () => client.queryHashes(CRITERIA))
      expect(peers.requests).to.have.length(0)
    })

    it('says so, and asks another one if there is one', async () => {
      const old = archivePeer(filled(), 'old', [STORE_BETA4_PROTOCOL])
      expect(await causeOf(new StoreClient(new FakePeers([old])))).to.have.property(
        'code',
        'ERR_UNSUPPORTED'
      )
      const peers = new FakePeers([old, archivePeer(filled(), 'new')])
      expect(await collect(new StoreClient(peers).queryHashes(CRITERIA))).to.have.length(COUNT)
    })
  })

  describe('of what a node sends', () => {
    const script = (
      answer: (index: number, query: StoreQueryRequest) => Partial<StoreQueryResponse>
    ): StoreClient =>
      new StoreClient(new FakePeers([query3Peer((query, index) => answer(index, query))]))

    it('fails on a hash of another length, or none', async () => {
      for (const entry of [
        Uint8Array.of(0x0a, 31, ...Array(31).fill(1)),
        Uint8Array.of(0x0a, 33, ...Array(33).fill(1)),
        new Uint8Array()
      ]) {
        const seen: unknown[] = []
        const client = script(() => ({ messages: [named(1), entry] }))
        expect(await causeOf(client, seen)).to.have.property('code', 'ERR_INVALID_MESSAGE')
        expect(seen).to.have.length(0)
      }
    })

    it('passes over a hash that comes twice, and tells', async () => {
      const rejected: unknown[] = []
      const client = script((index) =>
        index === 0
          ? { messages: [named(1), named(2), named(2)], paginationCursor: cursorOf(2) }
          : { messages: [named(1), named(3)] }
      )
      const onProgress = (event: StoreProgress): void => {
        if (event.type === 'store:rejected') {
          rejected.push([event.detail.reason, event.detail.messageHash])
        }
      }
      const found = await collect(client.queryHashes(CRITERIA, { onProgress }))
      expect(hashesOf(found)).to.deep.equal(
        hashesOf([1, 2, 3].map((value) => ({ messageHash: cursorOf(value) })))
      )
      expect(rejected).to.deep.equal([
        ['duplicate', cursorOf(2)],
        ['duplicate', cursorOf(1)]
      ])
    })

    it('fails where pages go on and bring nothing new, or nothing', async () => {
      for (const messages of [[named(1), named(2)], []]) {
        let requests = 0
        const client = script((index) => {
          requests++
          return { messages, paginationCursor: cursorOf(index + 1) }
        })
        expect(await causeOf(client)).to.deep.include({
          code: 'ERR_PROTOCOL_VIOLATION',
          detail: 'no-progress'
        })
        expect(requests).to.be.at.most(6)
      }
    })

    it('fails where the cursor stands still or runs in a circle', async () => {
      for (const period of [1, 3]) {
        const client = script((index) => ({
          messages: [named(index % 250)],
          paginationCursor: cursorOf(1 + (index % period))
        }))
        expect(await causeOf(client)).to.deep.include({
          code: 'ERR_PROTOCOL_VIOLATION',
          detail: 'cursor'
        })
      }
    })

    it('fails where a page holds more than was asked for', async () => {
      const client = script((_index, { paginationLimit = 0n }) => ({
        messages: Array.from({ length: Number(paginationLimit) + 1 }, (_, index) => named(index))
      }))
      expect(await causeOf(client)).to.have.property('code', 'ERR_LIMIT_EXCEEDED')
    })

    it('takes no content, though it was sent', async () => {
      const [message = messageAt(1n, '')] = messages
      const client = script(() => ({ messages: [entryOf(message)] }))
      expect(await collect(client.queryHashes(CRITERIA))).to.deep.equal([
        { messageHash: hashOf(message) }
      ])
    })
  })
})
