// Generated from protos/store-beta4.proto by `npm run generate`. Do not edit.
import type { Fields } from '../fields.ts'

export interface HistoryRpc {
  requestId?: string
  query?: HistoryQuery
  response?: HistoryResponse
}

export const HistoryRpcFields: Fields = {
  1: ['requestId', 'string'],
  2: ['query', () => HistoryQueryFields],
  3: ['response', () => HistoryResponseFields]
}

export interface HistoryQuery {
  pubsubTopic?: string
  contentFilters: ContentFilter[]
  pagingInfo?: PagingInfo
  startTime?: bigint
  endTime?: bigint
}

export const HistoryQueryFields: Fields = {
  2: ['pubsubTopic', 'string'],
  3: ['contentFilters', () => ContentFilterFields, true],
  4: ['pagingInfo', () => PagingInfoFields],
  5: ['startTime', 'sint64'],
  6: ['endTime', 'sint64']
}

export interface ContentFilter {
  contentTopic?: string
}

export const ContentFilterFields: Fields = {
  1: ['contentTopic', 'string']
}

export interface PagingInfo {
  pageSize?: bigint
  cursor?: Uint8Array<ArrayBuffer>
  direction?: number
}

export const PagingInfoFields: Fields = {
  1: ['pageSize', 'uint64'],
  2: ['cursor', 'bytes'],
  3: ['direction', 'uint32']
}

export interface Index {
  digest?: Uint8Array<ArrayBuffer>
  receiverTime?: bigint
  senderTime?: bigint
  pubsubTopic?: string
}

export const IndexFields: Fields = {
  1: ['digest', 'bytes'],
  2: ['receiverTime', 'sint64'],
  3: ['senderTime', 'sint64'],
  4: ['pubsubTopic', 'string']
}

export interface HistoryResponse {
  messages: Uint8Array<ArrayBuffer>[]
  pagingInfo?: PagingInfo
  error?: number
}

export const HistoryResponseFields: Fields = {
  2: ['messages', 'bytes', true],
  3: ['pagingInfo', () => PagingInfoFields],
  4: ['error', 'uint32']
}
