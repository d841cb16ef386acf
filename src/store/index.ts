/**
 * `waku-light/store`: read history from service nodes. A client room: it imports no libp2p value and no other client room.
 *
 * @packageDocumentation
 */
export type { StoreCriteria } from './criteria.ts'
export { fillGaps } from './fill-gaps.ts'
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
export {
  type FollowOptions,
  type LastOptions,
  type LookupOptions,
  type PagesOptions,
  STORE_DEFAULTS,
  type StoreClientInit,
  type WalkOptions
} from './options.ts'
export type {
  MessagePage,
  RejectedEntry,
  RejectionReason,
  StoredMessage,
  StoreProgress
} from './page.ts'
export { parallel } from './parallel.ts'
export { readAhead } from './read-ahead.ts'
export {
  SOURCES_DEFAULTS,
  type SourceLack,
  type SourceState,
  type SourcesOptions,
  type SourcesPage
} from './roster.ts'
export { type MergeOptions, sources } from './sources.ts'
export { STORE_BETA4 } from './store-beta4.ts'
export { StoreClient } from './store-client.ts'
export { STORE_QUERY_3 } from './store-query-3.ts'
export type { Walker } from './walker.ts'
