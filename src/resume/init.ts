import { InvalidArgumentError } from '../errors.ts'
import { assertText } from '../lib/checks.ts'
import { assertTimeoutMs, delay } from '../lib/deadline.ts'
import { fromMilliseconds } from '../lib/time.ts'
import { toContentTopics } from '../message/topics.ts'
import type { SourcesPage } from '../store/roster.ts'
import type { Walker } from '../store/walker.ts'
import { createLocks, type ResumeLocks, type WithLock } from './locks.ts'

/** Defaults of {@link createResume}, in milliseconds. */
export const RESUME_DEFAULTS = {
  /** 6 hours, as WAKU-STORE-SYNC recommends. */
  windowMs: 21_600_000,
  overlapMs: 20_000,
  /** 65 minutes: nodes reconcile the last hour every five minutes. */
  healingMs: 3_900_000,
  recheckIntervalMs: 1_800_000,
  minBackoffMs: 1_000,
  maxBackoffMs: 60_000
} as const

/** How to build {@link createResume}. */
export interface ResumeInit {
  /** The app's content topics. Left out: everything on the shards that the nodes serve. */
  readonly contentTopics?: readonly string[]
  /** Left out: derived from each content topic. */
  readonly pubsubTopic?: string
  /**
   * The name of the archive, where other tabs share it: then one of them resumes for all. Left out: this one does, whatever
   * others do.
   */
  readonly name?: string
  /** How far back from now to ask at the most, in milliseconds; `Infinity` for no limit. @default 21600000, 6 hours */
  readonly windowMs?: number
  /** How far to reach beyond either end, for clocks that differ and messages that are late, in milliseconds. @default 20000 */
  readonly overlapMs?: number
  /** For how long a node may lack a message that it gets from others later, in milliseconds. @default 3900000, 65 minutes */
  readonly healingMs?: number
  /** `time-range`: no node is told the content topics; everything of the time is fetched and filtered here. */
  readonly privacy?: 'time-range'
  /**
   * Asks several nodes: {@link sources} or {@link fillGaps}. Left out: one node at a time, a random one first.
   */
  readonly walker?: Walker<SourcesPage>
  /** Messages in a page, 1 to 1000. @default 100 */
  readonly pageLimit?: number
  /** The current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: () => number
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number
  /** Waits for a number of milliseconds, or until the signal is aborted. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** Sees to it that one tab resumes; used if there is a `name`. @default Web Locks */
  readonly locks?: ResumeLocks
}

/** The same after all checks, times in nanoseconds. */
export interface ResumeSettings {
  readonly contentTopics: readonly string[]
  readonly pubsubTopic: string | undefined
  /** Tells this set of topics from others. */
  readonly scope: string
  readonly lockName: string
  readonly windowMs: number
  readonly overlap: bigint
  readonly healing: bigint
  readonly timeRange: boolean
  readonly walker: Walker<SourcesPage> | undefined
  readonly pageLimit: number | undefined
  readonly now: () => number
  readonly random: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly withLock: WithLock
}

/**
 * Checks options and fills in defaults.
 *
 * @throws {@link InvalidArgumentError} naming the one that is wrong
 */
export function toSettings(init: ResumeInit): ResumeSettings {
  const { pubsubTopic, name, privacy, now = Date.now, random = Math.random, sleep = delay } = init
  const { walker, windowMs = RESUME_DEFAULTS.windowMs } = init
  assertTimeoutMs(windowMs, 'windowMs')
  if (privacy !== undefined && privacy !== 'time-range') {
    throw new InvalidArgumentError('privacy', "must be 'time-range' or left out")
  }
  if (walker !== undefined && typeof walker?.begin !== 'function') {
    throw new InvalidArgumentError('walker', 'must be what sources() or fillGaps() give')
  }
  for (const [parameter, text] of Object.entries({ name, pubsubTopic })) {
    if (text !== undefined) {
      assertText(parameter, text)
    }
  }
  const contentTopics = toContentTopics(init.contentTopics ?? [], pubsubTopic, 'contentTopics')
  const scope = JSON.stringify([pubsubTopic ?? null, ...contentTopics])
  const shared = name === undefined ? undefined : (init.locks ?? globalThis.navigator?.locks)
  return {
    contentTopics,
    pubsubTopic,
    scope,
    lockName: `waku-light/resume/${name}/${scope}`,
    windowMs,
    overlap: toDuration(init, 'overlapMs'),
    healing: toDuration(init, 'healingMs'),
    timeRange: privacy !== undefined,
    walker,
    pageLimit: init.pageLimit,
    now,
    random,
    sleep,
    withLock: createLocks(shared)
  }
}

function toDuration(init: ResumeInit, parameter: 'overlapMs' | 'healingMs'): bigint {
  const ms = init[parameter] ?? RESUME_DEFAULTS[parameter]
  if (!(Number.isFinite(ms) && ms >= 0)) {
    throw new InvalidArgumentError(parameter, 'must be a number of milliseconds, at least 0')
  }
  return fromMilliseconds(ms)
}
