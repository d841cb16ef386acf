import {
  ConnectionError,
  hasErrorCode,
  IncompleteHistoryError,
  LimitExceededError
} from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import { withDeadline } from '../lib/deadline.ts'
import { report } from '../lib/report.ts'
import { toSubQueries } from './criteria.ts'
import { type HashList, HashNode } from './hash-list.ts'
import type { MessagePage, RejectedEntry } from './page.ts'
import { encodePosition, type WalkPosition } from './position.ts'
import {
  causeOf,
  Lacks,
  Roster,
  SOURCES_DEFAULTS,
  type SourcesPage,
  toComparable,
  toRows,
  toWanted
} from './roster.ts'
import { RunningWalk, stepByStep } from './running-walk.ts'
import type { MergeOptions } from './sources.ts'
import { isBehind } from './transforms.ts'
import { toLast, walk } from './walk.ts'
import type { Walker, WalkInit } from './walker.ts'
import { GapSource, Pending, type ReadyRow, rangeBetween } from './window.ts'

/** Part of a page that the first node is asked for: what others have in that stretch then mostly fits one page too. */
const WINDOW = 0.8

/** Messages of one time that are held. */
const MAX_PENDING = 2_000

/**
 * As {@link sources}, for a fraction of the bytes: the messages come from one node, and the others are asked for the hashes in
 * the same stretch only. What is missing is fetched by hash, and the stretch is delivered in order.
 *
 * @param count - how many nodes, the first one included, 1 to 64; `all` for all there are
 * @param options - `walker` is for the first node
 * @throws {@link InvalidArgumentError} for another number
 *
 * @example
 * ```ts
 * for await (const message of store.query(criteria, { walker: fillGaps('all') })) render(message)
 * ```
 */
export function fillGaps(count: number | 'all', options: MergeOptions = {}): Walker<SourcesPage> {
  const { patienceMs = SOURCES_DEFAULTS.patienceMs, walker = { begin: walk } } = options
  const wanted = toWanted(count, patienceMs)
  return {
    begin(given) {
      const init = toComparable(given)
      return stepByStep(init, () => new GapWalk(init, wanted, patienceMs, walker))
    }
  }
}

class GapWalk {
  readonly #init: WalkInit
  readonly #patienceMs: number
  readonly #running: RunningWalk<MessagePage>
  readonly #roster: Roster<GapSource>
  readonly #pending: Pending
  /** Of the first node, by peer id: what happened last. */
  readonly #errors = new Map<string, Error>()
  #subQueries: ReturnType<typeof toSubQueries> = []
  #primary: GapSource | undefined
  #protocol = ''
  #ready: ReadyRow[] = []
  #rejected: RejectedEntry[] = []
  #position: WalkPosition
  /** All nodes have told what they have before this time; undefined: before the beginning. */
  #near: bigint | undefined
  /** The first node has given everything before this time; undefined: it has given all. */
  #edge: bigint | undefined
  #isOver = false

  constructor(init: WalkInit, wanted: number, patienceMs: number, walker: Walker) {
    this.#init = init
    this.#patienceMs = patienceMs
    this.#pending = new Pending(init.forward)
    this.#position = init.position
    this.#near = init.position.last?.time
    this.#edge = this.#near
    this.#roster = new Roster(init, wanted, (peerId) => this.#create(peerId))
    this.#running = new RunningWalk(walker, {
      ...init,
      pageLimit: Math.ceil(init.pageLimit * WINDOW),
      onProgress: (event) => {
        if (event.type === 'store:peer-failed') {
          this.#errors.set(event.detail.peerId, event.detail.error)
        }
        report(init.onProgress, event)
      }
    })
  }

  async close(): Promise<void> {
    await this.#roster.close()
    await this.#running.close()
  }

  /** What all nodes have told by now, in order. */
  async next(): Promise<SourcesPage> {
    if (this.#ready.length === 0 && !this.#isOver) {
      await this.#pullWindow()
      do {
        await this.#askOthers()
      } while (!(await this.#fetchMissing()))
      this.#release()
    }
    const { forward, pageLimit } = this.#init
    const ready = this.#ready.splice(0, pageLimit)
    const lacks = new Lacks()
    for (const { row, lackedBy } of ready) {
      for (const source of lackedBy) {
        lacks.add(source, row)
      }
    }
    const rows = ready.map(({ row }) => row)
    const { digest, last } = this.#position
    this.#position = { digest, last: toLast(rows, this.#protocol, last, forward) }
    const messages = rows.map(({ message }) => message)
    return {
      messages: forward ? messages : messages.reverse(),
      rejected: this.#rejected.splice(0),
      position: encodePosition(this.#position),
      completeness: this.#isOver && this.#ready.length === 0 ? 'complete' : 'more',
      peerId: this.#primary?.peerId ?? '',
      protocol: this.#protocol,
      lacks: lacks.toList(forward),
      sources: this.#roster.states
    }
  }

  get #others(): readonly GapSource[] {
    return this.#roster.live.filter((source) => source !== this.#primary)
  }

  #create(peerId: string): GapSource {
    const node = new HashNode(this.#init, { peerId }, this.#subQueries)
    return new GapSource(peerId, this.#position.last?.time, node)
  }

  /** Pulls pages until they reach on in time: of the last time in a page there may be more in the next one. */
  async #pullWindow(): Promise<void> {
    const isStuck = (): boolean => this.#edge === this.#near || this.#edge === undefined
    while (this.#primary?.isDone !== true && isStuck()) {
      if (this.#pending.size > MAX_PENDING) {
        const text = 'too many messages of one time to fill gaps between them'
        throw this.#incomplete(new LimitExceededError(text, MAX_PENDING))
      }
      await this.#pull()
    }
  }

  async #pull(): Promise<void> {
    const { signal, servicePeers, criteria, pageTimeoutMs } = this.#init
    let page: MessagePage | undefined
    try {
      page = await this.#running.ask()
    } catch (error) {
      throw hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY') ? this.#incomplete(error.cause) : error
    }
    signal?.throwIfAborted()
    if (page === undefined) {
      throw new Error('a walk ended without a last page')
    }
    if (this.#primary === undefined) {
      const network = await withDeadline('query', { signal }, pageTimeoutMs, (inner) =>
        servicePeers.network(inner)
      )
      this.#subQueries = toSubQueries(criteria, network)
    }
    const primary = await this.#turnTo(page.peerId)
    this.#protocol = page.protocol
    this.#rejected.push(...page.rejected)
    const rows = toRows(page, this.#init)
    for (const row of rows) {
      this.#pending.add(row, true)
    }
    primary.isDone = page.completeness !== 'more'
    this.#edge = primary.isDone ? undefined : (rows.at(-1)?.time ?? this.#edge)
  }

  /** The node that gives the messages; where it failed, another one has gone on. */
  async #turnTo(peerId: string): Promise<GapSource> {
    const before = this.#primary
    if (before?.peerId === peerId) {
      return before
    }
    const source = this.#roster.get(peerId) ?? this.#create(peerId)
    source.failure = undefined
    this.#roster.add(source)
    this.#primary = source
    if (before !== undefined) {
      const error = this.#errors.get(before.peerId) ?? new ConnectionError('another node went on')
      await this.#roster.drop(before, error, this.#position)
    }
    return source
  }

  /** Asks the others for hashes, as far as they hold up the rest; all of them, where they were not asked yet. */
  async #askOthers(): Promise<void> {
    const range = rangeBetween(this.#init, this.#near, this.#edge)
    for (;;) {
      this.#roster.complete()
      const others = this.#others
      const asking = others.map((other) => {
        other.lists ??= other.node.list(range)
        const lists = other.lists.filter((list) => this.#holdsUp(list))
        return lists.length === 0
          ? []
          : this.#try(other, async (signal) => {
              await Promise.all(lists.map((list) => other.node.extend(list, signal)))
            })
      })
      await Promise.all(asking.flat())
      if (others.every(({ failure }) => failure === undefined)) {
        return
      }
    }
  }

  /** Fetches what others have listed and nobody has given yet; false if one failed, whose place another one may take. */
  async #fetchMissing(): Promise<boolean> {
    const { last } = this.#position
    const others = this.#others
    for (const other of others) {
      const delivered = last?.hashes?.map((hash) => toHex(hash)) ?? []
      const missing = other
        .untried()
        .filter((key) => !this.#pending.has(key) && !delivered.includes(key))
      if (missing.length > 0) {
        await this.#try(other, async (signal) => {
          for (const row of await other.node.fetch(missing, signal)) {
            // What lies beyond the stretch was not asked for; it is listed again in its turn.
            if (
              !this.#isBeyond(row.time) &&
              (last === undefined || !isBehind(row, last, this.#init.forward ? 1 : -1))
            ) {
              this.#pending.add(row, false)
            }
          }
          for (const key of missing) {
            other.tried.add(key)
          }
        })
      }
    }
    return others.every(({ failure }) => failure === undefined)
  }

  #isBeyond(time: bigint): boolean {
    const edge = this.#edge
    return edge !== undefined && time !== edge && time > edge === this.#init.forward
  }

  /** Lets go what lies before the time up to which all have told what they have. */
  #release(): void {
    const others = this.#others
    const lists = others.flatMap((other) => other.lists ?? []).filter((list) => !list.isComplete)
    const reaches = lists.flatMap((list) => this.#pending.reachOf(list) ?? [])
    if (reaches.length < lists.length || this.#primary === undefined) {
      return
    }
    const bound = this.#pending.nearest(reaches, this.#edge)
    this.#ready.push(...this.#pending.takeBefore(bound, this.#primary, others))
    this.#near = bound
    if (bound === this.#edge) {
      this.#isOver = bound === undefined
      for (const other of others) {
        other.isDone = this.#isOver
        other.turn()
      }
    }
  }

  /** True if nothing can be let go before a list goes on. */
  #holdsUp(list: HashList): boolean {
    const reach = this.#pending.reachOf(list)
    return !list.isComplete && (reach === undefined || reach === this.#near)
  }

  /** Does something with a node; if it fails or takes too long, the walk goes on without it. */
  async #try(other: GapSource, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#init
    try {
      await withDeadline('source', { signal }, this.#patienceMs, run)
    } catch (error) {
      signal?.throwIfAborted()
      await this.#roster.drop(other, causeOf(error), this.#position)
    }
  }

  #incomplete(cause: unknown): IncompleteHistoryError {
    return new IncompleteHistoryError(encodePosition(this.#position), cause)
  }
}
