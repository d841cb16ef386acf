// Generated from protos/store-beta4.proto by `npm run generate`. Do not edit.
import { encodeMessage, message } from 'protons-runtime'
import type { Codec } from 'protons-runtime'
import type { Fields } from '../fields.ts'

function unused (): never {
  throw new Error('not in use: fields.ts reads')
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

export const HistoryRpcFields: Fields = {
  1: ['requestId', 'string'],
  2: ['query', () => HistoryQueryFields],
  3: ['response', () => HistoryResponseFields]
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

export const HistoryQueryFields: Fields = {
  2: ['pubsubTopic', 'string'],
  3: ['contentFilters', () => ContentFilterFields, true],
  4: ['pagingInfo', () => PagingInfoFields],
  5: ['startTime', 'sint64'],
  6: ['endTime', 'sint64']
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

export const ContentFilterFields: Fields = {
  1: ['contentTopic', 'string']
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

export const PagingInfoFields: Fields = {
  1: ['pageSize', 'uint64'],
  2: ['cursor', 'bytes'],
  3: ['direction', 'uint32']
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

export const IndexFields: Fields = {
  1: ['digest', 'bytes'],
  2: ['receiverTime', 'sint64'],
  3: ['senderTime', 'sint64'],
  4: ['pubsubTopic', 'string']
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

export const HistoryResponseFields: Fields = {
  2: ['messages', 'bytes', true],
  3: ['pagingInfo', () => PagingInfoFields],
  4: ['error', 'uint32']
}
