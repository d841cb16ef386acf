import type { WakuMessage } from 'waku-light/message'
import type { PublishOutcome } from '../publisher.ts'
import type { RateLimits } from '../rate-limiter.ts'

/** What both generations of light push work with. */
export interface LightPushConfig {
  readonly clusterId: number
  /** Absent under static sharding. */
  readonly shardCount?: number
  /** Limit for a message as the reference node encodes it. */
  readonly maxMessageBytes: number
  readonly rateLimits?: RateLimits
  /** True for the pubsub topics that this node relays. */
  serves(pubsubTopic: string): boolean
  /** @throws if the message could not be archived */
  publish(pubsubTopic: string, message: WakuMessage, encoded: Uint8Array): Promise<PublishOutcome>
}
