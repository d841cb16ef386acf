import { InvalidArgumentError } from '../errors.ts'
import { assertPositive } from '../lib/checks.ts'
import { delay } from '../lib/deadline.ts'
import { definedOnly } from '../lib/defined.ts'
import type { RateLimitProver } from '../light-push/light-push-client.ts'
import { DEFAULT_MAX_MESSAGE_BYTES } from '../message/message.ts'
import type { OutboxComponents } from './components.ts'
import type { OutboxConfirmation } from './entry.ts'
import type { OutboxStorage } from './storage.ts'

/** Defaults of {@link createOutbox}; times in milliseconds. */
export const OUTBOX_DEFAULTS = {
  maxEntries: 1_000,
  /** 16 MiB. */
  maxBytes: 16 * 1024 * 1024,
  maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES,
  /** A day. */
  maxAgeMs: 86_400_000,
  maxFinished: 1_000,
  maxConcurrent: 4,
  minBackoffMs: 1_000,
  maxBackoffMs: 60_000
} as const

/** The part of the platform's `LockManager` that is used. */
export interface OutboxLocks {
  /** Runs the callback once the lock is held, as the Web Locks API does. */
  request(
    name: string,
    options: { signal: AbortSignal },
    callback: () => Promise<void>
  ): Promise<unknown>
}

/** The part of the platform's `BroadcastChannel` that is used. */
export interface OutboxChannel {
  /** Told of what others post. */
  onmessage: ((event: MessageEvent) => void) | null
  /** Tells others which entries changed. */
  postMessage(ids: readonly string[]): void
  /** Ends the channel. */
  close(): void
}

/** How to build an outbox. */
export interface OutboxInit {
  /** Where entries are kept: {@link indexedDbStorage}, {@link memoryStorage}, or an adapter. */
  readonly storage: OutboxStorage
  /** What makes an entry done, unless {@link EnqueueOptions} say otherwise. @default 'published' */
  readonly confirm?: OutboxConfirmation
  /**
   * Send a message anew, with a new timestamp and hash, where it was sent and a store node does not have it. Recipients may
   * then see it twice. @default false, such an entry is `expired`
   */
  readonly restamp?: boolean
  /** Makes the rate limit proof of each message that is sent. */
  readonly proof?: RateLimitProver
  /** Entries that are not finished. @default 1000 */
  readonly maxEntries?: number
  /** Size of the messages that are not finished, in bytes. @default 16777216, 16 MiB */
  readonly maxBytes?: number
  /** Largest message, in bytes as a service node encodes it. @default 152576, 149 KiB */
  readonly maxMessageBytes?: number
  /** For how long an entry is tried, in milliseconds. @default 86400000, a day */
  readonly maxAgeMs?: number
  /** Finished entries that are remembered: for reading, and to know their ids again. @default 1000 */
  readonly maxFinished?: number
  /** Pushes and look-ups under way at once. @default 4 */
  readonly maxConcurrent?: number
  /** First pause after a failure, in milliseconds; each next one is twice as long. @default 1000 */
  readonly minBackoffMs?: number
  /** Longest pause after a failure, in milliseconds. @default 60000 */
  readonly maxBackoffMs?: number
  /** The current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: () => number
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number
  /** Waits for a number of milliseconds, or until the signal is aborted. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** Sees to it that one tab sends. `null` for none: then no other outbox may use the storage. @default Web Locks */
  readonly locks?: OutboxLocks | null
  /** Tells other tabs of changes. `null` for none. @default a BroadcastChannel */
  readonly createChannel?: ((name: string) => OutboxChannel) | null
}

/** The same with all defaults filled in. */
export type OutboxSettings = Required<Omit<OutboxInit, 'proof'>> & Pick<OutboxInit, 'proof'>

/**
 * Checks what an outbox is built with.
 *
 * @throws {@link InvalidArgumentError} naming what is wrong
 */
export function toSettings(init: OutboxInit, components: OutboxComponents): OutboxSettings {
  if (typeof init?.storage?.add !== 'function') {
    throw new InvalidArgumentError('storage', 'must be an OutboxStorage')
  }
  const settings: OutboxSettings = {
    ...OUTBOX_DEFAULTS,
    confirm: 'published',
    restamp: false,
    now: Date.now,
    random: Math.random,
    sleep: delay,
    locks: globalThis.navigator?.locks ?? null,
    createChannel: globalThis.BroadcastChannel === undefined ? null : openChannel,
    ...definedOnly(init)
  }
  const maxFinished = settings.maxFinished === 0 ? 1 : settings.maxFinished // none is fine as well
  assertPositive({ ...settings, maxFinished }, Object.keys(OUTBOX_DEFAULTS))
  assertConfirmation(settings, components)
  return settings
}

/** What an error says of `confirm: 'stored'` and `restamp` where there is nothing to look up, or nowhere. */
export const NEEDS_STORE = 'needs a store, and a message that is kept'

/**
 * Checks that what is asked for can be had.
 *
 * @throws {@link InvalidArgumentError} if it needs a store client and there is none
 */
export function assertConfirmation(
  { confirm, restamp }: { confirm: OutboxConfirmation; restamp: boolean },
  { store }: OutboxComponents
): void {
  if (confirm !== 'published' && confirm !== 'stored') {
    throw new InvalidArgumentError('confirm', "must be 'published' or 'stored'")
  }
  if ((confirm === 'stored' || restamp) && store === undefined) {
    throw new InvalidArgumentError(confirm === 'stored' ? 'confirm' : 'restamp', NEEDS_STORE)
  }
}

function openChannel(name: string): OutboxChannel {
  const channel = new BroadcastChannel(name)
  ;(channel as { unref?: () => void }).unref?.() // an open one keeps Node from ending
  return channel
}
