import {
  decodeHistoryIndexBeta2,
  decodeHistoryQueryBeta2,
  encodeHistoryIndexBeta2,
  encodeHistoryResponseBeta2,
  type HistoryQueryBeta2,
  type HistoryResponseBeta2,
  STORE_BETA2_PROTOCOL
} from 'waku-light/wire'
import type { ArchiveKey } from '../archive/order.ts'
import type { PageReader, PageRow } from '../archive/page-reader.ts'
import { cursorDigest, readCursorDigest } from './legacy-cursor.ts'
import type { Service } from './service.ts'
import {
  MAX_CONTENT_TOPICS,
  MAX_STORE_REQUEST_BYTES,
  pageLimit,
  type StoreConfig
} from './store-config.ts'

// Without pagination the archive is read in runs of so many, until the node's limit in bytes is reached.
const RUN_LENGTH = 1000

/**
 * Serves store 2.0.0-beta2 as the specification of its time has it.
 *
 * It has no way to say that something went wrong: a query that does not decode, holds too many topics or an unknown cursor
 * has its stream reset. An empty page would say that history ends.
 */
export function storeBeta2(config: StoreConfig): Service {
  return {
    protocol: STORE_BETA2_PROTOCOL,
    maxRequestBytes: MAX_STORE_REQUEST_BYTES,
    rateLimits: config.rateLimits,
    respond(bytes) {
      const query = decodeHistoryQueryBeta2(bytes)
      const after = query.cursor === undefined ? undefined : findCursor(query.cursor, config.pages)
      if (query.pageSize < 0n || query.topics.length > MAX_CONTENT_TOPICS || after === 'unknown') {
        return undefined
      }
      return {
        frame: encodeHistoryResponseBeta2(readPage(query, after, config)),
        status: 'answered'
      }
    }
  }
}

function readPage(
  query: HistoryQueryBeta2,
  after: ArchiveKey | undefined,
  config: StoreConfig
): HistoryResponseBeta2 {
  const { requestId, forward } = query
  const { rows, last, next } = readRows(query, after, config)
  const messages = (forward ? rows : rows.reverse()).map(
    ({ message }) => message as Uint8Array<ArrayBuffer>
  )
  const cursor =
    last === undefined
      ? query.cursor
      : encodeHistoryIndexBeta2({
          digest: cursorDigest(last, next),
          receivedTime: Number(last.time)
        })
  return { requestId, messages, pagingInfo: { pageSize: BigInt(messages.length), forward, cursor } }
}

interface Rows {
  /** In walking direction. */
  readonly rows: PageRow[]
  readonly last?: PageRow
  readonly next?: ArchiveKey
}

function readRows(
  query: HistoryQueryBeta2,
  start: ArchiveKey | undefined,
  config: StoreConfig
): Rows {
  const { forward, pageSize, topics } = query
  const isUnpaged = pageSize === 0n
  const rows: PageRow[] = []
  let bytesLeft = config.maxPageBytes
  let after = start
  for (;;) {
    const page = config.pages.readPage({
      order: 'received-digest',
      contentTopics: topics,
      after,
      forward,
      limit: isUnpaged ? RUN_LENGTH : pageLimit(pageSize, config),
      includeData: true,
      maxBytes: bytesLeft
    })
    rows.push(...(forward ? page.rows : [...page.rows].reverse()))
    bytesLeft -= page.rows.reduce((sum, { message }) => sum + (message?.length ?? 0), 0)
    const wasCut = page.rows.length < RUN_LENGTH
    if (!isUnpaged || wasCut || page.next === undefined || bytesLeft <= 0) {
      return { rows, last: page.last ?? rows.at(-1), next: page.next }
    }
    after = page.last
  }
}

function findCursor(bytes: Uint8Array, pages: PageReader): ArchiveKey | 'unknown' {
  const { digest, receivedTime: time } = decodeHistoryIndexBeta2(bytes)
  const key = readCursorDigest(digest)
  return key !== undefined && pages.hasReceivedDigest(time, key.digest)
    ? { time, ...key }
    : 'unknown'
}
