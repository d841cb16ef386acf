import { InvalidArgumentError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import { assertInteger, assertMethod } from '../lib/checks.ts'
import { assertTimeoutMs, delay } from '../lib/deadline.ts'
import { fromMilliseconds } from '../lib/time.ts'
import type { ClientComponents } from '../transport/service-peers.ts'
import { digestCriteria, type StoreCriteria, toCriteria } from './criteria.ts'
import { follow } from './follow.ts'
import type { StoreGeneration } from './generation.ts'
import { find } from './look-ups.ts'
import { thatTellHashes } from './lookup.ts'
import {
  type FollowOptions,
  type LastOptions,
  type LookupOptions,
  type PagesOptions,
  STORE_DEFAULTS,
  type StoreClientInit,
  type WalkOptions
} from './options.ts'
import type { MessagePage, StoredMessage } from './page.ts'
import { decodePosition } from './position.ts'
import { STORE_BETA4 } from './store-beta4.ts'
import { STORE_QUERY_3 } from './store-query-3.ts'
import { walk } from './walk.ts'
import type { WalkInit } from './walker.ts'

/** Largest page that may be asked for; nodes give 100 at the most by default. */
const MAX_PAGE_LIMIT = 1_000

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
  readonly #init: Pick<WalkInit, 'servicePeers' | 'generations' | 'requestTimeoutMs' | 'sleep'>
  readonly #now: () => number

  /**
   * Holds nothing and does nothing until it is called.
   *
   * @param components - a light node, or anything else that has service peers
   * @throws {@link InvalidArgumentError} for components without service peers, or a wrong option
   */
  constructor(components: ClientComponents, init: StoreClientInit = {}) {
    const {
      generations = [STORE_QUERY_3, STORE_BETA4],
      requestTimeoutMs = STORE_DEFAULTS.requestTimeoutMs
    } = init
    if (generations.length === 0) {
      throw new InvalidArgumentError('generations', 'must not be empty')
    }
    assertTimeoutMs(requestTimeoutMs, 'requestTimeoutMs')
    assertMethod('components.servicePeers', components?.servicePeers, 'request')
    const { servicePeers } = components
    this.#init = { servicePeers, generations, requestTimeoutMs, sleep: init.sleep ?? delay }
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
    return this.#walk(criteria, options, true) as AsyncGenerator<Page>
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
    assertInteger('count', count, 1)
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
    assertTimeoutMs(intervalMs, 'intervalMs')
    assertTimeoutMs(overlapMs, 'overlapMs')
    if (overlapMs === Infinity) {
      throw new InvalidArgumentError('overlapMs', 'must be finite')
    }
    const { timeStart = fromMilliseconds(this.#now()), timeEnd } = toCriteria(criteria)
    if (timeEnd !== undefined) {
      throw new InvalidArgumentError('criteria.timeEnd', 'has no meaning in a tail')
    }
    const query = (from: bigint, position?: string): AsyncGenerator<StoredMessage> =>
      this.query(
        { ...criteria, timeStart: from },
        { ...walkOptions, direction: 'forward', position }
      )
    query(timeStart) // checks the rest before any I/O
    return follow({
      ...options,
      query,
      timeStart,
      intervalMs,
      overlapMs,
      maxBackoffMs: Math.max(intervalMs, STORE_DEFAULTS.maxBackoffMs),
      now: this.#now
    })
  }

  /**
   * The hashes of all messages that match, without their content: for about a tenth of the bytes, which are in one archive and
   * not in another. The node is taken on its word; what it names can be had from {@link StoreClient.lookup}. They come in its
   * order, which for several requests (shards, or more than ten content topics) is none. A reference node may name messages of
   * the very time of `timeEnd` as well.
   *
   * @param options - a `position` must be that of an error of this call; of the walkers, {@link readAhead} is of use
   * @throws {@link UnsupportedError} if no generation in use tells hashes; {@link StoreClient.query} gives them with messages
   * @throws as {@link StoreClient.queryPages}. Begun at a node, it goes on at that node only
   */
  queryHashes(
    criteria: StoreCriteria,
    options: WalkOptions = {}
  ): AsyncGenerator<Pick<StoredMessage, 'messageHash'>> {
    return flatten(this.#walk(criteria, options, false), options)
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
    return this.#find(hashes, true, options)
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
    const present = new Set<string>()
    for await (const { messageHash } of this.#find(hashes, false, options)) {
      present.add(toHex(messageHash))
    }
    return hashes.map((hash) => present.has(toHex(hash)))
  }

  #walk(
    criteria: StoreCriteria,
    options: WalkOptions,
    includeData: boolean
  ): AsyncGenerator<MessagePage> {
    const checked = toCriteria(criteria)
    const {
      direction = 'forward',
      pageLimit = STORE_DEFAULTS.pageLimit,
      timeoutMs = STORE_DEFAULTS.timeoutMs
    } = options
    if (direction !== 'forward' && direction !== 'backward') {
      throw new InvalidArgumentError('direction', "must be 'forward' or 'backward'")
    }
    assertInteger('pageLimit', pageLimit, 1, MAX_PAGE_LIMIT)
    assertTimeoutMs(timeoutMs)
    const forward = direction === 'forward'
    const digest = digestCriteria(checked, forward, includeData)
    return (options.walker?.begin ?? walk)({
      ...options,
      ...this.#init,
      ...(includeData ? undefined : { generations: toHashGenerations(this.#init.generations) }),
      includeData,
      criteria: checked,
      forward,
      pageLimit,
      position:
        options.position === undefined ? { digest } : decodePosition(options.position, digest),
      pageTimeoutMs: timeoutMs
    })
  }

  #find(
    hashes: readonly Uint8Array[],
    includeData: boolean,
    options: LookupOptions
  ): AsyncGenerator<StoredMessage> {
    const { within, ...rest } = options
    return find(
      {
        ...rest,
        ...this.#init,
        includeData,
        within: within === undefined ? undefined : this.query(within, rest)
      },
      hashes
    )
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

/** The generations that tell hashes; without times, nothing is known of the order in which they come. */
function toHashGenerations(generations: readonly StoreGeneration[]): StoreGeneration[] {
  return thatTellHashes(generations).map((generation) => ({ ...generation, strictOrder: false }))
}
