/**
 * `waku-light/outbox`: durable publishing on top of a light push client. A client room: it imports no libp2p value and of other
 * client rooms only types. Importing it touches nothing.
 *
 * @packageDocumentation
 */
export type { EnqueueOptions } from './admission.ts'
export type { OutboxComponents, OutboxLightPush, OutboxNode, OutboxStore } from './components.ts'
export {
  isFinished,
  type OutboxChange,
  type OutboxConfirmation,
  type OutboxEntry,
  type OutboxMessage,
  type OutboxReason,
  type OutboxState,
  type SentMessage
} from './entry.ts'
export { indexedDbStorage } from './indexed-db-storage.ts'
export { OUTBOX_DEFAULTS, type OutboxChannel, type OutboxInit, type OutboxLocks } from './init.ts'
export { memoryStorage } from './memory-storage.ts'
export { createOutbox, type Outbox } from './outbox.ts'
export type { OutboxStorage } from './storage.ts'
