import { ProtocolViolationError, RemoteStatusError } from '../errors.ts'
import {
  decodeHistoryResponse,
  encodeHistoryQuery,
  HISTORY_ERROR,
  STORE_BETA4_PROTOCOL
} from '../wire/store-beta4.ts'
import type { StoreGeneration } from './generation.ts'
import { isSame, legacyDigest } from './legacy.ts'

/** `HistoryResponse.error` has no text of its own. */
const ERROR_TEXTS: Readonly<Record<number, string>> = {
  [HISTORY_ERROR.INVALID_CURSOR]: 'INVALID_CURSOR (said of every bad query)',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE'
}

/**
 * Store 2.0.0-beta4, the generation before store-query. Its order is (stored time, digest); the stored time is the
 * message's own where it has one.
 *
 * @see 13/WAKU2-STORE
 */
export const STORE_BETA4: StoreGeneration = {
  protocol: STORE_BETA4_PROTOCOL,
  looksUpHashes: false,
  filtersByTime: true,
  strictOrder: false,
  encode: (query, requestId) =>
    encodeHistoryQuery({
      ...query,
      requestId,
      startTime: query.timeStart,
      endTime: query.timeEnd === undefined ? undefined : query.timeEnd - 1n, // inclusive here
      pageSize: BigInt(query.limit)
    }),
  decode(bytes, { query, requestId, peerId }) {
    const { error, messages, cursor, ...response } = decodeHistoryResponse(bytes, query.limit)
    if (error !== HISTORY_ERROR.NONE) {
      const statusDesc = ERROR_TEXTS[error] ?? ''
      throw new RemoteStatusError({ ...response, statusCode: error, statusDesc, peerId })
    }
    if (response.requestId !== requestId) {
      throw new ProtocolViolationError('request-id', 'the answer is to another request', peerId)
    }
    // An empty page may stand for an error at go-waku; old nodes repeat the cursor on the last page.
    if (messages.length > 0 && isSame(cursor, query.cursor)) {
      throw new ProtocolViolationError('cursor', 'the cursor does not move', peerId)
    }
    const isMore = messages.length > 0 && cursor !== undefined
    return {
      entries: messages.map((message) => ({ message, pubsubTopic: query.pubsubTopic })),
      cursor: isMore ? cursor : undefined,
      completeness: isMore ? 'more' : messages.length > 0 ? 'complete' : 'unverifiable'
    }
  },
  orderKey: (message) => ({ time: message.timestamp ?? 0n, tie: legacyDigest(message) })
}
