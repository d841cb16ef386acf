import { expect } from 'chai'
import { type MessagePage, STORE_BETA4, StoreClient, type StoreCriteria } from 'waku-light/store'
import { encodeWakuMessage, STORE_BETA4_PROTOCOL } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failureOf, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import {
  archivePeer,
  beta4Peer,
  CONTENT_TOPIC,
  cursorOf,
  entryOf,
  hashOf,
  PUBSUB_TOPIC,
  query3Peer
} from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const sorted = (...messages: ReturnType<typeof messageAt>[]) =>
  [...messages].sort((a, b) => Number((a.timestamp ?? 0n) - (b.timestamp ?? 0n)))

async function onePage(
  entries: readonly Uint8Array<ArrayBuffer>[],
  criteria: StoreCriteria = CRITERIA
): Promise<MessagePage> {
  const peers = new FakePeers([query3Peer(() => ({ messages: entries }))])
  const [page, ...more] = await collect(new StoreClient(peers).queryPages(criteria))
  expect(more).to.have.length(0)
  return page as MessagePage
}

const textsOf = ({ messages }: Pick<MessagePage, 'messages'>): string[] =>
  messages.map(({ payload }) => new TextDecoder().decode(payload))

const reasonsOf = ({ rejected }: MessagePage): string[] => rejected.map(({ reason }) => reason)

/** The cause of the failure of a walk. */
async function causeOf(peers: FakePeers, options = {}): Promise<unknown> {
  const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
    collect(new StoreClient(peers).queryPages(CRITERIA, options))
  )
  return error.cause
}

const one = messageAt(1n, 'one')
const two = messageAt(2n, 'two')
const three = messageAt(3n, 'three')

describe('StoreClient, of what a node sends', () => {
  it('reports entries that do not decode one by one, and goes on', async () => {
    const page = await onePage([
      entryOf(one),
      entryOf(two, { message: Uint8Array.of(0xff) }),
      Uint8Array.of(0x0a, 0x05),
      entryOf(two, { message: undefined }),
      entryOf(two),
      entryOf(three, { message: encodeWakuMessage(three).slice(0, -1) })
    ])
    expect(textsOf(page)).to.deep.equal(['one', 'two'])
    expect(reasonsOf(page)).to.deep.equal(Array(4).fill('undecodable'))
    expect(page.rejected[0]?.messageHash).to.deep.equal(hashOf(two))
    expect(page.rejected[1]?.messageHash).to.equal(undefined)
  })

  it('goes on after any number of pages that hold nothing but undecodable entries', async () => {
    const peers = new FakePeers([
      query3Peer((_query, index) =>
        index < 20
          ? { messages: [Uint8Array.of(0x0a, 0x05)], paginationCursor: cursorOf(index) }
          : { messages: [entryOf(one)] }
      )
    ])
    const pages = await collect(new StoreClient(peers).queryPages(CRITERIA, { pageLimit: 1 }))
    expect(pages.flatMap(reasonsOf)).to.deep.equal(Array(20).fill('undecodable'))
    expect(pages.flatMap(textsOf)).to.deep.equal(['one'])
  })

  it('rejects content that does not have the stated hash', async () => {
    const page = await onePage([entryOf(one, { messageHash: cursorOf(7) }), entryOf(two)])
    expect(textsOf(page)).to.deep.equal(['two'])
    expect(reasonsOf(page)).to.deep.equal(['hash-mismatch'])
    expect(page.rejected[0]?.messageHash).to.deep.equal(cursorOf(7))
  })

  it('recomputes the hash that it delivers', async () => {
    const { messages } = await onePage([entryOf(one)])
    expect(messages[0]).to.deep.equal({
      ...one,
      messageHash: hashOf(one),
      pubsubTopic: PUBSUB_TOPIC
    })
  })

  it('rejects messages of another content topic, pubsub topic or time', async () => {
    const elsewhere = messageAt(2n, 'elsewhere', '/app/22/b/proto')
    const archive = new Archive()
    const { hash } = archive.add(two, '/waku/2/rs/1/5')
    const messageHash = Uint8Array.from(hash.match(/../g) ?? [], (text) => parseInt(text, 16))
    const page = await onePage(
      [
        entryOf(one),
        entryOf(elsewhere),
        entryOf(two, { messageHash, pubsubTopic: '/waku/2/rs/1/5' }),
        entryOf(three),
        entryOf(messageAt(9n, 'late'))
      ],
      { ...CRITERIA, timeStart: 2n, timeEnd: 4n }
    )
    expect(textsOf(page)).to.deep.equal(['three'])
    expect(reasonsOf(page)).to.deep.equal(['foreign', 'foreign', 'foreign', 'foreign'])
  })

  it('rejects a message without a time where a time is asked for, under store-query 3', async () => {
    const page = await onePage([entryOf(messageAt(undefined, 'untimed')), entryOf(two)], {
      ...CRITERIA,
      timeStart: 1n
    })
    expect(textsOf(page)).to.deep.equal(['two'])
    expect(reasonsOf(page)).to.deep.equal(['foreign'])
  })

  it('delivers messages without a time in their order, under store-query 3', async () => {
    const archive = new Archive()
    for (let index = 0; index < 5; index++) {
      archive.add(messageAt(undefined, `${index}`), PUBSUB_TOPIC)
    }
    const client = new StoreClient(new FakePeers([archivePeer(archive)]))
    let position: string | undefined
    const messages = []
    for (let index = 0; index < 5; index++) {
      const pages = client.queryPages(CRITERIA, { position, pageLimit: 1 })
      const { value } = (await pages.next()) as { value: MessagePage }
      await pages.return(undefined)
      position = value.position
      messages.push(...value.messages)
    }
    expect(messages).to.have.length(5)
    expect(new Set(textsOf({ messages })).size).to.equal(5)
  })

  for (const direction of ['forward', 'backward'] as const) {
    it(`drops rows at timeEnd silently, however many, ${direction}`, async () => {
      const archive = new Archive()
      for (let index = 0; index < 12; index++) {
        archive.add(messageAt(5n, `end ${index}`), PUBSUB_TOPIC)
      }
      archive.add(messageAt(4n, 'in'), PUBSUB_TOPIC)
      const pages = await collect(
        new StoreClient(new FakePeers([archivePeer(archive)])).queryPages(
          { ...CRITERIA, timeEnd: 5n },
          { pageLimit: 1, direction }
        )
      )
      expect(pages.flatMap(textsOf)).to.deep.equal(['in'])
      expect(pages.flatMap(reasonsOf)).to.deep.equal([])
      expect(pages.at(-1)?.completeness).to.equal('complete')
    })
  }

  it('reports a row that comes twice, and delivers it once', async () => {
    const page = await onePage([entryOf(one), entryOf(one), entryOf(two)])
    expect(textsOf(page)).to.deep.equal(['one', 'two'])
    expect(reasonsOf(page)).to.deep.equal(['duplicate'])
  })

  it('reports a cursor row that comes again on the next page', async () => {
    const peers = new FakePeers([
      query3Peer((_query, index) =>
        index === 0
          ? { messages: [entryOf(one), entryOf(two)], paginationCursor: hashOf(two) }
          : { messages: [entryOf(two), entryOf(three)] }
      )
    ])
    const pages = await collect(new StoreClient(peers).queryPages(CRITERIA))
    expect(pages.flatMap(textsOf)).to.deep.equal(['one', 'two', 'three'])
    expect(pages.flatMap(reasonsOf)).to.deep.equal(['duplicate'])
  })

  it('fails with a protocol violation where rows are out of order', async () => {
    const cause = await causeOf(
      new FakePeers([query3Peer(() => ({ messages: [entryOf(two), entryOf(one)] }))])
    )
    expect(cause).to.deep.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'order' })
  })

  it('fails where rows of one time are out of order by hash', async () => {
    const rows = ['a', 'b', 'c'].map((text) => entryOf(messageAt(1n, text)))
    const peers = (messages: Uint8Array<ArrayBuffer>[]) =>
      new FakePeers([query3Peer(() => ({ messages }))])
    const inOrder = [...rows].sort((a, b) => (String(a) < String(b) ? -1 : 1))
    const outcomes = await Promise.all(
      [rows, [...rows].reverse()].map(async (given) => {
        try {
          return (await collect(new StoreClient(peers(given)).query(CRITERIA))).length
        } catch {
          return 'refused'
        }
      })
    )
    expect(inOrder).to.have.length(3)
    expect(outcomes).to.include('refused')
  })

  it('fails where a page comes newest first', async () => {
    const cause = await causeOf(
      new FakePeers([query3Peer(() => ({ messages: [entryOf(two), entryOf(one)] }))]),
      { direction: 'backward' }
    )
    expect(cause).to.deep.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'order' })
  })

  it('fails where a later page goes back', async () => {
    const cause = await causeOf(
      new FakePeers([
        query3Peer((_query, index) => ({
          messages: [entryOf([two, three, one][index] ?? one)],
          paginationCursor: cursorOf(index + 1)
        }))
      ])
    )
    expect(cause).to.deep.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'order' })
  })

  it('fails where rows of beta4 go back in time', async () => {
    const peers = new FakePeers([
      beta4Peer(() => ({ messages: [encodeWakuMessage(two), encodeWakuMessage(one)] }))
    ])
    expect(await causeOf(peers)).to.deep.include({
      code: 'ERR_PROTOCOL_VIOLATION',
      detail: 'order'
    })
  })

  it('fails where the cursor does not move', async () => {
    let time = 0n
    const cause = await causeOf(
      new FakePeers([
        query3Peer(() => ({
          messages: [entryOf(messageAt(++time, `${time}`))],
          paginationCursor: cursorOf(1)
        }))
      ])
    )
    expect(cause).to.deep.nested.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'cursor' })
  })

  it('asks nothing more once a cursor stands still, however late', async () => {
    let time = 0n
    const peers = new FakePeers([
      query3Peer((_query, index) => ({
        messages: [entryOf(messageAt(++time, `${time}`))],
        paginationCursor: cursorOf(Math.min(index, 5))
      }))
    ])
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(new StoreClient(peers).queryPages({}))
    )
    expect(error.cause).to.deep.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'cursor' })
    expect(peers.requests).to.have.lengthOf(7)
  })

  for (const length of [2, 3, 7]) {
    it(`notices a loop of ${length} cursors`, async () => {
      let time = 0n
      const peers = new FakePeers([
        query3Peer((_query, index) => ({
          messages: [entryOf(messageAt(++time, `${time}`))],
          paginationCursor: cursorOf(1 + (index % length))
        }))
      ])
      const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
        collect(new StoreClient(peers).queryPages(CRITERIA))
      )
      expect(error.message).to.contain('cursor does not move on')
      expect(peers.requests.length).to.be.at.most(8 * length)
    })
  }

  it('bounds empty pages in a row, and goes on after a few', async () => {
    const peers = (empty: number) =>
      new FakePeers([
        query3Peer((_query, index) =>
          index < empty ? { paginationCursor: cursorOf(index + 1) } : { messages: [entryOf(one)] }
        )
      ])
    expect(await collect(new StoreClient(peers(3)).query(CRITERIA))).to.have.length(1)
    const endless = peers(1000)
    expect(await causeOf(endless)).to.deep.include({
      code: 'ERR_PROTOCOL_VIOLATION',
      detail: 'no-progress'
    })
    expect(endless.requests).to.have.length(4)
  })

  it('fails where a page holds more entries than asked', async () => {
    const messages = sorted(one, two, three).map((message) => entryOf(message))
    const cause = await causeOf(new FakePeers([query3Peer(() => ({ messages }))]), { pageLimit: 2 })
    expect(cause).to.deep.include({ code: 'ERR_LIMIT_EXCEEDED', limit: 2 })
  })

  it('fails where a page of beta4 holds more entries than asked', async () => {
    const messages = [one, two, three].map(encodeWakuMessage)
    const cause = await causeOf(new FakePeers([beta4Peer(() => ({ messages }))]), { pageLimit: 2 })
    expect(cause).to.deep.include({ code: 'ERR_LIMIT_EXCEEDED', limit: 2 })
  })

  it('fails where a success answers another request', async () => {
    for (const requestId of ['', 'N/A', 'another']) {
      const cause = await causeOf(new FakePeers([query3Peer(() => ({ requestId }))]))
      expect(cause).to.deep.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'request-id' })
    }
  })

  it('takes a status outside 2xx as what it is, whatever the request id', async () => {
    for (const [statusCode, requestId] of [
      [0, ''],
      [199, ''],
      [300, ''],
      [400, 'N/A'],
      [429, 'N/A'],
      [503, 'another'],
      [4_000_000_000, '']
    ] as const) {
      const peers = new FakePeers([
        query3Peer(() => ({ statusCode, requestId, statusDesc: 'words', messages: [entryOf(one)] }))
      ])
      expect(await causeOf(peers)).to.deep.include({
        code: 'ERR_REMOTE_STATUS',
        statusCode,
        requestId,
        statusDesc: 'words',
        peerId: 'peer'
      })
    }
  })

  it('takes any 2xx as a success', async () => {
    const peers = new FakePeers([query3Peer(() => ({ statusCode: 299, messages: [entryOf(one)] }))])
    expect(await collect(new StoreClient(peers).query(CRITERIA))).to.have.length(1)
  })

  it('fails on a cursor that is not 32 bytes long', async () => {
    const cause = await causeOf(
      new FakePeers([query3Peer(() => ({ paginationCursor: new Uint8Array(31) }))])
    )
    expect(cause).to.deep.include({ code: 'ERR_PROTOCOL_VIOLATION', detail: 'cursor' })
  })

  it('fails on garbage, and on nothing', async () => {
    for (const bytes of [Uint8Array.of(0xff, 0xff), Uint8Array.of(0x0a, 0x10)]) {
      expect(await causeOf(new FakePeers([query3Peer(() => bytes)]))).to.deep.include({
        code: 'ERR_INVALID_MESSAGE'
      })
    }
    expect(await causeOf(new FakePeers([query3Peer(() => new Uint8Array())]))).to.deep.include({
      code: 'ERR_REMOTE_STATUS',
      statusCode: 0
    })
  })

  it('derives the pubsub topic where neither criteria nor node name one', async () => {
    const archive = new Archive()
    archive.add(one, PUBSUB_TOPIC)
    const peers = new FakePeers([archivePeer(archive, 'peer', [STORE_BETA4_PROTOCOL])])
    const [message] = await collect(new StoreClient(peers).query({}))
    expect(message?.messageHash).to.deep.equal(hashOf(one))
  })

  it('rejects a message whose pubsub topic cannot be told', async () => {
    const message = { ...one, contentTopic: 'free form' }
    const peers = new FakePeers([beta4Peer(() => ({ messages: [encodeWakuMessage(message)] }))])
    const [page] = await collect(
      new StoreClient(peers, { generations: [STORE_BETA4] }).queryPages({})
    )
    expect(page && reasonsOf(page)).to.deep.equal(['undecodable'])
  })
})
