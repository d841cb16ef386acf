// Generated from protos/store-query-3.proto by `npm run generate`. Do not edit.
import type { Fields } from '../fields.ts'

export interface StoreQueryRequest {
  requestId?: string
  includeData?: boolean
  pubsubTopic?: string
  contentTopics: string[]
  timeStart?: bigint
  timeEnd?: bigint
  messageHashes: Uint8Array<ArrayBuffer>[]
  paginationCursor?: Uint8Array<ArrayBuffer>
  paginationForward?: boolean
  paginationLimit?: bigint
}

export const StoreQueryRequestFields: Fields = {
  1: ['requestId', 'string'],
  2: ['includeData', 'bool'],
  10: ['pubsubTopic', 'string'],
  11: ['contentTopics', 'string', true],
  12: ['timeStart', 'sint64'],
  13: ['timeEnd', 'sint64'],
  20: ['messageHashes', 'bytes', true],
  51: ['paginationCursor', 'bytes'],
  52: ['paginationForward', 'bool'],
  53: ['paginationLimit', 'uint64']
}

export interface StoreQueryResponse {
  requestId?: string
  statusCode?: number
  statusDesc?: string
  messages: Uint8Array<ArrayBuffer>[]
  paginationCursor?: Uint8Array<ArrayBuffer>
}

export const StoreQueryResponseFields: Fields = {
  1: ['requestId', 'string'],
  10: ['statusCode', 'uint32'],
  11: ['statusDesc', 'string'],
  20: ['messages', 'bytes', true],
  51: ['paginationCursor', 'bytes']
}

export interface WakuMessageKeyValue {
  messageHash?: Uint8Array<ArrayBuffer>
  message?: Uint8Array<ArrayBuffer>
  pubsubTopic?: string
}

export const WakuMessageKeyValueFields: Fields = {
  1: ['messageHash', 'bytes'],
  2: ['message', 'bytes'],
  3: ['pubsubTopic', 'string']
}
