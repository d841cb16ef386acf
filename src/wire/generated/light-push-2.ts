// Generated from protos/light-push-2.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface PushRpc {
  requestId?: string
  request?: PushRequest
  response?: PushResponse
}

export const PushRpc = /* @__PURE__ */ (() => {
  let _codec: Codec<PushRpc>

  const codec = (): Codec<PushRpc> => {
    if (_codec == null) {
      _codec = message<PushRpc>((obj, w, opts = {}) => {
        if (opts.lengthDelimited !== false) {
          w.fork()
        }

        if (obj.requestId != null) {
          w.uint32(10)
          w.string(obj.requestId)
        }

        if (obj.request != null) {
          w.uint32(18)
          PushRequest.codec().encode(obj.request, w)
        }

        if (obj.response != null) {
          w.uint32(26)
          PushResponse.codec().encode(obj.response, w)
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
              obj.request = PushRequest.codec().decode(reader, reader.uint32(), {
                limits: opts.limits?.request
              })
              break
            }
            case 3: {
              obj.response = PushResponse.codec().decode(reader, reader.uint32(), {
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

  function encode (obj: Partial<PushRpc>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, PushRpc.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<PushRpc>): PushRpc {
    return decodeMessage(buf, PushRpc.codec(), opts)
  }

  return { codec, encode, decode }
})()

export interface PushRequest {
  pubsubTopic?: string
  message?: Uint8Array<ArrayBuffer>
}

export const PushRequest = /* @__PURE__ */ (() => {
  let _codec: Codec<PushRequest>

  const codec = (): Codec<PushRequest> => {
    if (_codec == null) {
      _codec = message<PushRequest>((obj, w, opts = {}) => {
        if (opts.lengthDelimited !== false) {
          w.fork()
        }

        if (obj.pubsubTopic != null) {
          w.uint32(10)
          w.string(obj.pubsubTopic)
        }

        if (obj.message != null) {
          w.uint32(18)
          w.bytes(obj.message)
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
              obj.pubsubTopic = reader.string()
              break
            }
            case 2: {
              obj.message = reader.bytes()
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

  function encode (obj: Partial<PushRequest>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, PushRequest.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<PushRequest>): PushRequest {
    return decodeMessage(buf, PushRequest.codec(), opts)
  }

  return { codec, encode, decode }
})()

export interface PushResponse {
  isSuccess?: boolean
  info?: string
}

export const PushResponse = /* @__PURE__ */ (() => {
  let _codec: Codec<PushResponse>

  const codec = (): Codec<PushResponse> => {
    if (_codec == null) {
      _codec = message<PushResponse>((obj, w, opts = {}) => {
        if (opts.lengthDelimited !== false) {
          w.fork()
        }

        if (obj.isSuccess != null) {
          w.uint32(8)
          w.bool(obj.isSuccess)
        }

        if (obj.info != null) {
          w.uint32(18)
          w.string(obj.info)
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
              obj.isSuccess = reader.bool()
              break
            }
            case 2: {
              obj.info = reader.string()
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

  function encode (obj: Partial<PushResponse>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, PushResponse.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<PushResponse>): PushResponse {
    return decodeMessage(buf, PushResponse.codec(), opts)
  }

  return { codec, encode, decode }
})()
