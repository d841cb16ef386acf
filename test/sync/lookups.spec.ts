import { expect } from 'chai'
import { toHex } from 'waku-light/message'
import { StoreClient } from 'waku-light/store'
import {
  decodeStoreQueryResponse,
  decodeWakuMessageKeyValue,
  encodeStoreQueryRequest,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { createMemoryArchive } from '../../src/archive/index.ts'
import { answerLookup } from '../../src/sync/lookups.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { makeMessages } from './fixtures.ts'

type Request = Parameters<typeof encodeStoreQueryRequest>[0]

describe('answerLookup', () => {
  async function archiveOf(count: number, fields: Parameters<typeof makeMessages>[1] = {}) {
    const messages = makeMessages(count, fields)
    const archive = createMemoryArchive()
    await archive.putMany(messages)
    return { messages, archive }
  }

  const request = (fields: Partial<Request>): Uint8Array =>
    encodeStoreQueryRequest({
      requestId: 'r',
      includeData: true,
      contentTopics: [],
      messageHashes: [],
      paginationForward: true,
      ...fields
    })

  it('answers a store client, in pages where it has to', async () => {
    const { messages, archive } = await archiveOf(90, { payload: new Uint8Array(100_000) })
    // alike but for their times
    const peers = new FakePeers([
      {
        peerId: 'theirs',
        protocols: [STORE_QUERY_3_PROTOCOL],
        answer: ({ bytes }) => answerLookup(bytes, archive)
      }
    ])
    const found: bigint[] = []
    const hashes = messages.map(({ messageHash }) => messageHash)
    for await (const { timestamp } of new StoreClient(peers).lookup(hashes)) {
      found.push(timestamp ?? 0n)
    }
    expect(found).to.deep.equal(messages.map(({ timestamp }) => timestamp).reverse())
    expect(peers.requests.length).to.equal(3)
  })

  it('says which it has where no data is asked for', async () => {
    const { messages, archive } = await archiveOf(3)
    const [first] = messages
    const hashes = [first!.messageHash, makeMessages(1)[0]!.messageHash]
    const answer = await answerLookup(
      request({ includeData: false, messageHashes: hashes }),
      archive
    )
    expect(decodeStoreQueryResponse(answer, 10)).to.deep.include({ statusCode: 200 })
    expect(decodeStoreQueryResponse(answer, 10).messages).to.have.lengthOf(1)
  })

  for (const paginationForward of [true, false]) {
    it(`gives each message once, from page to page, ${paginationForward ? 'forward' : 'backward'}`, async () => {
      const { messages, archive } = await archiveOf(7)
      const messageHashes = messages.map(({ messageHash }) => messageHash)
      const pages: string[][] = []
      for (
        let cursor: Uint8Array<ArrayBuffer> | undefined;
        pages.length === 0 || cursor !== undefined;
      ) {
        const asked = request({
          messageHashes,
          paginationForward,
          paginationCursor: cursor,
          paginationLimit: 3n
        })
        const answer = decodeStoreQueryResponse(await answerLookup(asked, archive), 10)
        pages.push(answer.messages.map((row) => toHex(decodeWakuMessageKeyValue(row).messageHash)))
        cursor = answer.paginationCursor
      }
      // they were made from the newest to the oldest
      const hashes = messageHashes.map(toHex).reverse()
      expect(pages).to.deep.equal(
        paginationForward
          ? [hashes.slice(0, 3), hashes.slice(3, 6), hashes.slice(6)]
          : [hashes.slice(4), hashes.slice(1, 4), hashes.slice(0, 1)]
      )
    })
  }

  it('refuses every other query, and peers without a session', async () => {
    const { messages, archive } = await archiveOf(3)
    const status = async (fields: Partial<Request>, over: typeof archive | undefined = archive) =>
      decodeStoreQueryResponse(await answerLookup(request(fields), over), 10).statusCode
    expect(await status({ contentTopics: ['/a/1/b/proto'], pubsubTopic: 'x' })).to.equal(400)
    expect(await status({ messageHashes: [new Uint8Array(31)] })).to.equal(400)
    const messageHashes = messages.map(({ messageHash }) => messageHash)
    const paginationCursor = new Uint8Array(32)
    expect(await status({ messageHashes })).to.equal(200)
    expect(await status({ messageHashes, paginationCursor })).to.equal(400)
    const lookup = request({ messageHashes: [messages[0]!.messageHash] })
    expect(decodeStoreQueryResponse(await answerLookup(lookup, undefined), 10)).to.deep.include({
      statusCode: 503,
      messages: []
    })
  })
})
