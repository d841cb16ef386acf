import { InvalidMessageError } from '../errors.ts'
import { DEFAULT_MAX_COUNT, readFields } from './fields.ts'
import {
  type HistoryRpc as EncodedHistoryRpc,
  type Index as EncodedIndex,
  HistoryRpcFields,
  IndexFields
} from './generated/store-beta4.ts'
import { unlessEmpty, writeFields } from './write-fields.ts'

/** Protocol id of store, the generation before store-query. */
export const STORE_BETA4_PROTOCOL = '/vac/waku/store/2.0.0-beta4'

/** `HistoryResponse.error` values of the specification. */
export const HISTORY_ERROR = { NONE: 0, INVALID_CURSOR: 1 } as const

/** A request for one page. */
export interface HistoryQuery {
  readonly requestId: string
  readonly pubsubTopic?: string
  readonly contentTopics: readonly string[]
  /** Nanoseconds, inclusive. */
  readonly startTime?: bigint
  /** Nanoseconds, inclusive. */
  readonly endTime?: bigint
  /** 0: the node decides. */
  readonly pageSize: bigint
  /** The encoded index that the node gave; exclusive. */
  readonly cursor?: Uint8Array<ArrayBuffer>
  readonly forward: boolean
}

/** One page. */
export interface HistoryResponse {
  readonly requestId: string
  /** Encoded WakuMessages. */
  readonly messages: readonly Uint8Array<ArrayBuffer>[]
  /** The encoded index to go on from. */
  readonly cursor?: Uint8Array<ArrayBuffer>
  /** 0 for none; values that no specification names are kept. */
  readonly error: number
}

/** A position in the order of (receiver time, digest). */
export interface HistoryIndex {
  /** SHA-256 over content topic and payload, 32 bytes. */
  readonly digest: Uint8Array<ArrayBuffer>
  /** Nanoseconds. */
  readonly receiverTime: bigint
  /** Nanoseconds. */
  readonly senderTime: bigint
  readonly pubsubTopic: string
}

const BACKWARD = 0
const FORWARD = 1

/** Encodes a request. Paging info with a direction is always written: its default differs from node to node. */
export function encodeHistoryQuery(query: HistoryQuery): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedHistoryRpc>(
    {
      requestId: query.requestId,
      query: {
        pubsubTopic: query.pubsubTopic || undefined,
        contentFilters: query.contentTopics.map((contentTopic) => ({ contentTopic })),
        pagingInfo: {
          pageSize: query.pageSize,
          cursor: query.cursor,
          direction: query.forward ? FORWARD : BACKWARD
        },
        startTime: query.startTime,
        endTime: query.endTime
      }
    },
    HistoryRpcFields
  )
}

/**
 * Decodes a request.
 *
 * @param bytes - the frame
 * @param maxContentTopics - largest number of content topics
 * @throws {@link InvalidMessageError} if it does not decode, or has no request id or query
 * @throws {@link LimitExceededError} for more content topics than `maxContentTopics`
 */
export function decodeHistoryQuery(
  bytes: Uint8Array,
  maxContentTopics = DEFAULT_MAX_COUNT
): HistoryQuery {
  const { requestId, query } = readFields<EncodedHistoryRpc>(
    bytes,
    HistoryRpcFields,
    maxContentTopics
  )
  if (requestId === undefined || query === undefined) {
    throw new InvalidMessageError(
      `history query has no ${requestId === undefined ? 'request id' : 'query'}`
    )
  }
  const { pubsubTopic, contentFilters, pagingInfo, startTime, endTime } = query
  return {
    requestId,
    pubsubTopic,
    contentTopics: contentFilters.map(({ contentTopic = '' }) => contentTopic),
    startTime,
    endTime,
    pageSize: pagingInfo?.pageSize ?? 0n,
    cursor: pagingInfo?.cursor,
    forward: pagingInfo?.direction === FORWARD
  }
}

/** Encodes a response as the reference node does: paging info only where there is a cursor, and the error always. */
export function encodeHistoryResponse({
  requestId,
  messages,
  cursor,
  error
}: HistoryResponse): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedHistoryRpc>(
    {
      requestId,
      response: {
        messages: [...messages],
        pagingInfo: cursor === undefined ? undefined : { cursor },
        error
      }
    },
    HistoryRpcFields
  )
}

/**
 * Decodes a response, messages excepted. A response that is absent altogether is an empty page, and an empty cursor is none:
 * old nodes leave out what has its default value.
 *
 * @param bytes - the frame
 * @param maxMessages - largest number of messages
 * @throws {@link InvalidMessageError} if it does not decode or is a query; an empty frame is how the reference node answers a
 * request that it could not read
 * @throws {@link LimitExceededError} for more messages than `maxMessages`
 */
export function decodeHistoryResponse(
  bytes: Uint8Array,
  maxMessages = DEFAULT_MAX_COUNT
): HistoryResponse {
  if (bytes.length === 0) {
    throw new InvalidMessageError('the node could not read the query')
  }
  const {
    requestId = '',
    query,
    response
  } = readFields<EncodedHistoryRpc>(bytes, HistoryRpcFields, maxMessages)
  if (response === undefined && query !== undefined) {
    throw new InvalidMessageError('history answer holds a query')
  }
  return {
    requestId,
    messages: response?.messages ?? [],
    cursor: unlessEmpty(response?.pagingInfo?.cursor),
    error: response?.error ?? HISTORY_ERROR.NONE
  }
}

/** Encodes an index; all four fields are always written, as the reference node requires. */
export function encodeHistoryIndex(index: HistoryIndex): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedIndex>(index, IndexFields)
}

/**
 * Decodes an index.
 *
 * @throws {@link InvalidMessageError} if it does not decode or has no digest
 */
export function decodeHistoryIndex(bytes: Uint8Array): HistoryIndex {
  const {
    digest,
    receiverTime = 0n,
    senderTime = 0n,
    pubsubTopic = ''
  } = readFields<EncodedIndex>(bytes, IndexFields)
  if (digest === undefined) {
    throw new InvalidMessageError('index has no digest')
  }
  return { digest, receiverTime, senderTime, pubsubTopic }
}
