import { hasErrorCode, InvalidArgumentError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import { assertTimeoutMs, withDeadline } from '../lib/deadline.ts'
import { fromMilliseconds } from '../lib/time.ts'
import { MESSAGE_HASH_BYTES } from '../message/message-hash.ts'
import type { CallOptions } from '../options.ts'
import type { ClientComponents } from '../transport/service-peers.ts'
import { digestCriteria, type StoreCriteria, toCriteria } from './criteria.ts'
import { type FollowProgress, follow } from './follow.ts'
import type { StoreGeneration } from './generation.ts'
import { type LookupInit, lookUp, MAX_HASHES_PER_REQUEST } from './lookup.ts'
import type { MessagePage, StoredMessage, StoreProgress } from './page.ts'
import { decodePosition } from './position.ts'
import { STORE_BETA4 } from './store-beta4.ts'
import { STORE_QUERY_3 } from './store-query-3.ts'
import { walk } from './walk.ts'
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

/** Largest page that may be asked for; nodes give 100 at the most by default. */
const MAX_PAGE_LIMIT = 1_000

/** Options of all calls that walk through history. */
export interface WalkOptions extends CallOptions<StoreProgress> {
  /** `forward`: oldest first; `backward`: newest first. @default 'forward' */
  readonly direction?: 'forward' | 'backward'
  /** Largest number of messages in a page, 1 to 1000; nodes cap it, mostly at 100. @default 100 */
  readonly pageLimit?: number
  /** Go on from here; a {@link MessagePage.position} of the same criteria and direction. */
  readonly position?: string
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
  /** The current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: () => number
}

/**
 * Reads history from the archives of service nodes. Each match is delivered once and in the documented order, with its hash
 * recomputed, or the call throws with the position from which to go on.
 *
 * A walk ends when the node says so. That the node holds all there is, and that nothing was left out between two messages, is
 * taken on its word.
 *
 * @see 13/WAKU2-STORE
 *
 * @example
 * ```ts
 * const store = new StoreClient(node)
 * for await (const message of store.query({ contentTopics: ['/chat/1/lobby/proto'] })) render(message)
 * ```
 */
export class StoreClient {
  readonly #components: ClientComponents
  readonly #generations: readonly StoreGeneration[]
  readonly #requestTimeoutMs: number
  readonly #now: () => number

  /**
   * Holds nothing and does nothing until it is called.
   *
   * @param components - a light node, or anything else that has service peers
   * @throws {@link InvalidArgumentError} for a wrong option
   */
  constructor(components: ClientComponents, init: StoreClientInit = {}) {
    const {
      generations = [STORE_QUERY_3, STORE_BETA4],
      requestTimeoutMs = STORE_DEFAULTS.requestTimeoutMs
    } = init
    if (generations.length === 0) {
      throw new InvalidArgumentError('generations', 'must not be empty')
    }
    assertPositive('requestTimeoutMs', requestTimeoutMs)
    this.#components = components
    this.#generations = generations
    this.#requestTimeoutMs = requestTimeoutMs
    this.#now = init.now ?? Date.now
  }

  /**
   * Pages of history, each asked for when it is pulled. There is always a last page, empty if need be, that tells how far the
   * end can be trusted ({@link MessagePage.completeness}).
   *
   * @param criteria - which messages
   * @param options - `timeoutMs` is for each page
   * @throws {@link InvalidArgumentError} before any I/O
   * @throws {@link IncompleteHistoryError} with the position from which to go on
   * @throws the signal's own reason
   */
  queryPages<Page extends MessagePage = MessagePage>(
    criteria: StoreCriteria,
    options: PagesOptions<Page> = {}
  ): AsyncGenerator<Page> {
    const checked = toCriteria(criteria)
    const {
      direction = 'forward',
      pageLimit = STORE_DEFAULTS.pageLimit,
      timeoutMs = STORE_DEFAULTS.timeoutMs
    } = options
    if (direction !== 'forward' && direction !== 'backward') {
      throw new InvalidArgumentError('direction', "must be 'forward' or 'backward'")
    }
    if (!Number.isInteger(pageLimit) || pageLimit < 1 || pageLimit > MAX_PAGE_LIMIT) {
      throw new InvalidArgumentError('pageLimit', `must be an integer from 1 to ${MAX_PAGE_LIMIT}`)
    }
    assertTimeoutMs(timeoutMs)
    const forward = direction === 'forward'
    const digest = digestCriteria(checked, forward)
    return (options.walker?.begin ?? walk)({
      servicePeers: this.#components.servicePeers,
      generations: this.#generations,
      criteria: checked,
      forward,
      pageLimit,
      position:
        options.position === undefined ? { digest } : decodePosition(options.position, digest),
      peerId: options.peerId,
      requestTimeoutMs: this.#requestTimeoutMs,
      pageTimeoutMs: timeoutMs,
      signal: options.signal,
      onProgress: options.onProgress
    }) as AsyncGenerator<Page>
  }

  /**
   * Messages of history: forward strictly oldest first, backward strictly newest first. Leaving the loop asks for nothing
   * more.
   *
   * @throws as {@link StoreClient.queryPages}
   */
  query(criteria: StoreCriteria, options: WalkOptions = {}): AsyncGenerator<StoredMessage> {
    return flatten(this.queryPages(criteria, options), options)
  }

  /**
   * The newest messages, oldest first.
   *
   * @param count - how many at the most
   * @throws as {@link StoreClient.queryPages}
   */
  async last(
    criteria: StoreCriteria,
    count: number,
    options: LastOptions = {}
  ): Promise<StoredMessage[]> {
    if (!Number.isInteger(count) || count < 1) {
      throw new InvalidArgumentError('count', 'must be a positive integer')
    }
    const pageLimit = options.pageLimit ?? Math.min(count, STORE_DEFAULTS.pageLimit)
    const messages: StoredMessage[] = []
    for await (const message of this.query(criteria, {
      ...options,
      pageLimit,
      direction: 'backward'
    })) {
      messages.push(message)
      if (messages.length === count) {
        break
      }
    }
    return messages.reverse()
  }

  /**
   * A tail: all messages from `timeStart` on (now, if left out), and then what comes, by asking again at an interval. Each
   * message comes once; one that reached the archive late, up to the overlap, comes late. Failures are told by `onProgress`
   * and asked again, until the signal is aborted.
   *
   * @param criteria - which messages; without `timeEnd`
   * @throws {@link InvalidArgumentError} before any I/O
   * @throws {@link IncompleteHistoryError} for what asking again does not mend
   * @throws the signal's own reason
   */
  follow(
    criteria: Omit<StoreCriteria, 'timeEnd'>,
    options: FollowOptions = {}
  ): AsyncGenerator<StoredMessage> {
    const {
      intervalMs = STORE_DEFAULTS.intervalMs,
      overlapMs = STORE_DEFAULTS.overlapMs,
      ...walkOptions
    } = options
    assertPositive('intervalMs', intervalMs)
    assertPositive('overlapMs', overlapMs)
    if (overlapMs === Number.POSITIVE_INFINITY) {
      throw new InvalidArgumentError('overlapMs', 'must be finite')
    }
    if ('timeEnd' in criteria && criteria.timeEnd !== undefined) {
      throw new InvalidArgumentError('criteria.timeEnd', 'has no meaning in a tail')
    }
    const { timeStart = fromMilliseconds(this.#now()) } = toCriteria(criteria)
    const query = (
      from: bigint,
      position?: string,
      onProgress?: (event: StoreProgress) => void
    ): AsyncGenerator<StoredMessage> =>
      this.query(
        { ...criteria, timeStart: from },
        { ...walkOptions, direction: 'forward', position, onProgress }
      )
    query(timeStart) // checks the rest before any I/O
    return follow({
      query,
      timeStart,
      intervalMs,
      overlapMs,
      maxBackoffMs: Math.max(intervalMs, STORE_DEFAULTS.maxBackoffMs),
      now: this.#now,
      signal: options.signal,
      onProgress: options.onProgress
    })
  }

  /**
   * Messages by their hashes, any number of them. What the asked node does not have is left out.
   *
   * @param hashes - 32 bytes each
   * @param options - `timeoutMs` is for each request
   * @throws {@link InvalidArgumentError} before any I/O
   * @throws {@link UnsupportedError} if no node looks up hashes and `within` is not given
   * @throws {@link NoUsablePeerError} or the only node's error if none answers; the signal's own reason
   */
  lookup(
    hashes: readonly Uint8Array[],
    options: LookupOptions = {}
  ): AsyncGenerator<StoredMessage> {
    const asked = toHashes(hashes)
    assertLookupOptions(options)
    return this.#lookup(asked, options)
  }

  /**
   * Whether messages are in a node's archive, without transferring them. `false` says that the asked node does not have it,
   * not that nobody does.
   *
   * @param hashes - 32 bytes each
   * @returns one answer for each hash, in their order
   * @throws as {@link StoreClient.lookup}
   */
  async has(hashes: readonly Uint8Array[], options: LookupOptions = {}): Promise<boolean[]> {
    const asked = toHashes(hashes)
    assertLookupOptions(options)
    const present = new Set<string>()
    try {
      for (const batch of toBatches(unique(asked))) {
        const answer = await this.#ask(batch, false, options)
        for (const key of answer.present) {
          present.add(key)
        }
      }
    } catch (error) {
      const found = this.#searchInstead(error, asked, options)
      for await (const { messageHash } of found) {
        present.add(toHex(messageHash))
      }
    }
    return asked.map((hash) => present.has(toHex(hash)))
  }

  async *#lookup(
    hashes: readonly Uint8Array<ArrayBuffer>[],
    options: LookupOptions
  ): AsyncGenerator<StoredMessage> {
    for (const batch of toBatches(unique(hashes))) {
      let found: AsyncIterable<StoredMessage> | StoredMessage[]
      try {
        const { rows } = await this.#ask(batch, true, options)
        found = rows.map(({ message }) => message)
      } catch (error) {
        found = this.#searchInstead(error, batch, options)
      }
      for await (const message of found) {
        options.signal?.throwIfAborted()
        yield message
      }
    }
  }

  async #ask(
    batch: readonly Uint8Array<ArrayBuffer>[],
    includeData: boolean,
    options: LookupOptions
  ) {
    const init: LookupInit = {
      servicePeers: this.#components.servicePeers,
      generations: this.#generations,
      peerId: options.peerId,
      requestTimeoutMs: this.#requestTimeoutMs,
      onProgress: options.onProgress
    }
    return await withDeadline('look-up', options, STORE_DEFAULTS.timeoutMs, async (signal) => {
      await this.#components.servicePeers.network(signal)
      return await lookUp(init, batch, includeData, signal)
    })
  }

  /** Before store-query 3.0.0 nodes cannot look up hashes: the stretch of history that holds them is searched. */
  async *#searchInstead(
    error: unknown,
    hashes: readonly Uint8Array[],
    { within, signal, timeoutMs, onProgress, peerId }: LookupOptions
  ): AsyncGenerator<StoredMessage> {
    if (within === undefined || !isUnsupported(error)) {
      throw error
    }
    const missing = new Set(hashes.map(toHex))
    for await (const message of this.query(within, { signal, timeoutMs, onProgress, peerId })) {
      if (missing.delete(toHex(message.messageHash))) {
        yield message
      }
      if (missing.size === 0) {
        return
      }
    }
  }
}

async function* flatten(
  pages: AsyncGenerator<MessagePage>,
  { direction, signal }: WalkOptions
): AsyncGenerator<StoredMessage> {
  for await (const { messages } of pages) {
    for (const message of direction === 'backward' ? [...messages].reverse() : messages) {
      signal?.throwIfAborted()
      yield message
    }
  }
}

/** True if a node that was reached does not look up hashes. */
function isUnsupported(error: unknown): boolean {
  return hasErrorCode(error, 'ERR_NO_USABLE_PEER')
    ? error.failures.some((failure) => isUnsupported(failure.error))
    : hasErrorCode(error, 'ERR_UNSUPPORTED')
}

function unique(hashes: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer>[] {
  return [...new Map(hashes.map((hash) => [toHex(hash), hash])).values()]
}

function* toBatches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let index = 0; index < items.length; index += MAX_HASHES_PER_REQUEST) {
    yield items.slice(index, index + MAX_HASHES_PER_REQUEST)
  }
}

function toHashes(hashes: readonly Uint8Array[]): Uint8Array<ArrayBuffer>[] {
  if (!Array.isArray(hashes)) {
    throw new InvalidArgumentError('hashes', 'must be an array')
  }
  return hashes.map((hash) => {
    if (!(hash instanceof Uint8Array) || hash.length !== MESSAGE_HASH_BYTES) {
      throw new InvalidArgumentError(
        'hashes',
        `must hold Uint8Arrays of ${MESSAGE_HASH_BYTES} bytes`
      )
    }
    return new Uint8Array(hash)
  })
}

function assertLookupOptions({
  within,
  timeoutMs = STORE_DEFAULTS.timeoutMs
}: LookupOptions): void {
  assertTimeoutMs(timeoutMs)
  if (within !== undefined) {
    toCriteria(within)
  }
}

function assertPositive(parameter: string, value: number): void {
  if (typeof value !== 'number' || !(value > 0)) {
    throw new InvalidArgumentError(parameter, 'must be a positive number')
  }
}
