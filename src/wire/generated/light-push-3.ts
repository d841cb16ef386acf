// Generated from protos/light-push-3.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'

function unused (): never {
  throw new Error('this direction is not in use')
}

export interface LightPushRequest {
  requestId?: string
  pubsubTopic?: string
  message?: Uint8Array<ArrayBuffer>
}

let _lightPushRequestWriter: Codec<LightPushRequest> | undefined

function lightPushRequestWriter (): Codec<LightPushRequest> {
  _lightPushRequestWriter ??= message<LightPushRequest>((obj, w, opts = {}) => {
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
  }, unused, unused)
  return _lightPushRequestWriter
}

export function writeLightPushRequest (obj: Partial<LightPushRequest>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, lightPushRequestWriter())
}

let _lightPushRequestReader: Codec<LightPushRequest> | undefined

function lightPushRequestReader (): Codec<LightPushRequest> {
  _lightPushRequestReader ??= message<LightPushRequest>(unused, (reader, length, opts = {}) => {
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
  }, unused)
  return _lightPushRequestReader
}

export function readLightPushRequest (buf: Uint8Array, opts?: DecodeOptions<LightPushRequest>): LightPushRequest {
  return decodeMessage(buf, lightPushRequestReader(), opts)
}

export interface LightPushResponse {
  requestId?: string
  statusCode?: number
  statusDesc?: string
  relayPeerCount?: number
}

let _lightPushResponseWriter: Codec<LightPushResponse> | undefined

function lightPushResponseWriter (): Codec<LightPushResponse> {
  _lightPushResponseWriter ??= message<LightPushResponse>((obj, w, opts = {}) => {
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
  }, unused, unused)
  return _lightPushResponseWriter
}

export function writeLightPushResponse (obj: Partial<LightPushResponse>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, lightPushResponseWriter())
}

let _lightPushResponseReader: Codec<LightPushResponse> | undefined

function lightPushResponseReader (): Codec<LightPushResponse> {
  _lightPushResponseReader ??= message<LightPushResponse>(unused, (reader, length, opts = {}) => {
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
  }, unused)
  return _lightPushResponseReader
}

export function readLightPushResponse (buf: Uint8Array, opts?: DecodeOptions<LightPushResponse>): LightPushResponse {
  return decodeMessage(buf, lightPushResponseReader(), opts)
}
