/**
 * The wire formats: pure functions between bytes and values, one module a protocol. Imports the message model only.
 *
 * @packageDocumentation
 */
export {
  decodeLegacyPushRequest,
  decodeLegacyPushResponse,
  encodeLegacyPushRequest,
  encodeLegacyPushResponse,
  type LegacyPushRequest,
  type LegacyPushResponse,
  LIGHT_PUSH_2_PROTOCOL
} from './light-push-2.ts'
export {
  decodeLightPushRequest,
  decodeLightPushResponse,
  encodeLightPushRequest,
  encodeLightPushResponse,
  LIGHT_PUSH_3_PROTOCOL,
  type LightPushRequest,
  type LightPushResponse
} from './light-push-3.ts'
export { decodeWakuMessage, encodeWakuMessage } from './message.ts'
export {
  decodeMetadata,
  encodeMetadata,
  MAX_METADATA_BYTES,
  METADATA_PROTOCOL,
  type Metadata
} from './metadata.ts'
export {
  decodeHistoryIndexBeta2,
  decodeHistoryQueryBeta2,
  decodeHistoryResponseBeta2,
  encodeHistoryIndexBeta2,
  encodeHistoryQueryBeta2,
  encodeHistoryResponseBeta2,
  type HistoryIndexBeta2,
  type HistoryQueryBeta2,
  type HistoryResponseBeta2,
  type PagingInfoBeta2,
  STORE_BETA2_PROTOCOL
} from './store-beta2.ts'
export {
  decodeHistoryIndex,
  decodeHistoryQuery,
  decodeHistoryResponse,
  encodeHistoryIndex,
  encodeHistoryQuery,
  encodeHistoryResponse,
  HISTORY_ERROR,
  type HistoryIndex,
  type HistoryQuery,
  type HistoryResponse,
  STORE_BETA4_PROTOCOL
} from './store-beta4.ts'
export {
  decodeStoreQueryRequest,
  decodeStoreQueryResponse,
  decodeWakuMessageKeyValue,
  encodeStoreQueryRequest,
  encodeStoreQueryResponse,
  encodeWakuMessageKeyValue,
  STORE_QUERY_3_PROTOCOL,
  type StoreQueryRequest,
  type StoreQueryResponse,
  type WakuMessageKeyValue
} from './store-query-3.ts'
export {
  decodeSyncPayload,
  encodeSyncPayload,
  RECONCILIATION_PROTOCOL
} from './sync.ts'
export {
  compareSyncIds,
  type EmptySyncPayload,
  type FingerprintRange,
  type ItemSetRange,
  type RangeBounds,
  type ShardScope,
  type SkipRange,
  SYNC_PAYLOAD_LIMITS,
  type SyncId,
  type SyncPayload,
  type SyncPayloadLimits,
  type SyncRange,
  type TopicScope
} from './sync-payload.ts'
export {
  decodeTransfer,
  encodeTransfer,
  MAX_TRANSFER_BYTES,
  TRANSFER_PROTOCOL,
  type TransferredMessage
} from './sync-transfer.ts'
