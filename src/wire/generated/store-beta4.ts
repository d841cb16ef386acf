// Generated from protos/store-beta4.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, MaxLengthError, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'

function unused (): never {
  throw new Error('this direction is not in use')
}

export interface HistoryRpc {
  requestId?: string
  query?: HistoryQuery
  response?: HistoryResponse
}

let _historyRpcWriter: Codec<HistoryRpc> | undefined

function historyRpcWriter (): Codec<HistoryRpc> {
  _historyRpcWriter ??= message<HistoryRpc>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.requestId != null) {
      w.uint32(10)
      w.string(obj.requestId)
    }

    if (obj.query != null) {
      w.uint32(18)
      historyQueryWriter().encode(obj.query, w)
    }

    if (obj.response != null) {
      w.uint32(26)
      historyResponseWriter().encode(obj.response, w)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _historyRpcWriter
}

export function writeHistoryRpc (obj: Partial<HistoryRpc>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, historyRpcWriter())
}

let _historyRpcReader: Codec<HistoryRpc> | undefined

function historyRpcReader (): Codec<HistoryRpc> {
  _historyRpcReader ??= message<HistoryRpc>(unused, (reader, length, opts = {}) => {
    const obj: any = {}

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 1: {
          obj.requestId = reader.string()
          break
        }
        case 2: {
          obj.query = historyQueryReader().decode(reader, reader.uint32(), {
            limits: opts.limits?.query
          })
          break
        }
        case 3: {
          obj.response = historyResponseReader().decode(reader, reader.uint32(), {
            limits: opts.limits?.response
          })
          break
        }
        default: {
          reader.skipType(tag & 7)
          break
        }
      }
    }

    return obj
  }, unused)
  return _historyRpcReader
}

export function readHistoryRpc (buf: Uint8Array, opts?: DecodeOptions<HistoryRpc>): HistoryRpc {
  return decodeMessage(buf, historyRpcReader(), opts)
}

export interface HistoryQuery {
  pubsubTopic?: string
  contentFilters: ContentFilter[]
  pagingInfo?: PagingInfo
  startTime?: bigint
  endTime?: bigint
}

let _historyQueryWriter: Codec<HistoryQuery> | undefined

function historyQueryWriter (): Codec<HistoryQuery> {
  _historyQueryWriter ??= message<HistoryQuery>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.pubsubTopic != null) {
      w.uint32(18)
      w.string(obj.pubsubTopic)
    }

    if (obj.contentFilters != null && obj.contentFilters.length > 0) {
      for (const value of obj.contentFilters) {
        w.uint32(26)
        contentFilterWriter().encode(value, w)
      }
    }

    if (obj.pagingInfo != null) {
      w.uint32(34)
      pagingInfoWriter().encode(obj.pagingInfo, w)
    }

    if (obj.startTime != null) {
      w.uint32(40)
      w.sint64(obj.startTime)
    }

    if (obj.endTime != null) {
      w.uint32(48)
      w.sint64(obj.endTime)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _historyQueryWriter
}

export function writeHistoryQuery (obj: Partial<HistoryQuery>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, historyQueryWriter())
}

let _historyQueryReader: Codec<HistoryQuery> | undefined

function historyQueryReader (): Codec<HistoryQuery> {
  _historyQueryReader ??= message<HistoryQuery>(unused, (reader, length, opts = {}) => {
    const obj: any = {
      contentFilters: []
    }

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 2: {
          obj.pubsubTopic = reader.string()
          break
        }
        case 3: {
          if (opts.limits?.contentFilters != null && obj.contentFilters.length === opts.limits.contentFilters) {
            throw new MaxLengthError('Decode error - repeated field "contentFilters" had too many elements')
          }

          obj.contentFilters.push(contentFilterReader().decode(reader, reader.uint32(), {
            limits: opts.limits?.contentFilters$
          }))
          break
        }
        case 4: {
          obj.pagingInfo = pagingInfoReader().decode(reader, reader.uint32(), {
            limits: opts.limits?.pagingInfo
          })
          break
        }
        case 5: {
          obj.startTime = reader.sint64()
          break
        }
        case 6: {
          obj.endTime = reader.sint64()
          break
        }
        default: {
          reader.skipType(tag & 7)
          break
        }
      }
    }

    return obj
  }, unused)
  return _historyQueryReader
}

export function readHistoryQuery (buf: Uint8Array, opts?: DecodeOptions<HistoryQuery>): HistoryQuery {
  return decodeMessage(buf, historyQueryReader(), opts)
}

export interface ContentFilter {
  contentTopic?: string
}

let _contentFilterWriter: Codec<ContentFilter> | undefined

function contentFilterWriter (): Codec<ContentFilter> {
  _contentFilterWriter ??= message<ContentFilter>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.contentTopic != null) {
      w.uint32(10)
      w.string(obj.contentTopic)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _contentFilterWriter
}

export function writeContentFilter (obj: Partial<ContentFilter>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, contentFilterWriter())
}

let _contentFilterReader: Codec<ContentFilter> | undefined

function contentFilterReader (): Codec<ContentFilter> {
  _contentFilterReader ??= message<ContentFilter>(unused, (reader, length, opts = {}) => {
    const obj: any = {}

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 1: {
          obj.contentTopic = reader.string()
          break
        }
        default: {
          reader.skipType(tag & 7)
          break
        }
      }
    }

    return obj
  }, unused)
  return _contentFilterReader
}

export function readContentFilter (buf: Uint8Array, opts?: DecodeOptions<ContentFilter>): ContentFilter {
  return decodeMessage(buf, contentFilterReader(), opts)
}

export interface PagingInfo {
  pageSize?: bigint
  cursor?: Uint8Array<ArrayBuffer>
  direction?: number
}

let _pagingInfoWriter: Codec<PagingInfo> | undefined

function pagingInfoWriter (): Codec<PagingInfo> {
  _pagingInfoWriter ??= message<PagingInfo>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.pageSize != null) {
      w.uint32(8)
      w.uint64(obj.pageSize)
    }

    if (obj.cursor != null) {
      w.uint32(18)
      w.bytes(obj.cursor)
    }

    if (obj.direction != null) {
      w.uint32(24)
      w.uint32(obj.direction)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _pagingInfoWriter
}

export function writePagingInfo (obj: Partial<PagingInfo>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, pagingInfoWriter())
}

let _pagingInfoReader: Codec<PagingInfo> | undefined

function pagingInfoReader (): Codec<PagingInfo> {
  _pagingInfoReader ??= message<PagingInfo>(unused, (reader, length, opts = {}) => {
    const obj: any = {}

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 1: {
          obj.pageSize = reader.uint64()
          break
        }
        case 2: {
          obj.cursor = reader.bytes()
          break
        }
        case 3: {
          obj.direction = reader.uint32()
          break
        }
        default: {
          reader.skipType(tag & 7)
          break
        }
      }
    }

    return obj
  }, unused)
  return _pagingInfoReader
}

export function readPagingInfo (buf: Uint8Array, opts?: DecodeOptions<PagingInfo>): PagingInfo {
  return decodeMessage(buf, pagingInfoReader(), opts)
}

export interface Index {
  digest?: Uint8Array<ArrayBuffer>
  receiverTime?: bigint
  senderTime?: bigint
  pubsubTopic?: string
}

let _indexWriter: Codec<Index> | undefined

function indexWriter (): Codec<Index> {
  _indexWriter ??= message<Index>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.digest != null) {
      w.uint32(10)
      w.bytes(obj.digest)
    }

    if (obj.receiverTime != null) {
      w.uint32(16)
      w.sint64(obj.receiverTime)
    }

    if (obj.senderTime != null) {
      w.uint32(24)
      w.sint64(obj.senderTime)
    }

    if (obj.pubsubTopic != null) {
      w.uint32(34)
      w.string(obj.pubsubTopic)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _indexWriter
}

export function writeIndex (obj: Partial<Index>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, indexWriter())
}

let _indexReader: Codec<Index> | undefined

function indexReader (): Codec<Index> {
  _indexReader ??= message<Index>(unused, (reader, length, opts = {}) => {
    const obj: any = {}

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 1: {
          obj.digest = reader.bytes()
          break
        }
        case 2: {
          obj.receiverTime = reader.sint64()
          break
        }
        case 3: {
          obj.senderTime = reader.sint64()
          break
        }
        case 4: {
          obj.pubsubTopic = reader.string()
          break
        }
        default: {
          reader.skipType(tag & 7)
          break
        }
      }
    }

    return obj
  }, unused)
  return _indexReader
}

export function readIndex (buf: Uint8Array, opts?: DecodeOptions<Index>): Index {
  return decodeMessage(buf, indexReader(), opts)
}

export interface HistoryResponse {
  messages: Uint8Array<ArrayBuffer>[]
  pagingInfo?: PagingInfo
  error?: number
}

let _historyResponseWriter: Codec<HistoryResponse> | undefined

function historyResponseWriter (): Codec<HistoryResponse> {
  _historyResponseWriter ??= message<HistoryResponse>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.messages != null && obj.messages.length > 0) {
      for (const value of obj.messages) {
        w.uint32(18)
        w.bytes(value)
      }
    }

    if (obj.pagingInfo != null) {
      w.uint32(26)
      pagingInfoWriter().encode(obj.pagingInfo, w)
    }

    if (obj.error != null) {
      w.uint32(32)
      w.uint32(obj.error)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _historyResponseWriter
}

export function writeHistoryResponse (obj: Partial<HistoryResponse>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, historyResponseWriter())
}

let _historyResponseReader: Codec<HistoryResponse> | undefined

function historyResponseReader (): Codec<HistoryResponse> {
  _historyResponseReader ??= message<HistoryResponse>(unused, (reader, length, opts = {}) => {
    const obj: any = {
      messages: []
    }

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 2: {
          if (opts.limits?.messages != null && obj.messages.length === opts.limits.messages) {
            throw new MaxLengthError('Decode error - repeated field "messages" had too many elements')
          }

          obj.messages.push(reader.bytes())
          break
        }
        case 3: {
          obj.pagingInfo = pagingInfoReader().decode(reader, reader.uint32(), {
            limits: opts.limits?.pagingInfo
          })
          break
        }
        case 4: {
          obj.error = reader.uint32()
          break
        }
        default: {
          reader.skipType(tag & 7)
          break
        }
      }
    }

    return obj
  }, unused)
  return _historyResponseReader
}

export function readHistoryResponse (buf: Uint8Array, opts?: DecodeOptions<HistoryResponse>): HistoryResponse {
  return decodeMessage(buf, historyResponseReader(), opts)
}
