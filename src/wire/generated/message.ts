// Generated from protos/message.proto by `npm run generate`. Do not edit.
import { encodeMessage, message } from 'protons-runtime'
import type { Codec } from 'protons-runtime'
import type { Fields } from '../fields.ts'

function unused (): never {
  throw new Error('not in use: fields.ts reads')
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

export const WakuMessageFields: Fields = {
  1: ['payload', 'bytes'],
  2: ['contentTopic', 'string'],
  3: ['version', 'uint32'],
  10: ['timestamp', 'sint64'],
  11: ['meta', 'bytes'],
  21: ['rateLimitProof', 'bytes'],
  31: ['ephemeral', 'bool']
}
