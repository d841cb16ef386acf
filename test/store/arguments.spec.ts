import { expect } from 'chai'
import { StoreClient, type StoreCriteria, type WalkOptions } from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import {
  decodeHistoryQueryBeta2,
  decodeStoreQueryRequest,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { collect, failureOf, messageAt } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC, PUBSUB_TOPIC } from '../helpers/store-peers.ts'

const CRITERIA = { contentTopics: [CONTENT_TOPIC] }
const peersOf = (...network: [] | [{ clusterId: number; pubsubTopics: string[] }]) =>
  new FakePeers([archivePeer(new Archive())], ...network)

describe('StoreClient, arguments', () => {
  const wrong: [string, unknown, unknown?][] = [
    ['criteria', undefined],
    ['criteria', 'text'],
    ['criteria.contentTopics', { contentTopics: CONTENT_TOPIC }],
    ['criteria.contentTopics', { contentTopics: [''] }],
    ['criteria.contentTopics', { contentTopics: [5] }],
    ['criteria.contentTopics', { contentTopics: ['free form'] }],
    ['criteria.pubsubTopic', { pubsubTopic: '' }],
    ['criteria.pubsubTopic', { pubsubTopic: 5 }],
    ['criteria.timeStart', { timeStart: 5 }],
    ['criteria.timeStart', { timeStart: new Date(Number.NaN) }],
    ['criteria.timeEnd', { timeEnd: 2n ** 63n }],
    ['criteria.timeEnd', { timeStart: 2n, timeEnd: 1n }],
    ['direction', CRITERIA, { direction: 'up' }],
    ['pageLimit', CRITERIA, { pageLimit: 0 }],
    ['pageLimit', CRITERIA, { pageLimit: 1001 }],
    ['pageLimit', CRITERIA, { pageLimit: 1.5 }],
    ['timeoutMs', CRITERIA, { timeoutMs: 0 }],
    ['timeoutMs', CRITERIA, { timeoutMs: 'soon' }]
  ]
  for (const [index, [parameter, criteria, options]] of wrong.entries()) {
    it(`names ${parameter} before any I/O (${index})`, async () => {
      const peers = peersOf()
      const client = new StoreClient(peers)
      for (const method of ['query', 'queryPages'] as const) {
        const error = await failureOf('ERR_INVALID_ARGUMENT', () =>
          client[method](criteria as StoreCriteria, options as WalkOptions)
        )
        expect(error.parameter).to.equal(parameter)
      }
      expect(peers.networkCalls).to.equal(0)
    })
  }

  for (const [parameter, init] of [
    ['generations', { generations: [] }],
    ['requestTimeoutMs', { requestTimeoutMs: 0 }],
    ['requestTimeoutMs', { requestTimeoutMs: Number.NaN }]
  ] as const) {
    it(`names ${parameter} of a wrong init`, async () => {
      const error = await failureOf('ERR_INVALID_ARGUMENT', () => new StoreClient(peersOf(), init))
      expect(error.parameter).to.equal(parameter)
    })
  }

  it('rejects, unwrapped, what only the network shows to be wrong', async () => {
    const several = peersOf({ clusterId: 5, pubsubTopics: ['/x', '/y'] })
    const client = new StoreClient(several)
    const error = await failureOf('ERR_INVALID_ARGUMENT', () => collect(client.query(CRITERIA)))
    expect(error.parameter).to.equal('pubsubTopic')
    expect(await collect(client.query({ ...CRITERIA, pubsubTopic: '/y' }))).to.deep.equal([])
    const generation = { contentTopics: ['/1/app/22/a/proto'] }
    const wrongTopic = await failureOf('ERR_INVALID_ARGUMENT', () =>
      collect(new StoreClient(peersOf()).query(generation))
    )
    expect(wrongTopic.parameter).to.equal('criteria.contentTopics')
    expect(several.requests).to.have.length(1)
  })
})

describe('StoreClient, requests', () => {
  it('are split by shard and by ten, each content topic once and with its pubsub topic', async () => {
    const peers = peersOf()
    const contentTopics = [
      ...Array.from({ length: 23 }, (_, index) => `/app/22/${index}/proto`),
      '/toychat/2/a/proto',
      '/app/22/0/proto'
    ]
    await collect(new StoreClient(peers).query({ contentTopics }))
    const queries = peers.requests.map(({ bytes }) => decodeStoreQueryRequest(bytes, 100))
    const asked = queries.map(({ pubsubTopic, contentTopics: topics }) => [
      pubsubTopic,
      topics.length
    ])
    expect(asked.sort()).to.deep.equal([
      ['/waku/2/rs/1/2', 10],
      ['/waku/2/rs/1/2', 10],
      ['/waku/2/rs/1/2', 3],
      ['/waku/2/rs/1/3', 1]
    ])
    expect(queries.flatMap(({ contentTopics: topics }) => topics).sort()).to.deep.equal(
      [...new Set(contentTopics)].sort()
    )
    expect(queries.every(({ messageHashes }) => messageHashes.length === 0)).to.equal(true)
  })

  it('take a pubsub topic alone, a time alone, or nothing', async () => {
    for (const criteria of [{ pubsubTopic: PUBSUB_TOPIC }, { timeStart: 5n }, {}]) {
      const peers = peersOf()
      await collect(new StoreClient(peers).query(criteria))
      const [query] = peers.requests.map(({ bytes }) => decodeStoreQueryRequest(bytes, 100))
      expect(query?.contentTopics).to.deep.equal([])
      expect({ pubsubTopic: query?.pubsubTopic, timeStart: query?.timeStart }).to.deep.equal({
        pubsubTopic: undefined,
        timeStart: undefined,
        ...criteria
      })
    }
  })

  it('of a range of no length bring nothing, though a node sends what is at its end', async () => {
    const archive = new Archive()
    archive.add(messageAt(5n, 'at the end'), PUBSUB_TOPIC)
    const peers = new FakePeers([archivePeer(archive)])
    const criteria = { ...CRITERIA, timeStart: 5n, timeEnd: 5n }
    const pages = await collect(new StoreClient(peers).queryPages(criteria))
    expect(
      pages.map(({ messages, completeness }) => [messages.length, completeness])
    ).to.deep.equal([[0, 'complete']])
    expect(peers.requests).to.have.length(1)
  })

  it('differ from those of another client in a random id alone', async () => {
    const [first, second] = await Promise.all(
      [1, 2].map(async () => {
        const peers = peersOf()
        const client = new StoreClient(peers)
        await collect(client.query(CRITERIA))
        await collect(client.queryHashes(CRITERIA))
        await client.has([new Uint8Array(32)])
        return peers.requests.map(({ bytes }) => decodeStoreQueryRequest(bytes, 100))
      })
    )
    const idsOf = (queries: typeof first): string[] =>
      queries?.map(({ requestId }) => requestId) ?? []
    const ids = [...idsOf(first), ...idsOf(second)]
    expect(new Set(ids).size).to.equal(ids.length)
    const rest = (queries: typeof first): unknown[] | undefined =>
      queries?.map((query) => ({ ...query, requestId: '' }))
    expect(rest(first)).to.deep.equal(rest(second))
  })

  it('use the newest generation that both sides speak', async () => {
    const peers = peersOf()
    const client = new StoreClient(peers, { generations: [STORE_BETA2] })
    await collect(client.query(CRITERIA))
    await collect(new StoreClient(peers).query(CRITERIA))
    const [old, current] = peers.requests
    expect(decodeHistoryQueryBeta2(old?.bytes ?? new Uint8Array()).topics).to.deep.equal([
      CONTENT_TOPIC
    ])
    expect(current?.protocol).to.equal(STORE_QUERY_3_PROTOCOL)
  })
})
