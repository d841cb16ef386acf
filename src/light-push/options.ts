import { InvalidArgumentError } from '../errors.ts'
import { assertPositive } from '../lib/checks.ts'
import { delay } from '../lib/deadline.ts'
import { definedOnly } from '../lib/defined.ts'
import { distinctTimes, type TimeInput } from '../lib/time.ts'
import { DEFAULT_MAX_MESSAGE_BYTES, type WakuMessage } from '../message/message.ts'
import type { CallOptions, ProgressEvent } from '../options.ts'
import type { LightPushGeneration } from './generation.ts'
import { LIGHT_PUSH_2 } from './light-push-2.ts'
import { LIGHT_PUSH_3 } from './light-push-3.ts'
import type { PushAttempt, SealedMessage } from './outcome.ts'

/** Defaults of {@link LightPushClient}; times in milliseconds. */
export const LIGHT_PUSH_DEFAULTS = {
  timeoutMs: 30_000,
  attemptTimeoutMs: 10_000,
  maxAttempts: 5,
  minBackoffMs: 500,
  maxBackoffMs: 8_000,
  maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES
} as const

/** A message to publish. */
export interface OutgoingMessage {
  /** `/{application}/{version}/{name}/{encoding}` */
  readonly contentTopic: string
  /** The content; may be empty. */
  readonly payload: Uint8Array
  /** Nanoseconds as a `bigint`, or a `Date`. Left out: now, and no other message of this client has the same. */
  readonly timestamp?: TimeInput
  /** Part of the message hash; at most 64 bytes. */
  readonly meta?: Uint8Array
  /** How the payload is encrypted; 0, not by Waku, if left out. */
  readonly version?: number
  /** True: relayed, but not stored. */
  readonly ephemeral?: boolean
}

/** Makes a rate limit proof for a message whose timestamp is set. */
export type RateLimitProver = (
  message: WakuMessage,
  pubsubTopic: string
) => Uint8Array | Promise<Uint8Array>

/** What tells whether messages are in an archive. {@link StoreClient} is one. */
export interface PresenceStore {
  /** One answer for each hash; it rejects if no node answers. */
  has(
    hashes: readonly Uint8Array[],
    options: {
      /** Where the message is, for nodes that cannot look up hashes. */
      readonly within: {
        readonly contentTopics: readonly string[]
        readonly pubsubTopic: string
        readonly timeStart: bigint
        readonly timeEnd: bigint
      }
      readonly signal: AbortSignal
      readonly timeoutMs: number
    }
  ): Promise<readonly boolean[]>
}

/** The message was sealed and nothing was sent yet; a try begins, or has ended; there is a pause before the next one. */
export type PushProgress =
  | ProgressEvent<'light-push:sealed', SealedMessage>
  | ProgressEvent<'light-push:attempt', { readonly peerId: string }>
  | ProgressEvent<'light-push:attempted', PushAttempt>
  | ProgressEvent<'light-push:pause', { readonly pauseMs: number }>

/** Options of {@link LightPushClient.push}. */
export interface PushOptions extends CallOptions<PushProgress> {
  /** Left out: derived from the content topic, or the only one in use. */
  readonly pubsubTopic?: string
  /** Asked once, after the timestamp is set; its result is carried untouched. */
  readonly proof?: RateLimitProver
  /** Tries at the most, at all nodes together. @default that of the client */
  readonly maxAttempts?: number
  /** `false`: one try, or one for each node of `redundancy`. @default true */
  readonly retry?: boolean
  /** To how many nodes it is pushed at once. The push ends when that many took it, or no more can be had. @default 1 */
  readonly redundancy?: number
  /**
   * `'stored'`: afterwards, a store node is asked for the message, several times before it is taken to be missing. The answer
   * is `stored` in the result. Needs a `store`.
   *
   * @default 'published'
   */
  readonly confirm?: 'published' | 'stored'
}

/** How to build {@link LightPushClient}. */
export interface LightPushClientInit {
  /** Generations of the protocol, most wanted first. @default 3.0.0, then 2.0.0-beta1 */
  readonly generations?: readonly LightPushGeneration[]
  /** Whom to ask for `confirm: 'stored'`: a {@link StoreClient}, say. */
  readonly store?: PresenceStore
  /** Largest message, in bytes as a service node encodes it. @default 152576, 149 KiB */
  readonly maxMessageBytes?: number
  /** Tries of one push at the most, at all nodes together. @default 5 */
  readonly maxAttempts?: number
  /** For one try at one node, in milliseconds. @default 10000 */
  readonly attemptTimeoutMs?: number
  /** Pause before the first repeat at a node, in milliseconds; each next one is twice as long. @default 500 */
  readonly minBackoffMs?: number
  /** Longest such pause, in milliseconds. @default 8000 */
  readonly maxBackoffMs?: number
  /** The current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: () => number
  /** From 0 to 1: how much of a pause's second half is waited. @default Math.random */
  readonly random?: () => number
  /** Waits for a number of milliseconds, or rejects when the signal is aborted. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The same with all defaults filled in. */
export type PushSettings = Required<Omit<LightPushClientInit, 'store'>> &
  Pick<LightPushClientInit, 'store'> & {
    readonly timeoutMs: number
    /** A timestamp that no other message of the client has. */
    readonly stamp: () => bigint
  }

/**
 * Fills in defaults.
 *
 * @throws {@link InvalidArgumentError} for a wrong option
 */
export function toSettings(init: LightPushClientInit): PushSettings {
  const { now = Date.now } = init
  const settings: PushSettings = {
    ...LIGHT_PUSH_DEFAULTS,
    generations: [LIGHT_PUSH_3, LIGHT_PUSH_2],
    now,
    stamp: distinctTimes(now),
    random: Math.random,
    sleep: delay,
    ...definedOnly(init)
  }
  if (settings.generations.length === 0) {
    throw new InvalidArgumentError('generations', 'must not be empty')
  }
  assertPositive(settings, Object.keys(LIGHT_PUSH_DEFAULTS))
  return settings
}
