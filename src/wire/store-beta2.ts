import { InvalidMessageError } from '../errors.ts'
import { decodeChecked, type FieldTable } from './fields.ts'
import { HistoryRpc, Index as IndexCodec } from './generated/store-beta2.ts'

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

const INDEX_FIELDS: FieldTable = { 1: 'bytes', 2: 'fixed32' }
const PAGING_FIELDS: FieldTable = { 1: 'uint64', 2: 'bytes', 3: 'uint32' }
const FIELDS: FieldTable = {
  1: 'string',
  2: { 2: 'string', 3: PAGING_FIELDS },
  3: { 2: 'bytes', 3: PAGING_FIELDS }
}

interface EncodedPagingInfo {
  pageSize?: bigint
  cursor?: Uint8Array<ArrayBuffer>
  direction?: number
}

function toPagingInfo({ pageSize = 0n, cursor, direction = FORWARD }: EncodedPagingInfo): PagingInfoBeta2 {
  return { pageSize, cursor, forward: direction === FORWARD }
}

function fromPagingInfo({ pageSize, cursor, forward }: PagingInfoBeta2): EncodedPagingInfo {
  return { pageSize, cursor, direction: forward ? FORWARD : BACKWARD }
}

/** Encodes a request. */
export function encodeHistoryQueryBeta2(query: HistoryQueryBeta2): Uint8Array<ArrayBuffer> {
  const { requestId, topics } = query
  return HistoryRpc.encode({ requestId, query: { topics: [...topics], pagingInfo: fromPagingInfo(query) } })
}

/**
 * Decodes a request; without paging info it asks for everything, forward.
 *
 * @throws {@link InvalidMessageError} if it does not decode, or has no request id or query
 */
export function decodeHistoryQueryBeta2(bytes: Uint8Array): HistoryQueryBeta2 {
  const { requestId, query } = decodeChecked(HistoryRpc.decode, bytes, FIELDS)
  if (requestId === undefined || query === undefined) {
    throw new InvalidMessageError(`history query has no ${requestId === undefined ? 'request id' : 'query'}`)
  }
  return { requestId, topics: query.topics, ...toPagingInfo(query.pagingInfo ?? {}) }
}

/** Encodes a response. */
export function encodeHistoryResponseBeta2(response: HistoryResponseBeta2): Uint8Array<ArrayBuffer> {
  const { requestId, messages, pagingInfo } = response
  return HistoryRpc.encode({
    requestId,
    response: { messages: [...messages], pagingInfo: pagingInfo && fromPagingInfo(pagingInfo) }
  })
}

/**
 * Decodes a response, messages excepted.
 *
 * @throws {@link InvalidMessageError} if it does not decode or is no response
 */
export function decodeHistoryResponseBeta2(bytes: Uint8Array): HistoryResponseBeta2 {
  const { requestId = '', response } = decodeChecked(HistoryRpc.decode, bytes, FIELDS)
  if (response === undefined) {
    throw new InvalidMessageError('history answer holds no response')
  }
  return { requestId, messages: response.messages, pagingInfo: response.pagingInfo && toPagingInfo(response.pagingInfo) }
}

/** Encodes an index. */
export function encodeHistoryIndexBeta2(index: HistoryIndexBeta2): Uint8Array<ArrayBuffer> {
  return IndexCodec.encode(index)
}

/**
 * Decodes an index.
 *
 * @throws {@link InvalidMessageError} if it does not decode or has no digest
 */
export function decodeHistoryIndexBeta2(bytes: Uint8Array): HistoryIndexBeta2 {
  const { digest, receivedTime = 0 } = decodeChecked(IndexCodec.decode, bytes, INDEX_FIELDS)
  if (digest === undefined) {
    throw new InvalidMessageError('index has no digest')
  }
  return { digest, receivedTime }
}
