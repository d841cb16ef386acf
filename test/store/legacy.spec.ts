import { expect } from 'chai'
import { STORE_BETA4, StoreClient } from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import {
  decodeHistoryQuery,
  decodeHistoryQueryBeta2,
  encodeHistoryIndex,
  encodeHistoryIndexBeta2,
  encodeWakuMessage
} from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failureOf, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import {
  archivePeer,
  beta2Peer,
  beta4Peer,
  CONTENT_TOPIC,
  PUBSUB_TOPIC
} from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const one = encodeWakuMessage(messageAt(1n, 'one'))
const two = encodeWakuMessage(messageAt(2n, 'two'))
const index = (value: number) =>
  encodeHistoryIndex({
    digest: new Uint8Array(32).fill(value),
    receiverTime: 1n,
    senderTime: 1n,
    pubsubTopic: PUBSUB_TOPIC
  })
const index2 = (value: number) =>
  encodeHistoryIndexBeta2({ digest: new Uint8Array(32).fill(value), receivedTime: 1 })

const beta4 = (...peer: Parameters<typeof beta4Peer>) =>
  new StoreClient(new FakePeers([beta4Peer(...peer)]), { generations: [STORE_BETA4] })
const beta2 = (...peer: Parameters<typeof beta2Peer>) =>
  new StoreClient(new FakePeers([beta2Peer(...peer)]), { generations: [STORE_BETA2] })

async function causeOf(client: StoreClient): Promise<unknown> {
  return (await failureOf('ERR_INCOMPLETE_HISTORY', () => collect(client.queryPages(CRITERIA))))
    .cause
}

const endsOf = async (client: StoreClient): Promise<[number, string][]> =>
  (await collect(client.queryPages(CRITERIA))).map(({ messages, completeness }) => [
    messages.length,
    completeness
  ])

describe('STORE_BETA4', () => {
  it('asks with page size, direction and inclusive times, and repeats the cursor to the byte', async () => {
    const asked: unknown[] = []
    const client = beta4((query, at) => {
      asked.push(query)
      return at === 0 ? { messages: [one], cursor: index(1) } : { messages: [two] }
    })
    await collect(client.queryPages({ ...CRITERIA, timeStart: 1n, timeEnd: 9n }, { pageLimit: 7 }))
    expect(asked[0]).to.deep.include({
      pubsubTopic: PUBSUB_TOPIC,
      contentTopics: [CONTENT_TOPIC],
      startTime: 1n,
      endTime: 8n,
      pageSize: 7n,
      forward: true,
      cursor: undefined
    })
    expect(asked[1]).to.deep.include({ startTime: 1n, endTime: 8n, cursor: index(1) })
  })

  it('ends where the cursor is absent, however short the pages before', async () => {
    const client = beta4((_query, at) =>
      at === 0 ? { messages: [one], cursor: index(1) } : { messages: [two] }
    )
    expect(await endsOf(client)).to.deep.equal([
      [1, 'more'],
      [1, 'complete']
    ])
  })

  it('ends, unverifiable, on an empty page that repeats the cursor, as old nodes do', async () => {
    const client = beta4((_query, at) =>
      at === 0 ? { messages: [one], cursor: index(1) } : { cursor: index(1) }
    )
    expect(await endsOf(client)).to.deep.equal([
      [1, 'more'],
      [0, 'unverifiable']
    ])
    const archive = new Archive({ lastPage: 'cursor' })
    archive.add(messageAt(1n, 'one'), PUBSUB_TOPIC)
    const old = new StoreClient(new FakePeers([archivePeer(archive)]), {
      generations: [STORE_BETA4]
    })
    expect(await endsOf(old)).to.deep.equal([
      [1, 'more'],
      [0, 'unverifiable']
    ])
  })

  it('takes a missing response as an empty page', async () => {
    const client = beta4(({ requestId }) =>
      Uint8Array.from([0x0a, requestId.length, ...new TextEncoder().encode(requestId)])
    )
    expect(await endsOf(client)).to.deep.equal([[0, 'unverifiable']])
  })

  it('fails where a page with messages repeats the cursor', async () => {
    const client = beta4((_query, at) => ({ messages: [at === 0 ? one : two], cursor: index(1) }))
    expect(await causeOf(client)).to.deep.include({
      code: 'ERR_PROTOCOL_VIOLATION',
      detail: 'cursor'
    })
  })

  it('fails on a frame of no length', async () => {
    expect(await causeOf(beta4(() => new Uint8Array()))).to.deep.include({
      code: 'ERR_INVALID_MESSAGE'
    })
  })

  for (const [error, statusDesc, requestId] of [
    [1, 'INVALID_CURSOR (said of every bad query)', 'x'],
    [429, 'TOO_MANY_REQUESTS', 'N/A'],
    [503, 'SERVICE_UNAVAILABLE', ''],
    [77, '', '']
  ] as const) {
    it(`takes error ${error} as a status, whatever the request id`, async () => {
      expect(await causeOf(beta4(() => ({ error, requestId, messages: [one] })))).to.deep.include({
        code: 'ERR_REMOTE_STATUS',
        statusCode: error,
        statusDesc,
        requestId
      })
    })
  }

  it('fails where a success answers another request', async () => {
    expect(await causeOf(beta4(() => ({ requestId: 'N/A' })))).to.deep.include({
      detail: 'request-id'
    })
  })

  it('reports a message that comes again, on whichever page', async () => {
    const client = beta4((_query, at) =>
      at === 0 ? { messages: [one, two, two], cursor: index(1) } : { messages: [two] }
    )
    const pages = await collect(client.queryPages(CRITERIA))
    expect(pages.map(({ messages }) => messages.length)).to.deep.equal([2, 0])
    expect(pages.map(({ rejected }) => rejected.map(({ reason }) => reason))).to.deep.equal([
      ['duplicate'],
      ['duplicate']
    ])
  })

  it('goes on by cursor past messages without a time, and delivers each once', async () => {
    const archive = new Archive()
    for (const [at, topic] of [CONTENT_TOPIC, '/app/27/a/proto', '/app/20/a/proto'].entries()) {
      for (let count = 0; count < 4; count++) {
        const pubsubTopic = `/waku/2/rs/1/${[2, 5, 7][at]}`
        archive.add(messageAt(0n, `${at} ${count}`, topic), pubsubTopic, BigInt(1000 + count))
      }
    }
    const peers = new FakePeers([archivePeer(archive)])
    const client = new StoreClient(peers, { generations: [STORE_BETA4] })
    const criteria = { contentTopics: [CONTENT_TOPIC, '/app/27/a/proto', '/app/20/a/proto'] }
    for (const direction of ['forward', 'backward'] as const) {
      const texts: string[] = []
      let position: string | undefined
      for (let completeness = 'more'; completeness === 'more'; ) {
        for await (const page of client.queryPages(criteria, {
          position,
          direction,
          pageLimit: 3
        })) {
          texts.push(...page.messages.map(({ payload }) => new TextDecoder().decode(payload)))
          position = page.position
          completeness = page.completeness
          break
        }
      }
      expect(texts).to.have.length(12)
      expect(new Set(texts).size).to.equal(12)
    }
  })
})

describe('STORE_BETA2', () => {
  it('asks with topics, page size and direction only, and repeats the cursor to the byte', async () => {
    const peers = new FakePeers([
      beta2Peer((_query, at) =>
        at === 0
          ? { messages: [two], pagingInfo: { pageSize: 1n, forward: false, cursor: index2(1) } }
          : { pagingInfo: { pageSize: 0n, forward: false, cursor: index2(1) } }
      )
    ])
    const client = new StoreClient(peers, { generations: [STORE_BETA2] })
    const options = { pageLimit: 7, direction: 'backward' as const }
    await collect(client.queryPages({ ...CRITERIA, timeStart: 1n }, options))
    const queries = peers.requests.map(({ bytes }) => decodeHistoryQueryBeta2(bytes))
    expect(queries[0]).to.deep.include({
      topics: [CONTENT_TOPIC],
      pageSize: 7n,
      forward: false,
      cursor: undefined
    })
    expect(queries[1]?.cursor).to.deep.equal(index2(1))
  })

  it('filters by time, silently', async () => {
    const archive = new Archive()
    for (let time = 1n; time < 9n; time++) {
      archive.add(messageAt(time, `${time}`), PUBSUB_TOPIC)
    }
    const client = new StoreClient(new FakePeers([archivePeer(archive)]), {
      generations: [STORE_BETA2]
    })
    const pages = await collect(
      client.queryPages({ ...CRITERIA, timeStart: 3n, timeEnd: 5n }, { pageLimit: 1 })
    )
    const times = pages.flatMap(({ messages }) => messages.map(({ timestamp }) => timestamp))
    expect(times.sort()).to.deep.equal([3n, 4n])
    expect(pages.flatMap(({ rejected }) => rejected)).to.deep.equal([])
  })

  it('remembers the last 2000 messages, no more, to find those that come again', async () => {
    const messages = Array.from({ length: 2001 }, (_, at) =>
      encodeWakuMessage(messageAt(BigInt(at + 1), `${at}`))
    )
    const pages = [messages.slice(0, 1000), messages.slice(1000, 2000), messages.slice(1, 2)]
    const longer = [...pages.slice(0, 2), messages.slice(2000), messages.slice(0, 1)]
    for (const [given, rejected] of [
      [pages, 1],
      [longer, 0]
    ] as const) {
      const client = beta2((_query, at) => ({
        messages: given[at] ?? [],
        pagingInfo: { pageSize: 1n, forward: true, cursor: index2(at) }
      }))
      const walked = await collect(client.queryPages(CRITERIA, { pageLimit: 1000 }))
      expect(walked.flatMap((page) => page.rejected)).to.have.length(rejected)
    }
  })

  it('fails where a page with messages has no cursor, repeats it, or answers another request', async () => {
    const pagingInfo = { pageSize: 1n, forward: true, cursor: index2(1) }
    expect(await causeOf(beta2(() => ({ messages: [one] })))).to.deep.include({ detail: 'cursor' })
    expect(
      await causeOf(beta2((_query, at) => ({ messages: [at === 0 ? one : two], pagingInfo })))
    ).to.deep.include({ detail: 'cursor' })
    expect(await causeOf(beta2(() => ({ requestId: '' })))).to.deep.include({
      detail: 'request-id'
    })
  })

  it('fails where a page holds more than asked', async () => {
    const client = beta2(() => ({ messages: [one, two] }))
    const error = await failureOf('ERR_INCOMPLETE_HISTORY', () =>
      collect(client.query(CRITERIA, { pageLimit: 1 }))
    )
    expect(error.cause).to.deep.include({ code: 'ERR_LIMIT_EXCEEDED', limit: 1 })
  })
})

describe('StoreClient, of the generations', () => {
  it('does not offer what is not asked for', async () => {
    const archive = new Archive()
    const peers = new FakePeers([archivePeer(archive)])
    await collect(new StoreClient(peers, { generations: [STORE_BETA4] }).query(CRITERIA))
    expect(decodeHistoryQuery(peers.requests[0]?.bytes ?? new Uint8Array()).forward).to.equal(true)
  })
})
