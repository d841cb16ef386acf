import {
  decodeHistoryIndex,
  decodeHistoryQuery,
  encodeHistoryIndex,
  encodeHistoryResponse,
  HISTORY_ERROR,
  type HistoryQuery,
  type HistoryResponse,
  STORE_BETA4_PROTOCOL
} from 'waku-light/wire'
import type { ArchiveKey } from '../archive/order.ts'
import type { Page, PageReader } from '../archive/page-reader.ts'
import type { Logger } from '../logger.ts'
import { cursorDigest, readCursorDigest } from './legacy-cursor.ts'
import type { Answer, Service } from './service.ts'
import {
  MAX_CONTENT_TOPICS,
  MAX_STORE_REQUEST_BYTES,
  pageLimit,
  type StoreConfig
} from './store-config.ts'

// The reference node's own; the specification has none for these.
const TOO_MANY_REQUESTS = 429
const SERVICE_UNAVAILABLE = 503

/** Serves store 2.0.0-beta4, its pages ending as the reference node writes them: the last one has no paging info. */
export function storeBeta4(config: StoreConfig): Service {
  return {
    protocol: STORE_BETA4_PROTOCOL,
    maxRequestBytes: MAX_STORE_REQUEST_BYTES,
    rateLimits: config.rateLimits,
    refusal: encodeHistoryResponse(refuse('N/A', TOO_MANY_REQUESTS)),
    respond: (bytes, log) => answer(bytes, config, log)
  }
}

function answer(bytes: Uint8Array, config: StoreConfig, log: Logger): Answer {
  let query: HistoryQuery
  try {
    query = decodeHistoryQuery(bytes)
  } catch {
    // How the reference node says that it could not read the query.
    return { frame: new Uint8Array(), status: 'undecodable' }
  }
  const response = readPage(query, config, log)
  return { frame: encodeHistoryResponse(response), status: String(response.error) }
}

function readPage(query: HistoryQuery, config: StoreConfig, log: Logger): HistoryResponse {
  const { requestId, contentTopics, cursor } = query
  try {
    const after = cursor === undefined ? undefined : findCursor(cursor, config.pages)
    if (after === 'unknown' || contentTopics.length > MAX_CONTENT_TOPICS) {
      return refuse(requestId, HISTORY_ERROR.INVALID_CURSOR)
    }
    const page = config.pages.readPage({
      order: 'timestamp-digest',
      pubsubTopic: query.pubsubTopic || undefined,
      contentTopics,
      timeFrom: query.startTime,
      timeTo: query.endTime,
      after,
      forward: query.forward,
      limit: pageLimit(query.pageSize, config),
      includeData: true,
      maxBytes: config.maxPageBytes
    })
    const messages = page.rows.map(({ message }) => message as Uint8Array<ArrayBuffer>)
    return { requestId, messages, cursor: toCursor(page), error: HISTORY_ERROR.NONE }
  } catch (error) {
    log.error({ err: error }, 'history query failed')
    return refuse(requestId, SERVICE_UNAVAILABLE)
  }
}

function toCursor({ last, next }: Page): Uint8Array<ArrayBuffer> | undefined {
  if (last === undefined || next === undefined) {
    return undefined
  }
  const time = BigInt(last.time)
  const pubsubTopic = last.pubsubTopic ?? ''
  return encodeHistoryIndex({
    digest: cursorDigest(last, next),
    receiverTime: time,
    senderTime: time,
    pubsubTopic
  })
}

function findCursor(bytes: Uint8Array, pages: PageReader): ArchiveKey | 'unknown' {
  try {
    const { digest: cursor, receiverTime: time } = decodeHistoryIndex(bytes)
    const key = readCursorDigest(cursor)
    return key !== undefined && pages.hasTimestampDigest(time, key.digest)
      ? { time, ...key }
      : 'unknown'
  } catch {
    return 'unknown'
  }
}

function refuse(requestId: string, error: number): HistoryResponse {
  return { requestId, messages: [], error }
}
