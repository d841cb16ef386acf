// Generated from protos/metadata.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'

function unused (): never {
  throw new Error('this direction is not in use')
}

export interface WakuMetadata {
  clusterId?: number
  shards?: Uint8Array<ArrayBuffer>
}

let _wakuMetadataWriter: Codec<WakuMetadata> | undefined

function wakuMetadataWriter (): Codec<WakuMetadata> {
  _wakuMetadataWriter ??= message<WakuMetadata>((obj, w, opts = {}) => {
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
  }, unused, unused)
  return _wakuMetadataWriter
}

export function writeWakuMetadata (obj: Partial<WakuMetadata>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, wakuMetadataWriter())
}

let _wakuMetadataReader: Codec<WakuMetadata> | undefined

function wakuMetadataReader (): Codec<WakuMetadata> {
  _wakuMetadataReader ??= message<WakuMetadata>(unused, (reader, length, opts = {}) => {
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
  }, unused)
  return _wakuMetadataReader
}

export function readWakuMetadata (buf: Uint8Array, opts?: DecodeOptions<WakuMetadata>): WakuMetadata {
  return decodeMessage(buf, wakuMetadataReader(), opts)
}
