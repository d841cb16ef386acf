import { expect } from 'chai'
import { messageHash, toHex } from 'waku-light/message'
import {
  decodeStoreQueryResponse,
  decodeWakuMessage,
  decodeWakuMessageKeyValue,
  encodeStoreQueryResponse,
  STORE_QUERY_3_PROTOCOL,
  type StoreQueryRequest
} from 'waku-light/wire'
import type { ServiceNode } from 'waku-light-service-node'
import type { Client } from './helpers/client.ts'
import { CONTENT_TOPIC, encodeMessage, NOW, TOPIC } from './helpers/messages.ts'
import { push } from './helpers/push.ts'
import { recorded } from './helpers/recorded.ts'
import { Resources } from './helpers/resources.ts'
import { query } from './helpers/store.ts'

const COUNT = 120

describe('store-query 3.0.0', () => {
  const resources = new Resources()
  let node: ServiceNode
  let client: Client
  let address: string | undefined
  let pushed: { hash: string; timestamp: bigint; encoded: Uint8Array }[]

  before(async () => {
    node = await resources.node({ standalone: true, now: () => NOW })
    client = await resources.client()
    address = node.multiaddrs[0]
    await client.dial(address)
    pushed = Array.from({ length: COUNT }, (_, index) => {
      const timestamp = NOW + BigInt(index % 40)
      const contentTopic = index % 2 === 0 ? CONTENT_TOPIC : '/toychat/2/other/proto'
      const encoded = encodeMessage({ timestamp, contentTopic, version: index % 3 })
      return { encoded, timestamp, hash: toHex(messageHash(TOPIC, decodeWakuMessage(encoded))) }
    })
    await Promise.all(
      pushed.map(({ encoded }) => push(client, address, encoded as Uint8Array<ArrayBuffer>))
    )
    pushed.sort((a, b) => Number(a.timestamp - b.timestamp) || (a.hash < b.hash ? -1 : 1))
  })
  after(() => resources.release())

  const ask = (request: Partial<StoreQueryRequest>) => query(client, address, request)
  const status = async (request: Partial<StoreQueryRequest>) => {
    const { requestId, statusCode, statusDesc } = await ask(request)
    return [requestId, statusCode, statusDesc]
  }
  const hashBytes = (index: number) =>
    Uint8Array.from(Buffer.from(pushed[index]?.hash ?? '', 'hex'))

  for (const paginationForward of [true, false]) {
    it(`is walked ${paginationForward ? 'forward' : 'backward'}, each page oldest first, a cursor exactly when there is more`, async () => {
      const pages: string[][] = []
      let paginationCursor: StoreQueryRequest['paginationCursor']
      do {
        const page = await ask({ paginationForward, paginationLimit: 40n, paginationCursor })
        expect(page.statusCode).to.equal(200)
        pages.push(page.hashes)
        const edge = page.hashes.at(paginationForward ? -1 : 0)
        paginationCursor = page.paginationCursor
        expect(paginationCursor === undefined || toHex(paginationCursor) === edge).to.equal(true)
      } while (paginationCursor !== undefined)
      expect(pages.map(({ length }) => length)).to.deep.equal([40, 40, 40])
      const walked = (paginationForward ? pages : pages.reverse()).flat()
      expect(walked).to.deep.equal(pushed.map(({ hash }) => hash))
    })
  }

  it('returns the message as it was pushed, with its topic, or the hash alone', async () => {
    const [entry] = (await ask({ paginationLimit: 1n })).messages
    const { message, pubsubTopic } = decodeWakuMessageKeyValue(entry ?? new Uint8Array())
    expect(toHex(message ?? new Uint8Array())).to.equal(
      toHex(pushed[0]?.encoded ?? new Uint8Array())
    )
    expect(pubsubTopic).to.equal(TOPIC)
    const [bare] = (await ask({ paginationLimit: 1n, includeData: false })).messages
    expect(bare).to.have.lengthOf(34)
  })

  it('uses 20 where no page size is asked for, and at most 100', async () => {
    expect((await ask({})).hashes).to.have.lengthOf(20)
    expect((await ask({ paginationLimit: 0n })).hashes).to.have.lengthOf(20)
    expect((await ask({ paginationLimit: 2n ** 63n })).hashes).to.have.lengthOf(100)
  })

  it('takes the start of a time range as inclusive and its end as exclusive', async () => {
    const range = { timeStart: NOW + 5n, timeEnd: NOW + 7n, paginationLimit: 100n }
    const expected = pushed.filter(
      ({ timestamp }) => timestamp === NOW + 5n || timestamp === NOW + 6n
    )
    expect((await ask(range)).hashes).to.deep.equal(expected.map(({ hash }) => hash))
    expect((await ask({ timeStart: NOW, timeEnd: NOW })).hashes).to.deep.equal([])
  })

  it('filters by content topics together with their pubsub topic', async () => {
    const filter = { contentTopics: [CONTENT_TOPIC], paginationLimit: 100n }
    expect((await ask({ ...filter, pubsubTopic: TOPIC })).hashes).to.have.lengthOf(COUNT / 2)
    expect((await ask({ ...filter, pubsubTopic: '/waku/2/rs/42/1' })).hashes).to.deep.equal([])
    expect((await ask({ pubsubTopic: TOPIC, paginationLimit: 100n })).hashes).to.have.lengthOf(100)
  })

  it('looks up by hash', async () => {
    const messageHashes = [hashBytes(30), hashBytes(3), new Uint8Array(32), hashBytes(3)]
    const found = await ask({ messageHashes })
    expect(found.hashes).to.deep.equal([pushed[3]?.hash, pushed[30]?.hash])
    expect(found.paginationCursor).to.equal(undefined)
  })

  it('answers criteria that the specification rules out with 400 and the id of the request', async () => {
    const hash = hashBytes(0)
    const eleven = Array.from({ length: 11 }, (_, index) => `/toychat/2/${index}/proto`)
    const cases: [Partial<StoreQueryRequest>, string][] = [
      [
        { messageHashes: [hash], pubsubTopic: TOPIC, contentTopics: [CONTENT_TOPIC] },
        'message hashes together with other criteria'
      ],
      [{ messageHashes: [hash], timeStart: 0n }, 'message hashes together with other criteria'],
      [{ messageHashes: Array(257).fill(hash) }, 'more than 256 message hashes'],
      [{ messageHashes: [hash.subarray(1)] }, 'a message hash is not 32 bytes long'],
      [{ contentTopics: [CONTENT_TOPIC] }, 'content topics without a pubsub topic'],
      [{ contentTopics: eleven, pubsubTopic: TOPIC }, 'too many content topics'],
      [{ timeStart: 2n, timeEnd: 1n }, 'time_start after time_end'],
      [{ paginationCursor: hash.subarray(1) }, 'the cursor is not 32 bytes long']
    ]
    for (const [request, text] of cases) {
      expect(await status(request)).to.deep.equal(['q1', 400, `BAD_REQUEST: ${text}`])
    }
    expect((await ask({ messageHashes: Array(256).fill(hash) })).hashes).to.have.lengthOf(1)
    expect(await status({ contentTopics: eleven.slice(1), pubsubTopic: TOPIC })).to.deep.equal([
      'q1',
      200,
      'OK'
    ])
  })

  it('answers an unknown cursor with 300, in the words of the reference node', async () => {
    const text = 'BAD_RESPONSE: archive error: DRIVER_ERROR: cursor not found'
    expect(await status({ paginationCursor: new Uint8Array(32) })).to.deep.equal(['q1', 300, text])
  })

  it('answers what does not decode as the reference node does', async () => {
    const cases = recorded('store3.').filter(({ id }) =>
      /undecodable|zero-length|request-id-missing/.test(id)
    )
    expect(cases).to.have.lengthOf(4)
    for (const { id, request, response } of cases) {
      const answer = await client.exchangeRaw(
        address,
        STORE_QUERY_3_PROTOCOL,
        Uint8Array.from(Buffer.from(request ?? '', 'hex'))
      )
      expect(toHex(answer), id).to.equal(response)
    }
  })

  it('refuses over the rate limit with 429', async () => {
    const limited = await resources.node({
      now: () => NOW,
      rateLimits: { store: { perPeer: { count: 1, periodMs: 1000 } } }
    })
    expect((await query(client, limited.multiaddrs[0])).statusCode).to.equal(200)
    const { hashes: _, ...refusal } = await query(client, limited.multiaddrs[0])
    const frame = encodeStoreQueryResponse({
      requestId: 'N/A',
      statusCode: 429,
      statusDesc: 'TOO_MANY_REQUESTS',
      messages: []
    })
    expect(refusal).to.deep.equal(decodeStoreQueryResponse(frame, 1))
  })

  it('sends pages of megabytes in one piece for the client', async () => {
    const big = await resources.node({ standalone: true, now: () => NOW, maxPageBytes: 12_000_000 })
    const sizes = Array.from({ length: 85 }, (_, index) => NOW + BigInt(index))
    for (const timestamp of sizes) {
      await push(
        client,
        big.multiaddrs[0],
        encodeMessage({ timestamp, payload: new Uint8Array(150_000) })
      )
    }
    const page = await query(client, big.multiaddrs[0], { paginationLimit: 100n })
    expect(page.messages).to.have.lengthOf(79)
    const rest = await query(client, big.multiaddrs[0], {
      paginationLimit: 100n,
      paginationCursor: page.paginationCursor
    })
    expect(rest.messages).to.have.lengthOf(6)
  })
})
