import type { HashList, HashNode, TimeRange } from './hash-list.ts'
import type { Row } from './page.ts'
import { keyOf, type Source } from './roster.ts'
import { compareKeys } from './transforms.ts'
import { MAX_TIME } from './walk.ts'
import type { WalkInit } from './walker.ts'

/** A node of a walk that fills gaps, and the hashes that it has in the stretch at hand. */
export class GapSource implements Source {
  readonly peerId: string
  readonly since: bigint | undefined
  readonly node: HashNode
  isDone = false
  lackedCount = 0
  failure: Source['failure']
  /** Undefined where it was not asked yet. */
  lists: readonly HashList[] | undefined
  /** Hashes that it was asked for. */
  readonly tried = new Set<string>()

  constructor(peerId: string, since: bigint | undefined, node: HashNode) {
    this.peerId = peerId
    this.since = since
    this.node = node
  }

  /** True if it has listed this hash. */
  has(key: string): boolean {
    return this.lists?.some(({ hashes }) => hashes.has(key)) === true
  }

  /** Hashes that it has listed and was not asked for. */
  untried(): string[] {
    const listed = (this.lists ?? []).flatMap(({ hashes }) => [...hashes])
    return listed.filter((key) => !this.tried.has(key))
  }

  /** Turns to the next stretch. */
  turn(): void {
    this.lists = undefined
    this.tried.clear()
  }

  /** Gives up what is under way. */
  async close(): Promise<void> {
    this.node.end()
    await Promise.resolve()
  }
}

/** A message that is held until all nodes have told what they have before it. */
export interface PendingRow {
  readonly row: Row
  /** True: the node that gives the messages has it; false: it was fetched by hash. */
  isPrimary: boolean
}

/** A message that can be delivered, and who lacked it. */
export interface ReadyRow {
  readonly row: Row
  readonly lackedBy: readonly Source[]
}

/** Messages that are held, by hash. */
export class Pending {
  readonly #rows = new Map<string, PendingRow>()
  readonly #sign: number

  constructor(forward: boolean) {
    this.#sign = forward ? 1 : -1
  }

  /** How many. */
  get size(): number {
    return this.#rows.size
  }

  /** True if it is held. */
  has(key: string): boolean {
    return this.#rows.has(key)
  }

  /** Holds a message. */
  add(row: Row, isPrimary: boolean): void {
    const key = keyOf(row)
    const pending = this.#rows.get(key)
    if (pending === undefined) {
      this.#rows.set(key, { row, isPrimary })
    } else {
      pending.isPrimary ||= isPrimary
    }
  }

  /** Up to which time a list has told everything; undefined: that is not known. */
  reachOf({ hashes }: HashList): bigint | undefined {
    const known = [...hashes].findLast((key) => this.#rows.has(key))
    return known === undefined ? undefined : this.#rows.get(known)?.row.time
  }

  /** The first of some times, in the order of walking; `last`, or undefined, where there is none. */
  nearest(times: readonly bigint[], last: bigint | undefined): bigint | undefined {
    return times.reduce<bigint | undefined>(
      (a, b) => (a === undefined || b < a === this.#sign > 0 ? b : a),
      last
    )
  }

  /**
   * Takes out, in order, what lies before a time; everything, where none is given.
   *
   * @param primary - the node that gives the messages
   * @param others - those that gave lists of hashes
   */
  takeBefore(
    bound: bigint | undefined,
    primary: GapSource,
    others: readonly GapSource[]
  ): ReadyRow[] {
    const ready: ReadyRow[] = []
    for (const [key, { row, isPrimary }] of this.#rows) {
      if (bound !== undefined && (row.time === bound || row.time < bound !== this.#sign > 0)) {
        continue
      }
      this.#rows.delete(key)
      const lackedBy = others.filter((other) => !other.has(key))
      ready.push({ row, lackedBy: isPrimary ? lackedBy : [primary, ...lackedBy] })
      for (const { hashes } of others.flatMap(({ lists }) => lists ?? [])) {
        hashes.delete(key)
      }
    }
    return ready.sort((a, b) => compareKeys(a.row, b.row) * this.#sign)
  }
}

/** The stretch from a time before which everything was delivered to one up to which the first node has given all. */
export function rangeBetween(
  { criteria, forward }: Pick<WalkInit, 'criteria' | 'forward'>,
  near: bigint | undefined,
  edge: bigint | undefined
): TimeRange {
  const { timeStart, timeEnd } = criteria
  return forward
    ? { timeStart: near ?? timeStart, timeEnd: edge ?? timeEnd }
    : {
        timeStart: edge === undefined ? timeStart : edge + 1n,
        timeEnd: near === undefined || near === MAX_TIME ? timeEnd : near + 1n
      }
}
