import { MESSAGE_HASH_BYTES } from 'waku-light/message'
import {
  decodeStoreQueryRequest,
  encodeStoreQueryResponse,
  encodeWakuMessageKeyValue,
  STORE_QUERY_3_PROTOCOL,
  type StoreQueryRequest,
  type StoreQueryResponse
} from 'waku-light/wire'
import type { ArchiveKey } from '../archive/order.ts'
import type { PageRow } from '../archive/page-reader.ts'
import { errorMessage } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { decodeFailure } from './decode-failure.ts'
import type { Service } from './service.ts'
import {
  MAX_CONTENT_TOPICS,
  MAX_STORE_REQUEST_BYTES,
  pageLimit,
  type StoreConfig
} from './store-config.ts'

/** Largest number of hashes in a query. */
const MAX_MESSAGE_HASHES = 256

/** Serves store-query 3.0.0. */
export function storeQuery3(config: StoreConfig): Service {
  return {
    protocol: STORE_QUERY_3_PROTOCOL,
    maxRequestBytes: MAX_STORE_REQUEST_BYTES,
    rateLimits: config.rateLimits,
    refusal: encodeStoreQueryResponse(refuse('N/A', 429, 'TOO_MANY_REQUESTS')),
    respond(bytes, log) {
      const response = answer(bytes, config, log)
      return { frame: encodeStoreQueryResponse(response), status: String(response.statusCode) }
    }
  }
}

function answer(bytes: Uint8Array, config: StoreConfig, log: Logger): StoreQueryResponse {
  let request: StoreQueryRequest
  try {
    // A frame of this size holds fewer: counts are judged below, where the request's id is known.
    request = decodeStoreQueryRequest(bytes, MAX_STORE_REQUEST_BYTES)
  } catch (error) {
    return refuse('', 400, `decoding rpc failed: ${decodeFailure(error)}`)
  }
  const { requestId } = request
  const problem = findProblem(request)
  if (problem !== undefined) {
    return refuse(requestId, 400, `BAD_REQUEST: ${problem}`)
  }
  try {
    return readPage(request, config)
  } catch (error) {
    log.error({ err: error }, 'store query failed')
    return refuse(requestId, 500, `archive error: ${errorMessage(error)}`)
  }
}

/** What is wrong with the criteria, by the specification; undefined if nothing is. */
function findProblem(request: StoreQueryRequest): string | undefined {
  const { pubsubTopic, contentTopics, timeStart, timeEnd, messageHashes, paginationCursor } =
    request
  if (messageHashes.length > 0) {
    // Not so a pubsub topic, which js-waku sends with every look-up.
    if (contentTopics.length > 0 || timeStart !== undefined || timeEnd !== undefined) {
      return 'message hashes together with other criteria'
    }
    if (messageHashes.length > MAX_MESSAGE_HASHES) {
      return `more than ${MAX_MESSAGE_HASHES} message hashes`
    }
    if (messageHashes.some((hash) => hash.length !== MESSAGE_HASH_BYTES)) {
      return `a message hash is not ${MESSAGE_HASH_BYTES} bytes long`
    }
  }
  if (contentTopics.length > 0 && pubsubTopic === undefined) {
    return 'content topics without a pubsub topic'
  }
  if (contentTopics.length > MAX_CONTENT_TOPICS) {
    return 'too many content topics'
  }
  if (timeStart !== undefined && timeEnd !== undefined && timeStart > timeEnd) {
    return 'time_start after time_end'
  }
  if (paginationCursor !== undefined && paginationCursor.length !== MESSAGE_HASH_BYTES) {
    return `the cursor is not ${MESSAGE_HASH_BYTES} bytes long`
  }
  return undefined
}

function readPage(request: StoreQueryRequest, config: StoreConfig): StoreQueryResponse {
  const { requestId, includeData, paginationForward: forward, paginationCursor, timeEnd } = request
  let after: ArchiveKey | undefined
  if (paginationCursor !== undefined) {
    after = config.pages.findHash(paginationCursor)
    if (after === undefined) {
      return refuse(requestId, 300, 'BAD_RESPONSE: archive error: DRIVER_ERROR: cursor not found')
    }
  }
  const { rows, last, next } = config.pages.readPage({
    order: 'timestamp-hash',
    pubsubTopic: request.pubsubTopic,
    contentTopics: request.contentTopics,
    hashes: request.messageHashes.length === 0 ? undefined : request.messageHashes,
    timeFrom: request.timeStart,
    timeTo: timeEnd === undefined ? undefined : timeEnd - 1n, // exclusive on the wire
    after,
    forward,
    limit: pageLimit(request.paginationLimit ?? 0n, config),
    includeData,
    maxBytes: config.maxPageBytes
  })
  const messages = rows.map(encodeRow)
  const cursor = next === undefined ? undefined : last?.hash
  return {
    requestId,
    statusCode: 200,
    statusDesc: 'OK',
    messages,
    paginationCursor: cursor && Uint8Array.from(cursor)
  }
}

function encodeRow({ hash, message, pubsubTopic }: PageRow): Uint8Array<ArrayBuffer> {
  return encodeWakuMessageKeyValue({
    messageHash: hash as Uint8Array<ArrayBuffer>,
    message: message as Uint8Array<ArrayBuffer> | undefined,
    pubsubTopic
  })
}

function refuse(requestId: string, statusCode: number, statusDesc: string): StoreQueryResponse {
  return { requestId, statusCode, statusDesc, messages: [] }
}
