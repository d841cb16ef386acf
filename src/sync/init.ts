import { InvalidArgumentError } from '../errors.ts'
import { assertMethod, assertObject, assertPositive, assertText } from '../lib/checks.ts'
import { delay } from '../lib/deadline.ts'
import { definedOnly } from '../lib/defined.ts'
import type { SyncArchive } from './components.ts'
import type { SyncSessionOptions } from './sync-session.ts'

/** Defaults of {@link createSync}; times in milliseconds. */
export const SYNC_DEFAULTS = {
  intervalMs: 300_000,
  rangeMs: 3_600_000,
  /** The newest messages, which may still be on their way. */
  jitterMs: 20_000,
  servedRangeMs: 21_600_000,
  timeoutMs: 120_000,
  replyTimeoutMs: 15_000,
  /** Without a transferred message, before store nodes are asked for what is missing. */
  transferIdleMs: 3_000,
  /** For how long after a session what it found missing is still taken. */
  lateTransferMs: 60_000,
  maxBackoffMs: 3_600_000,
  maxEntries: 1_000_000,
  maxMessages: 100_000,
  /** 256 MiB. */
  maxMessageBytes: 256 * 1024 * 1024,
  maxServedSessions: 4
} as const

/** The part of the platform's `LockManager` that is used. */
export interface SyncLocks {
  /** Runs the callback once the lock is held, as the Web Locks API does. */
  request(
    name: string,
    options: { readonly signal: AbortSignal },
    callback: () => Promise<void>
  ): Promise<unknown>
}

/** The part of the platform's `Document` that is used. */
export interface SyncVisibility {
  readonly visibilityState: string
  /** As that of `document`. */
  addEventListener(type: 'visibilitychange', listener: () => void): void
  /** As that of `document`. */
  removeEventListener(type: 'visibilitychange', listener: () => void): void
}

/** How to build {@link createSync}. */
export interface SyncInit {
  /** What is compared, and where everything goes that is received. */
  readonly archive: SyncArchive
  /** Messages on these pubsub topics alone. @default all */
  readonly pubsubTopics?: readonly string[]
  /** Messages on these content topics alone. @default all */
  readonly contentTopics?: readonly string[]
  /**
   * Answer the sessions of others, and look up messages by hash for them during a session and shortly after. A node that
   * answers says so to all its peers, and is chosen by them: not for a page that comes and goes. @default false
   */
  readonly serve?: boolean
  /** Serve those look-ups by hash; false where a store is served already. @default as `serve` */
  readonly serveLookups?: boolean
  /** Start sessions: at once, after reconnecting, and at the interval. False: only those that are asked for. @default true */
  readonly automatic?: boolean
  /** Between two sessions with random peers. @default 300000 */
  readonly intervalMs?: number
  /** How far back a session goes. @default 3600000 */
  readonly rangeMs?: number
  /** The newest, which is left out. @default 20000 */
  readonly jitterMs?: number
  /** How far back others may ask. @default 21600000, six hours */
  readonly servedRangeMs?: number
  /** For one session with all that it moves. @default 120000 */
  readonly timeoutMs?: number
  /** For one payload of a peer. @default 15000 */
  readonly replyTimeoutMs?: number
  /** How long to wait for the next transferred message before stores are asked. @default 3000 */
  readonly transferIdleMs?: number
  /** For how long what a session found missing is taken after its end. @default 60000 */
  readonly lateTransferMs?: number
  /** Longest pause for a peer that failed; the first is as long as `intervalMs`. @default 3600000 */
  readonly maxBackoffMs?: number
  /** Entries of the index. @default 1000000 */
  readonly maxEntries?: number
  /** Messages that one session takes; with as many differences it looks for no more. @default 100000 */
  readonly maxMessages?: number
  /** Bytes of them. @default 268435456, 256 MiB */
  readonly maxMessageBytes?: number
  /** Sessions that are answered at a time; one for each peer. @default 4 */
  readonly maxServedSessions?: number
  /** How the engine goes about it. @default what suits the peer */
  readonly session?: Partial<SyncSessionOptions>
  /** Start no session while the page is hidden. @default false */
  readonly pauseWhileHidden?: boolean
  /** Those that give the same name take turns: one tab at a time starts sessions by itself. @default 'waku-light:sync' */
  readonly lockName?: string
  /** The current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: () => number
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number
  /** Waits for a number of milliseconds, or until the signal is aborted. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** `null` for none. @default Web Locks, where there are any */
  readonly locks?: SyncLocks | null
  /** @default the document, where there is one */
  readonly visibility?: SyncVisibility | null
}

/** The same with all defaults filled in, and the first pause for a peer that failed. */
export type SyncSettings = Required<SyncInit> & { readonly minBackoffMs: number }

/**
 * Checks what sync is built with.
 *
 * @throws {@link InvalidArgumentError} naming what is wrong
 */
export function toSyncSettings(init: SyncInit): SyncSettings {
  assertObject('init', init)
  const settings: Required<SyncInit> = {
    ...SYNC_DEFAULTS,
    pubsubTopics: [],
    contentTopics: [],
    serve: false,
    serveLookups: init.serve ?? false,
    session: {},
    automatic: true,
    pauseWhileHidden: false,
    lockName: 'waku-light:sync',
    now: Date.now,
    random: Math.random,
    sleep: delay,
    locks: globalThis.navigator?.locks ?? null,
    visibility: globalThis.document ?? null,
    ...(definedOnly(init) as Pick<SyncInit, 'archive'>)
  }
  assertMethod('archive', settings.archive, 'walkKeys')
  for (const parameter of ['pubsubTopics', 'contentTopics'] as const) {
    if (!Array.isArray(settings[parameter])) {
      throw new InvalidArgumentError(parameter, 'must be an array')
    }
    for (const topic of settings[parameter]) {
      assertText(parameter, topic)
    }
  }
  const { jitterMs, intervalMs: minBackoffMs } = settings
  // to leave out none of the newest is fine
  assertPositive(
    { ...settings, jitterMs: jitterMs === 0 ? 1 : jitterMs },
    Object.keys(SYNC_DEFAULTS)
  )
  return { ...settings, minBackoffMs }
}
