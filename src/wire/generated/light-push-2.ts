// Generated from protos/light-push-2.proto by `npm run generate`. Do not edit.
import type { Fields } from '../fields.ts'

export interface PushRpc {
  requestId?: string
  request?: PushRequest
  response?: PushResponse
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

export const PushRequestFields: Fields = {
  1: ['pubsubTopic', 'string'],
  2: ['message', 'bytes']
}

export interface PushResponse {
  isSuccess?: boolean
  info?: string
}

export const PushResponseFields: Fields = {
  1: ['isSuccess', 'bool'],
  2: ['info', 'string']
}
