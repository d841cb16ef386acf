// Generated from protos/store-query-3.proto by `npm run generate`. Do not edit.
import { encodeMessage, message } from 'protons-runtime'
import type { Codec } from 'protons-runtime'
import type { Fields } from '../fields.ts'

function unused (): never {
  throw new Error('not in use: fields.ts reads')
}

export interface StoreQueryRequest {
  requestId?: string
  includeData?: boolean
  pubsubTopic?: string
  contentTopics: string[]
  timeStart?: bigint
  timeEnd?: bigint
  messageHashes: Uint8Array<ArrayBuffer>[]
  paginationCursor?: Uint8Array<ArrayBuffer>
  paginationForward?: boolean
  paginationLimit?: bigint
}

let _storeQueryRequestWriter: Codec<StoreQueryRequest> | undefined

function storeQueryRequestWriter (): Codec<StoreQueryRequest> {
  _storeQueryRequestWriter ??= message<StoreQueryRequest>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.requestId != null) {
      w.uint32(10)
      w.string(obj.requestId)
    }

    if (obj.includeData != null) {
      w.uint32(16)
      w.bool(obj.includeData)
    }

    if (obj.pubsubTopic != null) {
      w.uint32(82)
      w.string(obj.pubsubTopic)
    }

    if (obj.contentTopics != null && obj.contentTopics.length > 0) {
      for (const value of obj.contentTopics) {
        w.uint32(90)
        w.string(value)
      }
    }

    if (obj.timeStart != null) {
      w.uint32(96)
      w.sint64(obj.timeStart)
    }

    if (obj.timeEnd != null) {
      w.uint32(104)
      w.sint64(obj.timeEnd)
    }

    if (obj.messageHashes != null && obj.messageHashes.length > 0) {
      for (const value of obj.messageHashes) {
        w.uint32(162)
        w.bytes(value)
      }
    }

    if (obj.paginationCursor != null) {
      w.uint32(410)
      w.bytes(obj.paginationCursor)
    }

    if (obj.paginationForward != null) {
      w.uint32(416)
      w.bool(obj.paginationForward)
    }

    if (obj.paginationLimit != null) {
      w.uint32(424)
      w.uint64(obj.paginationLimit)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _storeQueryRequestWriter
}

export function writeStoreQueryRequest (obj: Partial<StoreQueryRequest>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, storeQueryRequestWriter())
}

export const StoreQueryRequestFields: Fields = {
  1: ['requestId', 'string'],
  2: ['includeData', 'bool'],
  10: ['pubsubTopic', 'string'],
  11: ['contentTopics', 'string', true],
  12: ['timeStart', 'sint64'],
  13: ['timeEnd', 'sint64'],
  20: ['messageHashes', 'bytes', true],
  51: ['paginationCursor', 'bytes'],
  52: ['paginationForward', 'bool'],
  53: ['paginationLimit', 'uint64']
}

export interface StoreQueryResponse {
  requestId?: string
  statusCode?: number
  statusDesc?: string
  messages: Uint8Array<ArrayBuffer>[]
  paginationCursor?: Uint8Array<ArrayBuffer>
}

let _storeQueryResponseWriter: Codec<StoreQueryResponse> | undefined

function storeQueryResponseWriter (): Codec<StoreQueryResponse> {
  _storeQueryResponseWriter ??= message<StoreQueryResponse>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.requestId != null) {
      w.uint32(10)
      w.string(obj.requestId)
    }

    if (obj.statusCode != null) {
      w.uint32(80)
      w.uint32(obj.statusCode)
    }

    if (obj.statusDesc != null) {
      w.uint32(90)
      w.string(obj.statusDesc)
    }

    if (obj.messages != null && obj.messages.length > 0) {
      for (const value of obj.messages) {
        w.uint32(162)
        w.bytes(value)
      }
    }

    if (obj.paginationCursor != null) {
      w.uint32(410)
      w.bytes(obj.paginationCursor)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _storeQueryResponseWriter
}

export function writeStoreQueryResponse (obj: Partial<StoreQueryResponse>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, storeQueryResponseWriter())
}

export const StoreQueryResponseFields: Fields = {
  1: ['requestId', 'string'],
  10: ['statusCode', 'uint32'],
  11: ['statusDesc', 'string'],
  20: ['messages', 'bytes', true],
  51: ['paginationCursor', 'bytes']
}

export interface WakuMessageKeyValue {
  messageHash?: Uint8Array<ArrayBuffer>
  message?: Uint8Array<ArrayBuffer>
  pubsubTopic?: string
}

let _wakuMessageKeyValueWriter: Codec<WakuMessageKeyValue> | undefined

function wakuMessageKeyValueWriter (): Codec<WakuMessageKeyValue> {
  _wakuMessageKeyValueWriter ??= message<WakuMessageKeyValue>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.messageHash != null) {
      w.uint32(10)
      w.bytes(obj.messageHash)
    }

    if (obj.message != null) {
      w.uint32(18)
      w.bytes(obj.message)
    }

    if (obj.pubsubTopic != null) {
      w.uint32(26)
      w.string(obj.pubsubTopic)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _wakuMessageKeyValueWriter
}

export function writeWakuMessageKeyValue (obj: Partial<WakuMessageKeyValue>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, wakuMessageKeyValueWriter())
}

export const WakuMessageKeyValueFields: Fields = {
  1: ['messageHash', 'bytes'],
  2: ['message', 'bytes'],
  3: ['pubsubTopic', 'string']
}
