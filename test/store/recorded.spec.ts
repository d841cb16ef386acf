import { expect } from 'chai'
import { fromHex, toHex } from 'waku-light/message'
import { StoreClient } from 'waku-light/store'
import {
  decodeStoreQueryRequest,
  decodeStoreQueryResponse,
  decodeWakuMessageKeyValue,
  encodeStoreQueryResponse,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { FakePeers } from '../helpers/fake-peers.ts'
import { recorded } from '../wire/recorded.ts'

/** What follows the length of a frame. */
function contentOf(frame: string): Uint8Array<ArrayBuffer> {
  const bytes = fromHex(frame)
  return bytes.slice(bytes.findIndex((byte) => byte < 0x80) + 1)
}

describe('StoreClient.queryHashes, of what the reference node said', () => {
  for (const direction of ['forward', 'backward'] as const) {
    it(`asks as it was asked, and reads its page, ${direction}`, async () => {
      const id = `store3.page-limit-7-${direction === 'forward' ? 'fwd' : 'bwd'}`
      const entry = recorded('store3').find((one) => one.id === `nwaku ${id}`)
      const said = decodeStoreQueryResponse(contentOf(entry?.response ?? ''), 7)
      const asked = decodeStoreQueryRequest(contentOf(entry?.request ?? ''), 1)
      const peers = new FakePeers([
        {
          peerId: 'nwaku',
          protocols: [STORE_QUERY_3_PROTOCOL],
          answer: ({ bytes }) => {
            const { requestId } = decodeStoreQueryRequest(bytes, 1)
            return encodeStoreQueryResponse({ ...said, requestId })
          }
        }
      ])
      const { pubsubTopic, contentTopics } = asked
      const found: string[] = []
      for await (const { messageHash } of new StoreClient(peers).queryHashes(
        { pubsubTopic, contentTopics },
        { direction, pageLimit: 7 }
      )) {
        found.push(toHex(messageHash))
        if (found.length === 7) {
          break
        }
      }
      const [request] = peers.requests.map(({ bytes }) => decodeStoreQueryRequest(bytes, 1))
      expect({ ...request, requestId: asked.requestId }).to.deep.equal(asked)
      const named = said.messages.map((bytes) =>
        toHex(decodeWakuMessageKeyValue(bytes).messageHash)
      )
      expect(found).to.deep.equal(direction === 'forward' ? named : named.reverse())
      expect(found.at(-1)).to.equal(toHex(said.paginationCursor ?? new Uint8Array()))
    })
  }
})
