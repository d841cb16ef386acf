// Generated from protos/light-push-2.proto by `npm run generate`. Do not edit.
import { encodeMessage, message } from 'protons-runtime'
import type { Codec } from 'protons-runtime'
import type { Fields } from '../fields.ts'

function unused (): never {
  throw new Error('not in use: fields.ts reads')
}

export interface PushRpc {
  requestId?: string
  request?: PushRequest
  response?: PushResponse
}

let _pushRpcWriter: Codec<PushRpc> | undefined

function pushRpcWriter (): Codec<PushRpc> {
  _pushRpcWriter ??= message<PushRpc>((obj, w, opts = {}) => {
    if (opts.lengthDelimited !== false) {
      w.fork()
    }

    if (obj.requestId != null) {
      w.uint32(10)
      w.string(obj.requestId)
    }

    if (obj.request != null) {
      w.uint32(18)
      pushRequestWriter().encode(obj.request, w)
    }

    if (obj.response != null) {
      w.uint32(26)
      pushResponseWriter().encode(obj.response, w)
    }

    if (opts.lengthDelimited !== false) {
      w.ldelim()
    }
  }, unused, unused)
  return _pushRpcWriter
}

export function writePushRpc (obj: Partial<PushRpc>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, pushRpcWriter())
}

export const PushRpcFields: Fields = {
  1: ['requestId', 'string'],
  2: ['request', () => PushRequestFields],
  3: ['response', () => PushResponseFields]
}

export interface PushRequest {
  pubsubTopic?: string
  message?: Uint8Array<ArrayBuffer>
}

let _pushRequestWriter: Codec<PushRequest> | undefined

function pushRequestWriter (): Codec<PushRequest> {
  _pushRequestWriter ??= message<PushRequest>((obj, w, opts = {}) => {
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
  }, unused, unused)
  return _pushRequestWriter
}

export function writePushRequest (obj: Partial<PushRequest>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, pushRequestWriter())
}

export const PushRequestFields: Fields = {
  1: ['pubsubTopic', 'string'],
  2: ['message', 'bytes']
}

export interface PushResponse {
  isSuccess?: boolean
  info?: string
}

let _pushResponseWriter: Codec<PushResponse> | undefined

function pushResponseWriter (): Codec<PushResponse> {
  _pushResponseWriter ??= message<PushResponse>((obj, w, opts = {}) => {
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
  }, unused, unused)
  return _pushResponseWriter
}

export function writePushResponse (obj: Partial<PushResponse>): Uint8Array<ArrayBuffer> {
  return encodeMessage(obj, pushResponseWriter())
}

export const PushResponseFields: Fields = {
  1: ['isSuccess', 'bool'],
  2: ['info', 'string']
}
