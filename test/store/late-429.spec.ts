import { expect } from 'chai'
import { StoreClient } from '../../src/store/index.ts'
import { encodeStoreQueryResponse } from '../../src/wire/index.ts'
import { Archive } from '../helpers/archive.ts'
import { collect } from '../helpers/collect.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer, CONTENT_TOPIC } from '../helpers/store-peers.ts'
import { caught } from '../transport/helpers/caught.ts'

describe('StoreClient, of nodes that have too many requests', () => {
  it('says so at once where there is no time for a pause', async () => {
    const busy = {
      ...archivePeer(new Archive(), 'busy'),
      answer: () => encodeStoreQueryResponse({ requestId: 'N/A', statusCode: 429, messages: [] })
    }
    const sleep = (): never => expect.fail('it waits')
    const client = new StoreClient(new FakePeers([busy]), { sleep })
    const query = client.query({ contentTopics: [CONTENT_TOPIC] }, { timeoutMs: 400 })
    const error = await caught(collect(query))
    expect(error).to.include({ code: 'ERR_INCOMPLETE_HISTORY' })
    expect(error.cause).to.include({ code: 'ERR_REMOTE_STATUS', statusCode: 429 })
  })

  it('waits for them three times in a look-up', async () => {
    let pauses = 0
    const busy = {
      ...archivePeer(new Archive(), 'busy'),
      answer: () => encodeStoreQueryResponse({ requestId: 'N/A', statusCode: 429, messages: [] })
    }
    const sleep = async (): Promise<void> => {
      expect(++pauses).to.be.at.most(3)
    }
    const client = new StoreClient(new FakePeers([busy]), { sleep })
    const error = await caught(client.has([new Uint8Array(32)]))
    expect(error).to.include({ code: 'ERR_REMOTE_STATUS', statusCode: 429 })
    expect(pauses).to.equal(3)
  })
})
