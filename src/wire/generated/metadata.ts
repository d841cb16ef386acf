// Generated from protos/metadata.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface WakuMetadata {
  clusterId?: number
  shards?: Uint8Array<ArrayBuffer>
}

export const WakuMetadata = /* @__PURE__ */ (() => {
  let _codec: Codec<WakuMetadata>

  const codec = (): Codec<WakuMetadata> => {
    if (_codec == null) {
      _codec = message<WakuMetadata>((obj, w, opts = {}) => {
        if (opts.lengthDelimited !== false) {
          w.fork()
        }

        if (obj.clusterId != null) {
          w.uint32(8)
          w.uint32(obj.clusterId)
        }

        if (obj.shards != null) {
          w.uint32(26)
          w.bytes(obj.shards)
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
              obj.clusterId = reader.uint32()
              break
            }
            case 3: {
              obj.shards = reader.bytes()
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

  function encode (obj: Partial<WakuMetadata>): Uint8Array<ArrayBuffer> {
    return encodeMessage(obj, WakuMetadata.codec())
  }

  function decode (buf: Uint8Array | Uint8ArrayList, opts?: DecodeOptions<WakuMetadata>): WakuMetadata {
    return decodeMessage(buf, WakuMetadata.codec(), opts)
  }

  return { codec, encode, decode }
})()
