// Generated from protos/store-beta4.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, MaxLengthError, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface HistoryRpc {
  requestId?: string
  query?: HistoryQuery
  response?: HistoryResponse
}

export const HistoryRpc = /* @__PURE__ */ (() => {
  let _codec: Codec<HistoryRpc>

  const codec = (): Codec<HistoryRpc> => {
    if (_codec == null) {
      _codec = message<HistoryRpc>((obj, w, opts = {}) => {
        if (opts.lengthDelimited !== false) {
          w.fork()
        }

        if (obj.requestId != null) {
          w.uint32(10)
          w.string(obj.requestId)
        }

        if (obj.query != null) {
          w.uint32(18)
          HistoryQuery.codec().encode(obj.query, w)
        }

        if (obj.response != null) {
          w.uint32(26)
          HistoryResponse.codec().encode(obj.response, w)
        }

        if (opts.lengthDelimited !== false) {
          w.ldelim()
        }
      }, (reader, length, opts = {}) => {
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
              obj.query = HistoryQuery.codec().decode(reader, reader.uint32(), {
                limits: opts.limits?.query
              })
              break
            }
            case 3: {
              obj.response = HistoryResponse.codec().decode(reader, reader.uint32(), {
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
      }, function * () {})
    }

    return _codec
  }

  function encode (obj: Partial<HistoryRpc>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, HistoryRpc.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<HistoryRpc>): HistoryRpc {
    return decodeMessage(buf, HistoryRpc.codec(), opts)
  }

  return { codec, encode, decode }
})()

export interface HistoryQuery {
  pubsubTopic?: string
  contentFilters: ContentFilter[]
  pagingInfo?: PagingInfo
  startTime?: bigint
  endTime?: bigint
}

export const HistoryQuery = /* @__PURE__ */ (() => {
  let _codec: Codec<HistoryQuery>

  const codec = (): Codec<HistoryQuery> => {
    if (_codec == null) {
      _codec = message<HistoryQuery>((obj, w, opts = {}) => {
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
            ContentFilter.codec().encode(value, w)
          }
        }

        if (obj.pagingInfo != null) {
          w.uint32(34)
          PagingInfo.codec().encode(obj.pagingInfo, w)
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
      }, (reader, length, opts = {}) => {
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

              obj.contentFilters.push(ContentFilter.codec().decode(reader, reader.uint32(), {
                limits: opts.limits?.contentFilters$
              }))
              break
            }
            case 4: {
              obj.pagingInfo = PagingInfo.codec().decode(reader, reader.uint32(), {
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
      }, function * () {})
    }

    return _codec
  }

  function encode (obj: Partial<HistoryQuery>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, HistoryQuery.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<HistoryQuery>): HistoryQuery {
    return decodeMessage(buf, HistoryQuery.codec(), opts)
  }

  return { codec, encode, decode }
})()

export interface ContentFilter {
  contentTopic?: string
}

export const ContentFilter = /* @__PURE__ */ (() => {
  let _codec: Codec<ContentFilter>

  const codec = (): Codec<ContentFilter> => {
    if (_codec == null) {
      _codec = message<ContentFilter>((obj, w, opts = {}) => {
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
      }, (reader, length, opts = {}) => {
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
      }, function * () {})
    }

    return _codec
  }

  function encode (obj: Partial<ContentFilter>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, ContentFilter.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<ContentFilter>): ContentFilter {
    return decodeMessage(buf, ContentFilter.codec(), opts)
  }

  return { codec, encode, decode }
})()

export interface PagingInfo {
  pageSize?: bigint
  cursor?: Uint8Array<ArrayBuffer>
  direction?: number
}

export const PagingInfo = /* @__PURE__ */ (() => {
  let _codec: Codec<PagingInfo>

  const codec = (): Codec<PagingInfo> => {
    if (_codec == null) {
      _codec = message<PagingInfo>((obj, w, opts = {}) => {
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
      }, (reader, length, opts = {}) => {
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
      }, function * () {})
    }

    return _codec
  }

  function encode (obj: Partial<PagingInfo>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, PagingInfo.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<PagingInfo>): PagingInfo {
    return decodeMessage(buf, PagingInfo.codec(), opts)
  }

  return { codec, encode, decode }
})()

export interface Index {
  digest?: Uint8Array<ArrayBuffer>
  receiverTime?: bigint
  senderTime?: bigint
  pubsubTopic?: string
}

export const Index = /* @__PURE__ */ (() => {
  let _codec: Codec<Index>

  const codec = (): Codec<Index> => {
    if (_codec == null) {
      _codec = message<Index>((obj, w, opts = {}) => {
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
      }, (reader, length, opts = {}) => {
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
      }, function * () {})
    }

    return _codec
  }

  function encode (obj: Partial<Index>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, Index.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<Index>): Index {
    return decodeMessage(buf, Index.codec(), opts)
  }

  return { codec, encode, decode }
})()

export interface HistoryResponse {
  messages: Uint8Array<ArrayBuffer>[]
  pagingInfo?: PagingInfo
  error?: number
}

export const HistoryResponse = /* @__PURE__ */ (() => {
  let _codec: Codec<HistoryResponse>

  const codec = (): Codec<HistoryResponse> => {
    if (_codec == null) {
      _codec = message<HistoryResponse>((obj, w, opts = {}) => {
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
          PagingInfo.codec().encode(obj.pagingInfo, w)
        }

        if (obj.error != null) {
          w.uint32(32)
          w.uint32(obj.error)
        }

        if (opts.lengthDelimited !== false) {
          w.ldelim()
        }
      }, (reader, length, opts = {}) => {
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
              obj.pagingInfo = PagingInfo.codec().decode(reader, reader.uint32(), {
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
      }, function * () {})
    }

    return _codec
  }

  function encode (obj: Partial<HistoryResponse>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, HistoryResponse.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<HistoryResponse>): HistoryResponse {
    return decodeMessage(buf, HistoryResponse.codec(), opts)
  }

  return { codec, encode, decode }
})()
