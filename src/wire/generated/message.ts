// Generated from protos/message.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface WakuMessage {
  payload?: Uint8Array<ArrayBuffer>
  contentTopic?: string
  version?: number
  timestamp?: bigint
  meta?: Uint8Array<ArrayBuffer>
  rateLimitProof?: Uint8Array<ArrayBuffer>
  ephemeral?: boolean
}

export const WakuMessage = /* @__PURE__ */ (() => {
  let _codec: Codec<WakuMessage>

  const codec = (): Codec<WakuMessage> => {
    if (_codec == null) {
      _codec = message<WakuMessage>((obj, w, opts = {}) => {
        if (opts.lengthDelimited !== false) {
          w.fork()
        }

        if (obj.payload != null) {
          w.uint32(10)
          w.bytes(obj.payload)
        }

        if (obj.contentTopic != null) {
          w.uint32(18)
          w.string(obj.contentTopic)
        }

        if (obj.version != null) {
          w.uint32(24)
          w.uint32(obj.version)
        }

        if (obj.timestamp != null) {
          w.uint32(80)
          w.sint64(obj.timestamp)
        }

        if (obj.meta != null) {
          w.uint32(90)
          w.bytes(obj.meta)
        }

        if (obj.rateLimitProof != null) {
          w.uint32(170)
          w.bytes(obj.rateLimitProof)
        }

        if (obj.ephemeral != null) {
          w.uint32(248)
          w.bool(obj.ephemeral)
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
              obj.payload = reader.bytes()
              break
            }
            case 2: {
              obj.contentTopic = reader.string()
              break
            }
            case 3: {
              obj.version = reader.uint32()
              break
            }
            case 10: {
              obj.timestamp = reader.sint64()
              break
            }
            case 11: {
              obj.meta = reader.bytes()
              break
            }
            case 21: {
              obj.rateLimitProof = reader.bytes()
              break
            }
            case 31: {
              obj.ephemeral = reader.bool()
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

  function encode (obj: Partial<WakuMessage>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, WakuMessage.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<WakuMessage>): WakuMessage {
    return decodeMessage(buf, WakuMessage.codec(), opts)
  }

  return { codec, encode, decode }
})()
