/**
 * `waku-light/store`: read history from service nodes. A client room: it imports no libp2p value and no other client room.
 *
 * @packageDocumentation
 */
export type { StoreCriteria } from './criteria.ts'
export type { FollowProgress } from './follow.ts'
export type {
  Completeness,
  OrderKey,
  PageContext,
  PageQuery,
  RawEntry,
  RawPage,
  StoreGeneration
} from './generation.ts'
export type {
  MessagePage,
  RejectedEntry,
  RejectionReason,
  StoredMessage,
  StoreProgress
} from './page.ts'
export { STORE_BETA4 } from './store-beta4.ts'
export {
  type FollowOptions,
  type LastOptions,
  type LookupOptions,
  STORE_DEFAULTS,
  StoreClient,
  type StoreClientInit,
  type WalkOptions
} from './store-client.ts'
export { STORE_QUERY_3 } from './store-query-3.ts'
