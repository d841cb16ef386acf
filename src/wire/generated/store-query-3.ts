// Generated from protos/store-query-3.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, MaxLengthError, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'

function unused (): never {
  throw new Error('this direction is not in use')
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

let _storeQueryRequestReader: Codec<StoreQueryRequest> | undefined

function storeQueryRequestReader (): Codec<StoreQueryRequest> {
  _storeQueryRequestReader ??= message<StoreQueryRequest>(unused, (reader, length, opts = {}) => {
    const obj: any = {
      contentTopics: [],
      messageHashes: []
    }

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 1: {
          obj.requestId = reader.string()
          break
        }
        case 2: {
          obj.includeData = reader.bool()
          break
        }
        case 10: {
          obj.pubsubTopic = reader.string()
          break
        }
        case 11: {
          if (opts.limits?.contentTopics != null && obj.contentTopics.length === opts.limits.contentTopics) {
            throw new MaxLengthError('Decode error - repeated field "contentTopics" had too many elements')
          }

          obj.contentTopics.push(reader.string())
          break
        }
        case 12: {
          obj.timeStart = reader.sint64()
          break
        }
        case 13: {
          obj.timeEnd = reader.sint64()
          break
        }
        case 20: {
          if (opts.limits?.messageHashes != null && obj.messageHashes.length === opts.limits.messageHashes) {
            throw new MaxLengthError('Decode error - repeated field "messageHashes" had too many elements')
          }

          obj.messageHashes.push(reader.bytes())
          break
        }
        case 51: {
          obj.paginationCursor = reader.bytes()
          break
        }
        case 52: {
          obj.paginationForward = reader.bool()
          break
        }
        case 53: {
          obj.paginationLimit = reader.uint64()
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
  return _storeQueryRequestReader
}

export function readStoreQueryRequest (buf: Uint8Array, opts?: DecodeOptions<StoreQueryRequest>): StoreQueryRequest {
  return decodeMessage(buf, storeQueryRequestReader(), opts)
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

let _storeQueryResponseReader: Codec<StoreQueryResponse> | undefined

function storeQueryResponseReader (): Codec<StoreQueryResponse> {
  _storeQueryResponseReader ??= message<StoreQueryResponse>(unused, (reader, length, opts = {}) => {
    const obj: any = {
      messages: []
    }

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 1: {
          obj.requestId = reader.string()
          break
        }
        case 10: {
          obj.statusCode = reader.uint32()
          break
        }
        case 11: {
          obj.statusDesc = reader.string()
          break
        }
        case 20: {
          if (opts.limits?.messages != null && obj.messages.length === opts.limits.messages) {
            throw new MaxLengthError('Decode error - repeated field "messages" had too many elements')
          }

          obj.messages.push(reader.bytes())
          break
        }
        case 51: {
          obj.paginationCursor = reader.bytes()
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
  return _storeQueryResponseReader
}

export function readStoreQueryResponse (buf: Uint8Array, opts?: DecodeOptions<StoreQueryResponse>): StoreQueryResponse {
  return decodeMessage(buf, storeQueryResponseReader(), opts)
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

let _wakuMessageKeyValueReader: Codec<WakuMessageKeyValue> | undefined

function wakuMessageKeyValueReader (): Codec<WakuMessageKeyValue> {
  _wakuMessageKeyValueReader ??= message<WakuMessageKeyValue>(unused, (reader, length, opts = {}) => {
    const obj: any = {}

    const end = length == null ? reader.len : reader.pos + length

    while (reader.pos < end) {
      const tag = reader.uint32()

      switch (tag >>> 3) {
        case 1: {
          obj.messageHash = reader.bytes()
          break
        }
        case 2: {
          obj.message = reader.bytes()
          break
        }
        case 3: {
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
  return _wakuMessageKeyValueReader
}

export function readWakuMessageKeyValue (buf: Uint8Array, opts?: DecodeOptions<WakuMessageKeyValue>): WakuMessageKeyValue {
  return decodeMessage(buf, wakuMessageKeyValueReader(), opts)
}
