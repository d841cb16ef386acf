// Generated from protos/light-push-3.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface LightPushRequest {
  requestId?: string
  pubsubTopic?: string
  message?: Uint8Array<ArrayBuffer>
}

export const LightPushRequest = /* @__PURE__ */ (() => {
  let _codec: Codec<LightPushRequest>

  const codec = (): Codec<LightPushRequest> => {
    if (_codec == null) {
      _codec = message<LightPushRequest>((obj, w, opts = {}) => {
        if (opts.lengthDelimited !== false) {
          w.fork()
        }

        if (obj.requestId != null) {
          w.uint32(10)
          w.string(obj.requestId)
        }

        if (obj.pubsubTopic != null) {
          w.uint32(162)
          w.string(obj.pubsubTopic)
        }

        if (obj.message != null) {
          w.uint32(170)
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
              obj.requestId = reader.string()
              break
            }
            case 20: {
              obj.pubsubTopic = reader.string()
              break
            }
            case 21: {
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

  function encode (obj: Partial<LightPushRequest>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, LightPushRequest.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LightPushRequest>): LightPushRequest {
    return decodeMessage(buf, LightPushRequest.codec(), opts)
  }

  return { codec, encode, decode }
})()

export interface LightPushResponse {
  requestId?: string
  statusCode?: number
  statusDesc?: string
  relayPeerCount?: number
}

export const LightPushResponse = /* @__PURE__ */ (() => {
  let _codec: Codec<LightPushResponse>

  const codec = (): Codec<LightPushResponse> => {
    if (_codec == null) {
      _codec = message<LightPushResponse>((obj, w, opts = {}) => {
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

        if (obj.relayPeerCount != null) {
          w.uint32(96)
          w.uint32(obj.relayPeerCount)
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
            case 10: {
              obj.statusCode = reader.uint32()
              break
            }
            case 11: {
              obj.statusDesc = reader.string()
              break
            }
            case 12: {
              obj.relayPeerCount = reader.uint32()
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

  function encode (obj: Partial<LightPushResponse>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, LightPushResponse.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<LightPushResponse>): LightPushResponse {
    return decodeMessage(buf, LightPushResponse.codec(), opts)
  }

  return { codec, encode, decode }
})()
