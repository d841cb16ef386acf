// Generated from protos/light-push-3.proto by `npm run generate`. Do not edit.
import type { Fields } from '../fields.ts'

export interface LightPushRequest {
  requestId?: string
  pubsubTopic?: string
  message?: Uint8Array<ArrayBuffer>
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

export const LightPushResponseFields: Fields = {
  1: ['requestId', 'string'],
  10: ['statusCode', 'uint32'],
  11: ['statusDesc', 'string'],
  12: ['relayPeerCount', 'uint32']
}
