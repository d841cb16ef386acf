/**
 * `waku-light/sync`: reconcile what two archives hold. The engine is pure: no clock, no randomness, no I/O; {@link createSync}
 * is what talks. A client room: it imports no libp2p value and no other client room.
 *
 * @packageDocumentation
 */
export type { AnswerTuning } from './answer.ts'
export type {
  SyncArchive,
  SyncComponents,
  SyncKey,
  SyncNode,
  SyncStore
} from './components.ts'
export {
  SYNC_DEFAULTS,
  type SyncInit,
  type SyncLocks,
  type SyncVisibility
} from './init.ts'
export type { SyncProgress, SyncRejection, SyncResult, SyncRole } from './progress.ts'
export type { SyncLayout } from './scope.ts'
export { createSync, type Sync, type SyncNowOptions } from './sync.ts'
export {
  type SyncBounds,
  SyncIndex,
  type SyncIndexInit,
  type SyncSummary
} from './sync-index.ts'
export {
  REFERENCE_NODE_OPTIONS,
  SYNC_SESSION_DEFAULTS,
  type SyncOutcome,
  SyncSession,
  type SyncSessionInit,
  type SyncSessionOptions,
  type SyncStep
} from './sync-session.ts'
export type { SyncFilter, SyncTopics } from './topic-table.ts'
export type { SyncWindow } from './window.ts'
