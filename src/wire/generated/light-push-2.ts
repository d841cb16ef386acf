// Generated from protos/light-push-2.proto by `npm run generate`. Do not edit.
import { decodeMessage, encodeMessage, message } from 'protons-runtime'
import type { Codec, DecodeOptions } from 'protons-runtime'

function unused (): never {
  throw new Error('this direction is not in use')
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

let _pushRpcReader: Codec<PushRpc> | undefined

function pushRpcReader (): Codec<PushRpc> {
  _pushRpcReader ??= message<PushRpc>(unused, (reader, length, opts = {}) => {
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
          obj.request = pushRequestReader().decode(reader, reader.uint32(), {
            limits: opts.limits?.request
          })
          break
        }
        case 3: {
          obj.response = pushResponseReader().decode(reader, reader.uint32(), {
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
  }, unused)
  return _pushRpcReader
}

export function readPushRpc (buf: Uint8Array, opts?: DecodeOptions<PushRpc>): PushRpc {
  return decodeMessage(buf, pushRpcReader(), opts)
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

let _pushRequestReader: Codec<PushRequest> | undefined

function pushRequestReader (): Codec<PushRequest> {
  _pushRequestReader ??= message<PushRequest>(unused, (reader, length, opts = {}) => {
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
  }, unused)
  return _pushRequestReader
}

export function readPushRequest (buf: Uint8Array, opts?: DecodeOptions<PushRequest>): PushRequest {
  return decodeMessage(buf, pushRequestReader(), opts)
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

let _pushResponseReader: Codec<PushResponse> | undefined

function pushResponseReader (): Codec<PushResponse> {
  _pushResponseReader ??= message<PushResponse>(unused, (reader, length, opts = {}) => {
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
  }, unused)
  return _pushResponseReader
}

export function readPushResponse (buf: Uint8Array, opts?: DecodeOptions<PushResponse>): PushResponse {
  return decodeMessage(buf, pushResponseReader(), opts)
}
