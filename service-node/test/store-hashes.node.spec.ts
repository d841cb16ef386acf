import { expect } from 'chai'
import { toHex } from 'waku-light/message'
import {
  decodeStoreQueryResponse,
  decodeWakuMessage,
  decodeWakuMessageKeyValue,
  encodeStoreQueryRequest,
  type StoreQueryRequest
} from 'waku-light/wire'
import { Archive } from '../src/archive/archive.ts'
import { toArchivedMessage } from '../src/archive/archived-message.ts'
import { SILENT_LOGGER } from '../src/logger.ts'
import { storeQuery3 } from '../src/protocols/store-query-3.ts'
import { CONTENT_TOPIC, encodeMessage, NOW, TOPIC } from './helpers/messages.ts'

describe('storeQuery3, look-up by hash', () => {
  const archive = new Archive({
    file: ':memory:',
    retention: { maxAgeMs: 1e12, maxCount: 1e9 },
    now: () => NOW
  })
  const encoded = encodeMessage({ timestamp: NOW })
  const row = toArchivedMessage(TOPIC, decodeWakuMessage(encoded), encoded, NOW)

  before(() => archive.insert(row))
  after(() => archive.close())

  async function ask(request: Partial<StoreQueryRequest>) {
    const service = storeQuery3({
      pages: archive.pages,
      defaultPageLimit: 20,
      maxPageLimit: 100,
      maxPageBytes: 1e6
    })
    const query = encodeStoreQueryRequest({
      requestId: 'q1',
      includeData: true,
      contentTopics: [],
      messageHashes: [Uint8Array.from(row.hash)],
      paginationForward: true,
      ...request
    })
    const answer = await service.respond(query, SILENT_LOGGER)
    const { statusCode, messages } = decodeStoreQueryResponse(answer?.frame ?? encoded, 100)
    const hashes = messages.map((entry) => toHex(decodeWakuMessageKeyValue(entry).messageHash))
    return { statusCode, hashes }
  }

  // js-waku never leaves it out
  it('takes a pubsub topic beside the hashes, as one more condition', async () => {
    expect(await ask({ pubsubTopic: TOPIC })).to.deep.equal({
      statusCode: 200,
      hashes: [toHex(row.hash)]
    })
    expect(await ask({ pubsubTopic: `${TOPIC}1` })).to.deep.equal({ statusCode: 200, hashes: [] })
  })

  it('refuses a content topic or a time beside the hashes', async () => {
    for (const criteria of [
      { contentTopics: [CONTENT_TOPIC] },
      { timeStart: 0n },
      { timeEnd: NOW }
    ]) {
      expect(await ask({ pubsubTopic: TOPIC, ...criteria })).to.deep.equal({
        statusCode: 400,
        hashes: []
      })
    }
  })
})
