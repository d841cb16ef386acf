// Generated from protos/message.proto by `npm run generate`. Do not edit.
import type { Fields } from '../fields.ts'

export interface WakuMessage {
  payload?: Uint8Array<ArrayBuffer>
  contentTopic?: string
  version?: number
  timestamp?: bigint
  meta?: Uint8Array<ArrayBuffer>
  rateLimitProof?: Uint8Array<ArrayBuffer>
  ephemeral?: boolean
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
