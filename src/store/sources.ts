import { IncompleteHistoryError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { MessagePage, RejectedEntry, Row } from './page.ts'
import { encodePosition, type LastDelivered } from './position.ts'
import {
  causeOf,
  Lacks,
  Roster,
  SOURCES_DEFAULTS,
  type Source,
  type SourcesOptions,
  type SourcesPage,
  toComparable,
  toRows,
  toWanted
} from './roster.ts'
import { RunningWalk, stepByStep } from './running-walk.ts'
import { compareKeys, isBehind } from './transforms.ts'
import { toLast, walk } from './walk.ts'
import type { Walker, WalkInit } from './walker.ts'

/** Options of {@link sources}. */
export interface MergeOptions extends SourcesOptions {
  /** How to walk at each node; what it holds, it holds for each. @default page by page */
  readonly walker?: Walker
}

/**
 * Walks through the history of several nodes side by side and merges it: each match once, in the documented order, whichever
 * node has it. Each page tells what differs. A node that fails, or that the others wait for too long, is replaced by one that
 * was not asked yet, or dropped. One page of each is held.
 *
 * `complete` on the last page means that all nodes say so that were not dropped. Nodes before store-query 3.0.0 cannot be
 * compared with others and are dropped.
 *
 * @param count - how many nodes, 1 to 64; `all` for all there are
 * @throws {@link InvalidArgumentError} for another number
 *
 * @example
 * ```ts
 * for await (const page of store.queryPages(criteria, { walker: sources('all') })) {
 *   render(page.messages)
 *   for (const { peerId, messages } of page.lacks) console.log(peerId, 'lacked', messages.length)
 * }
 * ```
 */
export function sources(count: number | 'all', options: MergeOptions = {}): Walker<SourcesPage> {
  const { patienceMs = SOURCES_DEFAULTS.patienceMs, walker = { begin: walk } } = options
  const wanted = toWanted(count, patienceMs)
  return {
    begin(given) {
      const init = toComparable(given)
      return stepByStep(init, () => new Merge(init, wanted, patienceMs, walker))
    }
  }
}

/** A node, the page of it that is being used up, and the next one where it is under way. */
class MergedSource implements Source {
  readonly peerId: string
  readonly since: bigint | undefined
  lackedCount = 0
  failure: Source['failure']
  /** Settles when the page that was asked for is there, or will never be; undefined: none was asked for. */
  arrival: Promise<void> | undefined
  /** What was wrong with it; for whoever waits. */
  error: Error | undefined
  protocol = ''
  readonly #init: WalkInit
  readonly #running: RunningWalk<MessagePage>
  #rows: readonly Row[] = []
  #rejected: readonly RejectedEntry[] = []
  #index = 0
  #isLastPage = false

  constructor(init: WalkInit, walker: Walker, peerId: string) {
    this.peerId = peerId
    this.since = init.position.last?.time
    this.#init = init
    this.#running = new RunningWalk(walker, { ...init, peerId })
  }

  get head(): Row | undefined {
    return this.#rows[this.#index]
  }

  get isDone(): boolean {
    return this.#isLastPage && this.head === undefined
  }

  take(): void {
    this.#index++
  }

  /** What it rejected of the page, told once. */
  takeRejected(): readonly RejectedEntry[] {
    const rejected = this.#rejected
    this.#rejected = []
    return rejected
  }

  /** Asks for the next page, unless there is something left of this one, or no other one. */
  ask(): void {
    if (this.head === undefined && !this.isDone) {
      this.arrival ??= this.#running.ask().then(
        (page) => this.#arrive(page),
        (error: unknown) => {
          this.error = causeOf(error)
        }
      )
    }
  }

  async close(): Promise<void> {
    await this.#running.close()
  }

  #arrive(page: MessagePage | undefined): void {
    this.arrival = undefined
    this.#rows = page === undefined ? [] : toRows(page, this.#init)
    this.#index = 0
    this.#isLastPage = page === undefined || page.completeness !== 'more'
    this.#rejected = page?.rejected ?? []
    this.protocol = page?.protocol ?? this.protocol
  }
}

class Merge {
  readonly #init: WalkInit
  readonly #patienceMs: number
  readonly #roster: Roster<MergedSource>
  #last: LastDelivered | undefined

  constructor(init: WalkInit, wanted: number, patienceMs: number, walker: Walker) {
    this.#init = init
    this.#patienceMs = patienceMs
    this.#last = init.position.last
    this.#roster = new Roster(
      init,
      wanted,
      (peerId) => new MergedSource({ ...init, position: this.#position }, walker, peerId)
    )
  }

  async close(): Promise<void> {
    await this.#roster.close()
  }

  /** What all nodes have given by now, in order. */
  async next(): Promise<SourcesPage> {
    await this.#fill()
    const lacks = new Lacks()
    const rows = this.#take(lacks)
    const { live, states } = this.#roster
    const { protocol = '' } = live[0] ?? {}
    this.#last = toLast(rows, protocol, this.#last, this.#init.forward)
    const messages = rows.map(({ message }) => message)
    const rejected = live.flatMap((source) => source.takeRejected())
    return {
      messages: this.#init.forward ? messages : messages.reverse(),
      rejected,
      position: encodePosition(this.#position),
      completeness: live.every(({ isDone }) => isDone) ? 'complete' : 'more',
      peerId: live[0]?.peerId ?? '',
      protocol,
      lacks: lacks.toList(this.#init.forward),
      sources: states
    }
  }

  /** From where each node could go on. */
  get #position(): WalkInit['position'] {
    return { digest: this.#init.position.digest, last: this.#last }
  }

  /** Waits until each node has something to compare, or nothing more, or is dropped. */
  async #fill(): Promise<void> {
    for (;;) {
      await this.#dropFailed()
      this.#roster.complete()
      const { live } = this.#roster
      if (live.length === 0) {
        throw new IncompleteHistoryError(encodePosition(this.#position), this.#roster.toError())
      }
      for (const source of live) {
        source.ask()
      }
      const awaited = live.flatMap(({ arrival }) => arrival ?? [])
      if (awaited.length === 0) {
        return
      }
      if (awaited.length === live.length) {
        await Promise.race(awaited)
      } else {
        await this.#waitFor(awaited)
      }
      this.#init.signal?.throwIfAborted()
    }
  }

  /** Waits for some nodes while others have something to deliver; those that take too long are dropped. */
  async #waitFor(awaited: readonly Promise<void>[]): Promise<void> {
    const { signal } = this.#init
    try {
      await withDeadline('source', { signal }, this.#patienceMs, async () => {
        await Promise.all(awaited)
      })
    } catch (error) {
      signal?.throwIfAborted()
      for (const source of this.#roster.live) {
        if (source.arrival !== undefined) {
          source.error ??= causeOf(error)
        }
      }
    }
  }

  async #dropFailed(): Promise<void> {
    for (const source of this.#roster.live) {
      if (source.error !== undefined) {
        await this.#roster.drop(source, source.error, this.#position)
      }
    }
  }

  /** Takes rows as long as each node has one to compare, or is done. */
  #take(lacks: Lacks): Row[] {
    const { forward, pageLimit } = this.#init
    const sign = forward ? 1 : -1
    const rows: Row[] = []
    const { live } = this.#roster
    while (rows.length < pageLimit) {
      if (live.some(({ head, isDone }) => head === undefined && !isDone)) {
        return rows
      }
      const heads = live.flatMap(({ head }) => head ?? [])
      const [first, ...others] = heads
      if (first === undefined) {
        return rows
      }
      const next = others.reduce((a, b) => (compareKeys(b, a) * sign < 0 ? b : a), first)
      // A node that came later may still have what others gave before, of the very same time.
      const isNew = this.#last === undefined || !isBehind(next, this.#last, sign)
      for (const source of live) {
        if (source.head !== undefined && compareKeys(source.head, next) === 0) {
          source.take()
        } else if (isNew) {
          lacks.add(source, next)
        }
      }
      if (isNew) {
        rows.push(next)
      }
    }
    return rows
  }
}
