import type { CallOptions } from '../options.ts'
import type { StoreCriteria } from './criteria.ts'
import type { FollowProgress } from './follow.ts'
import type { StoreGeneration } from './generation.ts'
import type { MessagePage, StoreProgress } from './page.ts'
import type { Walker } from './walker.ts'

/** Defaults of {@link StoreClient}; times in milliseconds. */
export const STORE_DEFAULTS = {
  /** For each page, whatever it takes. */
  timeoutMs: 30_000,
  requestTimeoutMs: 15_000,
  pageLimit: 100,
  intervalMs: 3_000,
  overlapMs: 30_000,
  maxBackoffMs: 30_000
} as const

/** Options of all calls that walk through history. */
export interface WalkOptions extends CallOptions<StoreProgress> {
  /** `forward`: oldest first; `backward`: newest first. @default 'forward' */
  readonly direction?: 'forward' | 'backward'
  /** Largest number of messages in a page, 1 to 1000; nodes cap it, mostly at 100. @default 100 */
  readonly pageLimit?: number
  /** Go on from here; a {@link MessagePage.position} of the same criteria and direction. */
  readonly position?: string | undefined
  /** Peer id of the only node to ask. Left out: the best one, and others if it fails. */
  readonly peerId?: string
  /** How to walk: {@link readAhead}, {@link parallel}, {@link sources}, {@link fillGaps}. @default page by page */
  readonly walker?: Walker
}

/** Options of {@link StoreClient.queryPages}; the walker tells what its pages are. */
export interface PagesOptions<Page extends MessagePage = MessagePage> extends WalkOptions {
  /** How to walk. @default page by page */
  readonly walker?: Walker<Page>
}

/** Options of {@link StoreClient.last}. */
export type LastOptions = Omit<WalkOptions, 'direction' | 'position'>

/** Options of {@link StoreClient.follow}. */
export interface FollowOptions extends Omit<WalkOptions, 'direction' | 'position' | 'onProgress'> {
  /** Pause between two questions, in milliseconds. @default 3000 */
  readonly intervalMs?: number
  /** How far each question reaches back behind the newest message, in milliseconds. @default 30000 */
  readonly overlapMs?: number
  /** Told what happens in this tail. */
  readonly onProgress?: (event: FollowProgress) => void
}

/** Options of {@link StoreClient.lookup} and {@link StoreClient.has}. */
export interface LookupOptions extends CallOptions<StoreProgress> {
  /** Peer id of the only node to ask. */
  readonly peerId?: string
  /**
   * Where the messages are to be found, for nodes that cannot look up hashes: with content topics and times, they are
   * searched there instead.
   */
  readonly within?: StoreCriteria
}

/** How to build {@link StoreClient}. */
export interface StoreClientInit {
  /** Generations of the protocol, most wanted first. @default store-query 3.0.0, then store 2.0.0-beta4 */
  readonly generations?: readonly StoreGeneration[]
  /** For one request to one node, in milliseconds. @default 15000 */
  readonly requestTimeoutMs?: number
  /** Waits for a number of milliseconds, or rejects when the signal is aborted. @default a timer */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** The current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: () => number
}
