/**
 * `waku-light/light-push`: publish messages through service nodes. A client room: it imports no libp2p value and no other
 * client room.
 *
 * @packageDocumentation
 */
export type { LightPushGeneration } from './generation.ts'
export { LIGHT_PUSH_2 } from './light-push-2.ts'
export { LIGHT_PUSH_3 } from './light-push-3.ts'
export { LightPushClient } from './light-push-client.ts'
export {
  LIGHT_PUSH_DEFAULTS,
  type LightPushClientInit,
  type OutgoingMessage,
  type PresenceStore,
  type PushOptions,
  type PushProgress,
  type RateLimitProver
} from './options.ts'
export type {
  PushAttempt,
  PushReason,
  PushResult,
  PushStatus,
  PushVerdict,
  SealedMessage
} from './outcome.ts'
