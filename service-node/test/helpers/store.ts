import { toHex } from 'waku-light/message'
import {
  decodeStoreQueryResponse,
  decodeWakuMessageKeyValue,
  encodeStoreQueryRequest,
  STORE_QUERY_3_PROTOCOL,
  type StoreQueryRequest,
  type StoreQueryResponse
} from 'waku-light/wire'
import type { Client } from './client.ts'

/** A store query with everything that is not given left out. */
export async function query(
  client: Client,
  address: string | undefined,
  request: Partial<StoreQueryRequest> = {}
): Promise<StoreQueryResponse & { hashes: string[] }> {
  const body = encodeStoreQueryRequest({
    requestId: 'q1',
    includeData: true,
    contentTopics: [],
    messageHashes: [],
    paginationForward: true,
    ...request
  })
  const answer = decodeStoreQueryResponse(
    await client.request(address, STORE_QUERY_3_PROTOCOL, body),
    10_000
  )
  return {
    ...answer,
    hashes: answer.messages.map((entry) => toHex(decodeWakuMessageKeyValue(entry).messageHash))
  }
}
