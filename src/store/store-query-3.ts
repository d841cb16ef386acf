import { InvalidMessageError, ProtocolViolationError, RemoteStatusError } from '../errors.ts'
import {
  decodeStoreQueryResponse,
  decodeWakuMessageKeyValue,
  encodeStoreQueryRequest,
  STORE_QUERY_3_PROTOCOL
} from '../wire/store-query-3.ts'
import type { RawEntry, StoreGeneration } from './generation.ts'

/**
 * Store-query 3.0.0, the current generation. Its order is (timestamp, message hash).
 *
 * @see 13/WAKU2-STORE
 */
export const STORE_QUERY_3: StoreGeneration = {
  protocol: STORE_QUERY_3_PROTOCOL,
  looksUpHashes: true,
  filtersByTime: true,
  strictOrder: true,
  encode: (query, requestId) =>
    encodeStoreQueryRequest({
      ...query,
      requestId,
      paginationCursor: query.cursor,
      paginationForward: query.forward,
      paginationLimit: BigInt(query.limit)
    }),
  decode(bytes, { query, requestId, peerId }) {
    const {
      messages,
      paginationCursor: cursor,
      statusDesc = '',
      ...response
    } = decodeStoreQueryResponse(bytes, query.limit)
    const { statusCode } = response
    // The status comes first: on errors the reference node leaves the id empty.
    if (statusCode < 200 || statusCode > 299) {
      throw new RemoteStatusError({ ...response, statusDesc, peerId })
    }
    if (response.requestId !== requestId) {
      throw new ProtocolViolationError('request-id', 'the answer is to another request', peerId)
    }
    if (cursor !== undefined && cursor.length !== 32) {
      throw new ProtocolViolationError('cursor', `cursor of ${cursor.length} bytes`, peerId)
    }
    return {
      entries: messages.map(toEntry),
      cursor,
      completeness: cursor === undefined ? 'complete' : 'more'
    }
  },
  orderKey: (message, messageHash) => ({ time: message.timestamp ?? 0n, tie: messageHash })
}

function toEntry(bytes: Uint8Array): RawEntry {
  try {
    return decodeWakuMessageKeyValue(bytes)
  } catch (error) {
    if (error instanceof InvalidMessageError) {
      return { error }
    }
    throw error
  }
}
