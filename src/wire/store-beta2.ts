import { InvalidMessageError } from '../errors.ts'
import { DEFAULT_MAX_COUNT, readFields } from './fields.ts'
import {
  type HistoryRpc as EncodedHistoryRpc,
  type Index as EncodedIndex,
  HistoryRpcFields,
  IndexFields
} from './generated/store-beta2.ts'
import { unlessEmpty, writeFields } from './write-fields.ts'

/** Protocol id of store, first generation with pagination. */
export const STORE_BETA2_PROTOCOL = '/vac/waku/store/2.0.0-beta2'

/** What both directions say of a page. */
export interface PagingInfoBeta2 {
  /** Asked: 0 for no pagination. Answered: how many messages the page holds. */
  readonly pageSize: bigint
  /** The encoded index; exclusive. */
  readonly cursor?: Uint8Array<ArrayBuffer>
  readonly forward: boolean
}

/** A request for one page. */
export interface HistoryQueryBeta2 extends PagingInfoBeta2 {
  readonly requestId: string
  /** Content topics; this generation knows no others. */
  readonly topics: readonly string[]
}

/** One page. */
export interface HistoryResponseBeta2 {
  readonly requestId: string
  /** Encoded WakuMessages. */
  readonly messages: readonly Uint8Array<ArrayBuffer>[]
  readonly pagingInfo?: PagingInfoBeta2
}

/** A position in the order of (received time, digest). */
export interface HistoryIndexBeta2 {
  /** SHA-256 over content topic and payload, 32 bytes. */
  readonly digest: Uint8Array<ArrayBuffer>
  /** Seconds since the Unix epoch, as a 32-bit float: today exact to 128 seconds. */
  readonly receivedTime: number
}

const FORWARD = 0
const BACKWARD = 1

interface EncodedPagingInfo {
  pageSize?: bigint
  cursor?: Uint8Array<ArrayBuffer>
  direction?: number
}

function toPagingInfo({
  pageSize = 0n,
  cursor,
  direction = FORWARD
}: EncodedPagingInfo): PagingInfoBeta2 {
  if (pageSize < 0n) {
    throw new InvalidMessageError(`page size ${pageSize}`)
  }
  return { pageSize, cursor: unlessEmpty(cursor), forward: direction === FORWARD }
}

function fromPagingInfo({ pageSize, cursor, forward }: PagingInfoBeta2): EncodedPagingInfo {
  return { pageSize: pageSize, cursor, direction: forward ? FORWARD : BACKWARD }
}

/** Encodes a request. */
export function encodeHistoryQueryBeta2(query: HistoryQueryBeta2): Uint8Array<ArrayBuffer> {
  const { requestId, topics } = query
  return writeFields<EncodedHistoryRpc>(
    {
      requestId,
      query: { topics: [...topics], pagingInfo: fromPagingInfo(query) }
    },
    HistoryRpcFields
  )
}

/**
 * Decodes a request; without paging info it asks for everything, forward.
 *
 * @param bytes - the frame
 * @param maxTopics - largest number of topics
 * @throws {@link InvalidMessageError} if it does not decode, has no request id or query, or a negative page size
 * @throws {@link LimitExceededError} for more topics than `maxTopics`
 */
export function decodeHistoryQueryBeta2(
  bytes: Uint8Array,
  maxTopics = DEFAULT_MAX_COUNT
): HistoryQueryBeta2 {
  const { requestId, query } = readFields<EncodedHistoryRpc>(bytes, HistoryRpcFields, maxTopics)
  if (requestId === undefined || query === undefined) {
    throw new InvalidMessageError(
      `history query has no ${requestId === undefined ? 'request id' : 'query'}`
    )
  }
  return { requestId, topics: query.topics, ...toPagingInfo(query.pagingInfo ?? {}) }
}

/** Encodes a response. */
export function encodeHistoryResponseBeta2(
  response: HistoryResponseBeta2
): Uint8Array<ArrayBuffer> {
  const { requestId, messages, pagingInfo } = response
  return writeFields<EncodedHistoryRpc>(
    {
      requestId,
      response: { messages: [...messages], pagingInfo: pagingInfo && fromPagingInfo(pagingInfo) }
    },
    HistoryRpcFields
  )
}

/**
 * Decodes a response, messages excepted.
 *
 * @param bytes - the frame
 * @param maxMessages - largest number of messages
 * @throws {@link InvalidMessageError} if it does not decode, is no response, or has a negative page size
 * @throws {@link LimitExceededError} for more messages than `maxMessages`
 */
export function decodeHistoryResponseBeta2(
  bytes: Uint8Array,
  maxMessages = DEFAULT_MAX_COUNT
): HistoryResponseBeta2 {
  const { requestId = '', response } = readFields<EncodedHistoryRpc>(
    bytes,
    HistoryRpcFields,
    maxMessages
  )
  if (response === undefined) {
    throw new InvalidMessageError('history answer holds no response')
  }
  return {
    requestId,
    messages: response.messages,
    pagingInfo: response.pagingInfo && toPagingInfo(response.pagingInfo)
  }
}

/** Encodes an index. */
export function encodeHistoryIndexBeta2(index: HistoryIndexBeta2): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedIndex>(index, IndexFields)
}

/**
 * Decodes an index.
 *
 * @throws {@link InvalidMessageError} if it does not decode, has no digest, or its time is no number
 */
export function decodeHistoryIndexBeta2(bytes: Uint8Array): HistoryIndexBeta2 {
  const { digest, receivedTime = 0 } = readFields<EncodedIndex>(bytes, IndexFields)
  if (digest === undefined) {
    throw new InvalidMessageError('index has no digest')
  }
  if (!Number.isFinite(receivedTime)) {
    throw new InvalidMessageError('received time is not finite')
  }
  return { digest, receivedTime }
}
