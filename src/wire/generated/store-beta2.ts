// Generated from protos/store-beta2.proto by `npm run generate`. Do not edit.
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
  topics: string[]
  pagingInfo?: PagingInfo
}

export const HistoryQueryFields: Fields = {
  2: ['topics', 'string', true],
  3: ['pagingInfo', () => PagingInfoFields]
}

export interface PagingInfo {
  pageSize?: bigint
  cursor?: Uint8Array<ArrayBuffer>
  direction?: number
}

export const PagingInfoFields: Fields = {
  1: ['pageSize', 'int64'],
  2: ['cursor', 'bytes'],
  3: ['direction', 'uint32']
}

export interface Index {
  digest?: Uint8Array<ArrayBuffer>
  receivedTime?: number
}

export const IndexFields: Fields = {
  1: ['digest', 'bytes'],
  2: ['receivedTime', 'float']
}

export interface HistoryResponse {
  messages: Uint8Array<ArrayBuffer>[]
  pagingInfo?: PagingInfo
}

export const HistoryResponseFields: Fields = {
  2: ['messages', 'bytes', true],
  3: ['pagingInfo', () => PagingInfoFields]
}
