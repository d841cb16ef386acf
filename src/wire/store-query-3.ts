import { InvalidMessageError } from '../errors.ts'
import { readFields } from './fields.ts'
import {
  type StoreQueryRequest as EncodedStoreQueryRequest,
  type StoreQueryResponse as EncodedStoreQueryResponse,
  type WakuMessageKeyValue as EncodedWakuMessageKeyValue,
  StoreQueryRequestFields,
  StoreQueryResponseFields,
  WakuMessageKeyValueFields
} from './generated/store-query-3.ts'
import { unlessEmpty, writeFields } from './write-fields.ts'

/** Protocol id of store, current generation. */
export const STORE_QUERY_3_PROTOCOL = '/vac/waku/store-query/3.0.0'

/** A request for one page. */
export interface StoreQueryRequest {
  readonly requestId: string
  /** False: hashes only. */
  readonly includeData: boolean
  readonly pubsubTopic?: string
  readonly contentTopics: readonly string[]
  /** Nanoseconds, inclusive. */
  readonly timeStart?: bigint
  /** Nanoseconds; exclusive by the specification, inclusive at the reference node. */
  readonly timeEnd?: bigint
  /** 32 bytes each; not together with any filter. */
  readonly messageHashes: readonly Uint8Array<ArrayBuffer>[]
  /** 32 bytes; exclusive. */
  readonly paginationCursor?: Uint8Array<ArrayBuffer>
  readonly paginationForward: boolean
  readonly paginationLimit?: bigint
}

/** One page. */
export interface StoreQueryResponse {
  /** That of the request; empty or a placeholder (`N/A`) on errors. */
  readonly requestId: string
  /** 200 for success; 0 if the node sent none. */
  readonly statusCode: number
  readonly statusDesc?: string
  /** Encoded entries, for {@link decodeWakuMessageKeyValue}. */
  readonly messages: readonly Uint8Array<ArrayBuffer>[]
  /** 32 bytes; present exactly when more matches exist. */
  readonly paginationCursor?: Uint8Array<ArrayBuffer>
}

/** One entry of a page. */
export interface WakuMessageKeyValue {
  /** 32 bytes. */
  readonly messageHash: Uint8Array<ArrayBuffer>
  /** The encoded WakuMessage; absent where only hashes were asked for. */
  readonly message?: Uint8Array<ArrayBuffer>
  readonly pubsubTopic?: string
}

/** Encodes a request. Booleans are always written: an absent direction means backward. */
export function encodeStoreQueryRequest(request: StoreQueryRequest): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedStoreQueryRequest>(
    {
      ...request,
      pubsubTopic: request.pubsubTopic || undefined
    },
    StoreQueryRequestFields
  )
}

/**
 * Decodes a request.
 *
 * @param bytes - the frame
 * @param maxCount - largest number of content topics, and of hashes
 * @throws {@link InvalidMessageError} if it does not decode or has no request id
 * @throws {@link LimitExceededError} for more content topics or hashes than `maxCount`
 */
export function decodeStoreQueryRequest(bytes: Uint8Array, maxCount: number): StoreQueryRequest {
  const {
    requestId,
    includeData = false,
    paginationForward = false,
    ...rest
  } = readFields<EncodedStoreQueryRequest>(bytes, StoreQueryRequestFields, maxCount)
  if (requestId === undefined) {
    throw new InvalidMessageError('store query request has no request id')
  }
  return { requestId, includeData, paginationForward, ...rest }
}

/** Encodes a response. A description is always written, be it empty: the reference client refuses an answer without. */
export function encodeStoreQueryResponse(response: StoreQueryResponse): Uint8Array<ArrayBuffer> {
  const { statusDesc = '' } = response
  return writeFields<EncodedStoreQueryResponse>(
    { ...response, statusDesc },
    StoreQueryResponseFields
  )
}

/**
 * Decodes a response, entries excepted. An empty cursor is as good as none.
 *
 * @param bytes - the frame
 * @param maxMessages - largest number of entries
 * @throws {@link InvalidMessageError} if it does not decode
 * @throws {@link LimitExceededError} for more entries than `maxMessages`
 */
export function decodeStoreQueryResponse(
  bytes: Uint8Array,
  maxMessages: number
): StoreQueryResponse {
  const {
    requestId = '',
    statusCode = 0,
    paginationCursor,
    ...rest
  } = readFields<EncodedStoreQueryResponse>(bytes, StoreQueryResponseFields, maxMessages)
  return { requestId, statusCode, ...rest, paginationCursor: unlessEmpty(paginationCursor) }
}

/** Encodes one entry. */
export function encodeWakuMessageKeyValue(entry: WakuMessageKeyValue): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedWakuMessageKeyValue>(entry, WakuMessageKeyValueFields)
}

/**
 * Decodes one entry.
 *
 * @throws {@link InvalidMessageError} if it does not decode, or its hash is not 32 bytes long
 */
export function decodeWakuMessageKeyValue(bytes: Uint8Array): WakuMessageKeyValue {
  const { messageHash, message, pubsubTopic } = readFields<EncodedWakuMessageKeyValue>(
    bytes,
    WakuMessageKeyValueFields
  )
  if (messageHash?.length !== 32) {
    throw new InvalidMessageError(`message hash of ${messageHash?.length ?? 0} bytes`)
  }
  return { messageHash, message, pubsubTopic }
}
