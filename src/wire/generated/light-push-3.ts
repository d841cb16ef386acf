// Generated from protos/light-push-3.proto by `npm run generate`. Do not edit.
import { encodeMessage, message } from 'protons-runtime'
import type { Codec } from 'protons-runtime'
import type { Fields } from '../fields.ts'

function unused (): never {
  throw new Error('not in use: fields.ts reads')
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

export const LightPushRequestFields: Fields = {
  1: ['requestId', 'string'],
  20: ['pubsubTopic', 'string'],
  21: ['message', 'bytes']
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

export const LightPushResponseFields: Fields = {
  1: ['requestId', 'string'],
  10: ['statusCode', 'uint32'],
  11: ['statusDesc', 'string'],
  12: ['relayPeerCount', 'uint32']
}
