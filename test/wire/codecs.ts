// Every codec of the wire room beside its twin: a schema, what the twin's object means, and values to try.
import fc, { type Arbitrary } from 'fast-check'
import {
  decodeHistoryIndex,
  decodeHistoryIndexBeta2,
  decodeHistoryQuery,
  decodeHistoryQueryBeta2,
  decodeHistoryResponse,
  decodeHistoryResponseBeta2,
  decodeLegacyPushRequest,
  decodeLegacyPushResponse,
  decodeLightPushRequest,
  decodeLightPushResponse,
  decodeMetadata,
  decodeStoreQueryRequest,
  decodeStoreQueryResponse,
  decodeWakuMessage,
  decodeWakuMessageKeyValue,
  encodeHistoryIndex,
  encodeHistoryIndexBeta2,
  encodeHistoryQuery,
  encodeHistoryQueryBeta2,
  encodeHistoryResponse,
  encodeHistoryResponseBeta2,
  encodeLegacyPushRequest,
  encodeLegacyPushResponse,
  encodeLightPushRequest,
  encodeLightPushResponse,
  encodeMetadata,
  encodeStoreQueryRequest,
  encodeStoreQueryResponse,
  encodeWakuMessage,
  encodeWakuMessageKeyValue
} from 'waku-light/wire'
import { readFields, TwinError, type TwinSchema, twinDecode } from './twin.ts'

/** Bound of repeated fields for all codecs under test. */
const MAX_COUNT = 5

export interface CodecCase<T = unknown> {
  /** Of the decoder. */
  readonly name: string
  readonly encode: (value: T) => Uint8Array<ArrayBuffer>
  readonly decode: (bytes: Uint8Array) => T
  readonly schema: TwinSchema
  /** What decode returns, by way of the twin; throws a TwinError where decode must refuse. */
  readonly twin: (bytes: Uint8Array) => unknown
  /** Values that survive a round trip. */
  readonly values: Arbitrary<T>
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const filled = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const bytes = (constraints: { minLength?: number; maxLength?: number } = { maxLength: 40 }) =>
  fc.uint8Array(constraints).map((array) => new Uint8Array(array))
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const pageSize = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })
const uint32 = fc.nat({ max: 0xffffffff })
const hash = bytes({ minLength: 32, maxLength: 32 })
const list = <T>(item: Arbitrary<T>) => fc.array(item, { maxLength: MAX_COUNT })
const optional = <T>(item: Arbitrary<T>) => fc.option(item, { nil: undefined })

function need(...values: unknown[]): void {
  if (values.includes(undefined)) {
    throw new TwinError('a required field is absent')
  }
}

function within(...lists: readonly unknown[][]): void {
  if (lists.some(({ length }) => length > MAX_COUNT)) {
    throw new TwinError('too many')
  }
}

const some = (value: Uint8Array | undefined) => (value?.length === 0 ? undefined : value)

function codec<T>(init: CodecCase<T>): CodecCase {
  return init as unknown as CodecCase
}

const messageSchema: TwinSchema = {
  payload: [1, 'bytes'],
  contentTopic: [2, 'string'],
  version: [3, 'uint32'],
  timestamp: [10, 'sint64'],
  meta: [11, 'bytes'],
  rateLimitProof: [21, 'bytes'],
  ephemeral: [31, 'bool']
}

const push3Request: TwinSchema = {
  requestId: [1, 'string'],
  pubsubTopic: [20, 'string'],
  message: [21, 'bytes']
}

const push3Response: TwinSchema = {
  requestId: [1, 'string'],
  statusCode: [10, 'uint32'],
  statusDesc: [11, 'string'],
  relayPeerCount: [12, 'uint32']
}

const push2: TwinSchema = {
  requestId: [1, 'string'],
  request: [2, { message: { pubsubTopic: [1, 'string'], message: [2, 'bytes'] } }],
  response: [3, { message: { isSuccess: [1, 'bool'], info: [2, 'string'] } }]
}

const query3Request: TwinSchema = {
  requestId: [1, 'string'],
  includeData: [2, 'bool'],
  pubsubTopic: [10, 'string'],
  contentTopics: [11, { repeated: 'string' }],
  timeStart: [12, 'sint64'],
  timeEnd: [13, 'sint64'],
  messageHashes: [20, { repeated: 'bytes' }],
  paginationCursor: [51, 'bytes'],
  paginationForward: [52, 'bool'],
  paginationLimit: [53, 'uint64']
}

const query3Response: TwinSchema = {
  requestId: [1, 'string'],
  statusCode: [10, 'uint32'],
  statusDesc: [11, 'string'],
  messages: [20, { repeated: 'bytes' }],
  paginationCursor: [51, 'bytes']
}

const entry: TwinSchema = {
  messageHash: [1, 'bytes'],
  message: [2, 'bytes'],
  pubsubTopic: [3, 'string']
}

const paging4: TwinSchema = {
  pageSize: [1, 'uint64'],
  cursor: [2, 'bytes'],
  direction: [3, 'uint32']
}

const history4: TwinSchema = {
  requestId: [1, 'string'],
  query: [
    2,
    {
      message: {
        pubsubTopic: [2, 'string'],
        contentFilters: [3, { repeated: { message: { contentTopic: [1, 'string'] } } }],
        pagingInfo: [4, { message: paging4 }],
        startTime: [5, 'sint64'],
        endTime: [6, 'sint64']
      }
    }
  ],
  response: [
    3,
    {
      message: {
        messages: [2, { repeated: 'bytes' }],
        pagingInfo: [3, { message: paging4 }],
        error: [4, 'uint32']
      }
    }
  ]
}

const index4: TwinSchema = {
  digest: [1, 'bytes'],
  receiverTime: [2, 'sint64'],
  senderTime: [3, 'sint64'],
  pubsubTopic: [4, 'string']
}

const paging2: TwinSchema = {
  pageSize: [1, 'int64'],
  cursor: [2, 'bytes'],
  direction: [3, 'uint32']
}

const history2: TwinSchema = {
  requestId: [1, 'string'],
  query: [
    2,
    { message: { topics: [2, { repeated: 'string' }], pagingInfo: [3, { message: paging2 }] } }
  ],
  response: [
    3,
    { message: { messages: [2, { repeated: 'bytes' }], pagingInfo: [3, { message: paging2 }] } }
  ]
}

const index2: TwinSchema = { digest: [1, 'bytes'], receivedTime: [2, 'float'] }

function toPagingInfo2(info: {
  pageSize?: bigint
  cursor?: Uint8Array
  direction?: number
}): object {
  const { pageSize: size = 0n, cursor, direction = 0 } = info
  if (size < 0n) {
    throw new TwinError('negative page size')
  }
  return { pageSize: size, cursor: some(cursor), forward: direction === 0 }
}

/** All occurrences count, also of the part that the other direction uses. */
function withinHistory(data: Uint8Array, part: number, field: number): void {
  for (const { fieldNumber, wireType, bytes: body } of readFields(data)) {
    if (fieldNumber === part && wireType === 2) {
      within(
        readFields(body).filter((inner) => inner.fieldNumber === field && inner.wireType === 2)
      )
    }
  }
}

export const CODECS: readonly CodecCase[] = [
  codec({
    name: 'decodeWakuMessage',
    encode: encodeWakuMessage,
    decode: decodeWakuMessage,
    schema: messageSchema,
    twin: (data) => {
      const { version, meta, rateLimitProof, ephemeral, ...rest } = twinDecode(messageSchema, data)
      need(rest.payload, rest.contentTopic)
      if (meta?.length > 64) {
        throw new TwinError('meta')
      }
      return {
        ...rest,
        version: version || undefined,
        meta: some(meta),
        rateLimitProof: some(rateLimitProof),
        ephemeral: ephemeral || undefined
      }
    },
    values: fc.record({
      payload: bytes(),
      contentTopic: text,
      version: optional(fc.integer({ min: 1, max: 0xffffffff })),
      timestamp: optional(int64),
      meta: optional(bytes({ minLength: 1, maxLength: 64 })),
      rateLimitProof: optional(bytes({ minLength: 1, maxLength: 40 })),
      ephemeral: optional(fc.constant(true))
    })
  }),
  codec({
    name: 'decodeLightPushRequest',
    encode: encodeLightPushRequest,
    decode: decodeLightPushRequest,
    schema: push3Request,
    twin: (data) => {
      const request = twinDecode(push3Request, data)
      need(request.requestId, request.message)
      return request
    },
    values: fc.record({ requestId: text, pubsubTopic: optional(filled), message: bytes() })
  }),
  codec({
    name: 'decodeLightPushResponse',
    encode: encodeLightPushResponse,
    decode: decodeLightPushResponse,
    schema: push3Response,
    twin: (data) => ({ requestId: '', statusCode: 0, ...twinDecode(push3Response, data) }),
    values: fc.record({
      requestId: text,
      statusCode: uint32,
      statusDesc: optional(filled),
      relayPeerCount: optional(uint32)
    })
  }),
  codec({
    name: 'decodeLegacyPushRequest',
    encode: encodeLegacyPushRequest,
    decode: decodeLegacyPushRequest,
    schema: push2,
    twin: (data) => {
      const { requestId, request } = twinDecode(push2, data)
      need(requestId, request?.pubsubTopic, request?.message)
      return { requestId, ...request }
    },
    values: fc.record({ requestId: text, pubsubTopic: text, message: bytes() })
  }),
  codec({
    name: 'decodeLegacyPushResponse',
    encode: encodeLegacyPushResponse,
    decode: decodeLegacyPushResponse,
    schema: push2,
    twin: (data) => {
      const { requestId = '', response } = twinDecode(push2, data)
      need(response)
      return { requestId, isSuccess: false, ...response }
    },
    values: fc.record({ requestId: text, isSuccess: fc.boolean(), info: optional(filled) })
  }),
  codec({
    name: 'decodeStoreQueryRequest',
    encode: encodeStoreQueryRequest,
    decode: (data) => decodeStoreQueryRequest(data, MAX_COUNT),
    schema: query3Request,
    twin: (data) => {
      const request = {
        includeData: false,
        paginationForward: false,
        ...twinDecode(query3Request, data)
      }
      need(request.requestId)
      within(request.contentTopics, request.messageHashes)
      return request
    },
    values: fc.record({
      requestId: text,
      includeData: fc.boolean(),
      pubsubTopic: optional(filled),
      contentTopics: list(text),
      timeStart: optional(int64),
      timeEnd: optional(int64),
      messageHashes: list(bytes()),
      paginationCursor: optional(bytes()),
      paginationForward: fc.boolean(),
      paginationLimit: optional(uint64)
    })
  }),
  codec({
    name: 'decodeStoreQueryResponse',
    encode: encodeStoreQueryResponse,
    decode: (data) => decodeStoreQueryResponse(data, MAX_COUNT),
    schema: query3Response,
    twin: (data) => {
      const response = { requestId: '', statusCode: 0, ...twinDecode(query3Response, data) }
      within(response.messages)
      return { ...response, paginationCursor: some(response.paginationCursor) }
    },
    values: fc.record({
      requestId: text,
      statusCode: uint32,
      statusDesc: text,
      messages: list(bytes()),
      paginationCursor: optional(hash)
    })
  }),
  codec({
    name: 'decodeWakuMessageKeyValue',
    encode: encodeWakuMessageKeyValue,
    decode: decodeWakuMessageKeyValue,
    schema: entry,
    twin: (data) => {
      const value = twinDecode(entry, data)
      if (value.messageHash?.length !== 32) {
        throw new TwinError('message hash')
      }
      return value
    },
    values: fc.record({
      messageHash: hash,
      message: optional(bytes()),
      pubsubTopic: optional(text)
    })
  }),
  codec({
    name: 'decodeHistoryQuery',
    encode: encodeHistoryQuery,
    decode: (data) => decodeHistoryQuery(data, MAX_COUNT),
    schema: history4,
    twin: (data) => {
      const { requestId, query } = twinDecode(history4, data)
      withinHistory(data, 2, 3)
      withinHistory(data, 3, 2)
      need(requestId, query)
      return {
        requestId,
        pubsubTopic: query.pubsubTopic,
        contentTopics: query.contentFilters.map(
          (filter: { contentTopic?: string }) => filter.contentTopic ?? ''
        ),
        startTime: query.startTime,
        endTime: query.endTime,
        pageSize: query.pagingInfo?.pageSize ?? 0n,
        cursor: query.pagingInfo?.cursor,
        forward: query.pagingInfo?.direction === 1
      }
    },
    values: fc.record({
      requestId: text,
      pubsubTopic: optional(filled),
      contentTopics: list(text),
      startTime: optional(int64),
      endTime: optional(int64),
      pageSize: uint64,
      cursor: optional(bytes()),
      forward: fc.boolean()
    })
  }),
  codec({
    name: 'decodeHistoryResponse',
    encode: encodeHistoryResponse,
    decode: (data) => decodeHistoryResponse(data, MAX_COUNT),
    schema: history4,
    twin: (data) => {
      const { requestId = '', query, response } = twinDecode(history4, data)
      withinHistory(data, 2, 3)
      withinHistory(data, 3, 2)
      if (data.length === 0 || (response === undefined && query !== undefined)) {
        throw new TwinError('no response')
      }
      const { messages = [], pagingInfo, error = 0 } = response ?? {}
      return { requestId, messages, cursor: some(pagingInfo?.cursor), error }
    },
    values: fc.record({
      requestId: text,
      messages: list(bytes()),
      cursor: optional(bytes({ minLength: 1, maxLength: 40 })),
      error: uint32
    })
  }),
  codec({
    name: 'decodeHistoryIndex',
    encode: encodeHistoryIndex,
    decode: decodeHistoryIndex,
    schema: index4,
    twin: (data) => {
      const index = {
        receiverTime: 0n,
        senderTime: 0n,
        pubsubTopic: '',
        ...twinDecode(index4, data)
      }
      need(index.digest)
      return index
    },
    values: fc.record({
      digest: bytes(),
      receiverTime: int64,
      senderTime: int64,
      pubsubTopic: text
    })
  }),
  codec({
    name: 'decodeHistoryQueryBeta2',
    encode: encodeHistoryQueryBeta2,
    decode: (data) => decodeHistoryQueryBeta2(data, MAX_COUNT),
    schema: history2,
    twin: (data) => {
      const { requestId, query } = twinDecode(history2, data)
      withinHistory(data, 2, 2)
      withinHistory(data, 3, 2)
      need(requestId, query)
      return { requestId, topics: query.topics, ...toPagingInfo2(query.pagingInfo ?? {}) }
    },
    values: fc.record({
      requestId: text,
      topics: list(text),
      pageSize,
      cursor: optional(bytes({ minLength: 1, maxLength: 40 })),
      forward: fc.boolean()
    })
  }),
  codec({
    name: 'decodeHistoryResponseBeta2',
    encode: encodeHistoryResponseBeta2,
    decode: (data) => decodeHistoryResponseBeta2(data, MAX_COUNT),
    schema: history2,
    twin: (data) => {
      const { requestId = '', response } = twinDecode(history2, data)
      withinHistory(data, 2, 2)
      withinHistory(data, 3, 2)
      need(response)
      const { messages, pagingInfo } = response
      return { requestId, messages, pagingInfo: pagingInfo && toPagingInfo2(pagingInfo) }
    },
    values: fc.record({
      requestId: text,
      messages: list(bytes()),
      pagingInfo: optional(
        fc.record({
          pageSize,
          cursor: optional(bytes({ minLength: 1, maxLength: 40 })),
          forward: fc.boolean()
        })
      )
    })
  }),
  codec({
    name: 'decodeHistoryIndexBeta2',
    encode: encodeHistoryIndexBeta2,
    decode: decodeHistoryIndexBeta2,
    schema: index2,
    twin: (data) => {
      const { digest, receivedTime = 0 } = twinDecode(index2, data)
      need(digest)
      if (!Number.isFinite(receivedTime)) {
        throw new TwinError('time')
      }
      return { digest, receivedTime }
    },
    values: fc.record({
      digest: bytes(),
      receivedTime: fc.float({ noNaN: true, noDefaultInfinity: true })
    })
  }),
  codec({
    name: 'decodeMetadata',
    encode: encodeMetadata,
    decode: decodeMetadata,
    schema: { clusterId: [1, 'uint32'] },
    twin: (data) => {
      const { clusterId } = twinDecode({ clusterId: [1, 'uint32'] }, data)
      const shardsOf = (number: number) =>
        readFields(data)
          .filter(({ fieldNumber }) => fieldNumber === number)
          .flatMap((field) => {
            if (field.wireType === 0) {
              return [field.number]
            }
            return field.wireType === 2 ? readPacked(field.bytes) : []
          })
      const [older, newer] = [shardsOf(2), shardsOf(3)]
      if (data.length > 1024 || [...older, ...newer].some((shard) => shard >= 2n ** 32n)) {
        throw new TwinError('shard')
      }
      const stated = newer.length > 0 ? newer : older
      return { clusterId, shards: [...new Set(stated.map(Number))].sort((a, b) => a - b) }
    },
    values: fc.record({
      clusterId: optional(uint32),
      shards: list(uint32).map((shards) => [...new Set(shards)].sort((a, b) => a - b))
    })
  })
]

/** The numbers of a packed field: each one alone, behind a tag, is a message. */
function readPacked(packed: Uint8Array): bigint[] {
  const numbers: bigint[] = []
  let rest = [...packed]
  while (rest.length > 0) {
    const length = rest.findIndex((byte) => byte < 128) + 1 || rest.length
    numbers.push(
      ...readFields(Uint8Array.from([8, ...rest.slice(0, length)])).map(({ number }) => number)
    )
    rest = rest.slice(length)
  }
  return numbers
}
