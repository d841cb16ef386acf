// Generated from protos/message.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'

function unused (): never {
  throw new Error('this direction is not in use')
}

export interface WakuMessage {
  payload?: Uint8Array<ArrayBuffer>
  contentTopic?: string
  version?: number
  timestamp?: bigint
  meta?: Uint8Array<ArrayBuffer>
  rateLimitProof?: Uint8Array<ArrayBuffer>
  ephemeral?: boolean
}

let _wakuMessageWriter: Codec<WakuMessage> | undefined

function wakuMessageWriter (): Codec<WakuMessage> {
  _wakuMessageWriter ??= message<WakuMessage>((obj, w, opts = {}) => {
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
  }, unused, unused)
  return _wakuMessageWriter
}

export function writeWakuMessage (obj: Partial<WakuMessage>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, wakuMessageWriter())
}

let _wakuMessageReader: Codec<WakuMessage> | undefined

function wakuMessageReader (): Codec<WakuMessage> {
  _wakuMessageReader ??= message<WakuMessage>(unused, (reader, length, opts = {}) => {
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
  }, unused)
  return _wakuMessageReader
}

export function readWakuMessage (buf: Uint8Array, opts?: DecodeOptions<WakuMessage>): WakuMessage {
  return decodeMessage(buf, wakuMessageReader(), opts)
}
