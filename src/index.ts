/**
 * `waku-light`: everything but the light node itself, which is `waku-light/node`.
 *
 * @packageDocumentation
 */
export {
  AddressError,
  ClosedError,
  ClusterMismatchError,
  ConnectionError,
  ERROR_CODES,
  type ErrorCode,
  hasErrorCode,
  IncompleteHistoryError,
  InvalidArgumentError,
  InvalidMessageError,
  isWakuLightError,
  LimitExceededError,
  MessageTooLargeError,
  NoUsablePeerError,
  type PeerFailure,
  ProtocolViolationError,
  RemoteStatusError,
  StorageError,
  StorageFullError,
  TimeoutError,
  UnsupportedError,
  WakuLightError
} from './errors.ts'
export {
  LIGHT_PUSH_2,
  LIGHT_PUSH_3,
  LightPushClient,
  type LightPushClientInit,
  type LightPushGeneration,
  type OutgoingMessage,
  type PresenceStore,
  type PushAttempt,
  type PushOptions,
  type PushProgress,
  type PushReason,
  type PushResult,
  type PushStatus,
  type PushVerdict,
  type RateLimitProver,
  type SealedMessage
} from './light-push/index.ts'
export {
  fromHex,
  type HashedFields,
  messageHash,
  type NetworkConfig,
  type TimeInput,
  toHex,
  toPubsubTopic,
  type WakuMessage
} from './message/index.ts'
export type { CallOptions, Logger, ProgressEvent } from './options.ts'
export {
  type Completeness,
  type FollowOptions,
  type FollowProgress,
  type LastOptions,
  type LookupOptions,
  type MessagePage,
  type RejectedEntry,
  type RejectionReason,
  STORE_BETA4,
  STORE_QUERY_3,
  StoreClient,
  type StoreClientInit,
  type StoreCriteria,
  type StoredMessage,
  type StoreGeneration,
  type StoreProgress,
  type WalkOptions
} from './store/index.ts'
export type { ExchangeReply, ExchangeRequest } from './transport/exchange.ts'
export { type CreateEncrypter, joinWrites } from './transport/joined-writes.ts'
export { createServicePeers } from './transport/peers.ts'
export {
  type Dialer,
  type ManagedServicePeers,
  PEER_DEFAULTS,
  type RequestQueue,
  type ServicePeersOptions
} from './transport/peers-options.ts'
export type {
  ClientComponents,
  ServicePeer,
  ServicePeers,
  StreamHost
} from './transport/service-peers.ts'
export type { Service } from './transport/services.ts'
export type { NodeState, NodeStatus } from './transport/state.ts'
