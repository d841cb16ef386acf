import { compareBytes, toHex } from '../lib/bytes.ts'
import type { OrderKey } from './generation.ts'
import { isSame } from './legacy.ts'
import type { Row, SourcePage, VerifiedPage } from './page.ts'
import type { LastDelivered } from './position.ts'
import type { StoreSession } from './session.ts'

/** Pages in a row that hold nothing, or nothing but what came before, until a walk is given up. */
const MAX_EMPTY_PAGES = 3

/** The same for pages of which nothing can be delivered, whatever is wrong with it. */
const MAX_USELESS_PAGES = 100

/** Rows that are passed over to find the one after which a walk goes on: those of the largest page. */
const MAX_PASSED_OVER = 1_000

/** Hashes that are remembered to find duplicates where the order does not tell. */
const MAX_RECENT_HASHES = 2_000

/** Hashes of messages that came lately. */
export class RecentHashes {
  readonly #hashes = new Set<string>()

  /** False if it was added before. */
  add(messageHash: Uint8Array): boolean {
    const key = toHex(messageHash)
    if (this.#hashes.has(key)) {
      return false
    }
    this.#hashes.add(key)
    if (this.#hashes.size > MAX_RECENT_HASHES) {
      const [oldest = ''] = this.#hashes
      this.#hashes.delete(oldest)
    }
    return true
  }

  /** True if it was added. */
  has(messageHash: Uint8Array): boolean {
    return this.#hashes.has(toHex(messageHash))
  }
}

/** What was delivered before a request begins, and is passed over if it comes again. */
export interface Delivered {
  /** Up to here, by time and order. */
  readonly last?: LastDelivered
  /** Up to this hash, in the order in which the node gives its answers. */
  readonly after?: Uint8Array<ArrayBuffer>
  /** Lately in this walk. */
  readonly recent: RecentHashes
}

/** Third stage: each message once, in the order of the generation. */
export function eachOnce(session: StoreSession, forward: boolean, delivered: Delivered) {
  return async function* (pages: AsyncIterable<VerifiedPage>): AsyncGenerator<SourcePage> {
    const resumed = new Resumption(session, forward ? 1 : -1, delivered)
    const sequence = new Sequence(session, forward ? 1 : -1)
    let emptyPages = 0
    let uselessPages = 0
    for await (const page of pages) {
      const { completeness, asked, next } = page
      const start = { cursor: asked, after: resumed.after }
      const rejected = [...page.rejected]
      const rows: Row[] = []
      sequence.turnTo(page.rows)
      for (const row of page.rows) {
        const { messageHash } = row.message
        if (!sequence.takes(row)) {
          rejected.push({ reason: 'duplicate', messageHash, detail: 'it came before' })
        } else if (!resumed.passesOver(row)) {
          rows.push(row)
        }
      }
      const isNew = page.entryCount > rejected.length - page.rejected.length
      emptyPages = isNew || completeness !== 'more' ? 0 : emptyPages + 1
      const isUseful = page.entryCount > rejected.length
      uselessPages = isUseful || completeness !== 'more' ? 0 : uselessPages + 1
      if (emptyPages > MAX_EMPTY_PAGES || uselessPages > MAX_USELESS_PAGES) {
        throw session.violation('no-progress', `${uselessPages} pages in a row hold nothing new`)
      }
      if (completeness === 'more') {
        yield { rows, rejected, completeness, start, end: { cursor: next, after: resumed.after } }
      } else {
        resumed.assertFound()
        const after = rows.at(-1)?.message.messageHash ?? start.after
        yield { rows, rejected, completeness, start, end: { cursor: asked, after } }
      }
    }
  }
}

/** Tells which rows were delivered before. */
class Resumption {
  /** Where it goes on; undefined once that has been found. */
  after: Uint8Array<ArrayBuffer> | undefined
  readonly #session: StoreSession
  readonly #sign: number
  readonly #delivered: Delivered
  #passedOver = 0

  constructor(session: StoreSession, sign: number, delivered: Delivered) {
    this.#session = session
    this.#sign = sign
    this.#delivered = delivered
    this.after = delivered.after
  }

  passesOver(row: Row): boolean {
    const { messageHash } = row.message
    const { last, recent } = this.#delivered
    if (this.after !== undefined) {
      if (isSame(messageHash, this.after)) {
        this.after = undefined
      } else if (++this.#passedOver > MAX_PASSED_OVER) {
        this.assertFound()
      }
      return true
    }
    if (!this.#session.generation.strictOrder && recent.has(messageHash)) {
      return true
    }
    return (
      last !== undefined &&
      // Of the time of arrival, by which a message without a time is ordered, nothing is known.
      (row.time !== 0n || last.time === 0n || this.#session.generation.strictOrder) &&
      isBehind(row, last, this.#sign)
    )
  }

  /** The node has lost it, or never had it. */
  assertFound(): void {
    if (this.after !== undefined) {
      throw this.#session.violation('position', 'what was read last is there no more')
    }
  }
}

/** Checks that rows follow one another, as far as the generation's order is known here. */
class Sequence {
  readonly #session: StoreSession
  readonly #sign: number
  readonly #seen = new RecentHashes()
  #before: Row | undefined
  #earlier: readonly Row[] = []
  #rows: readonly Row[] = []

  constructor(session: StoreSession, sign: number) {
    this.#session = session
    this.#sign = sign
  }

  turnTo(rows: readonly Row[]): void {
    this.#earlier = this.#rows
    this.#rows = rows
  }

  /** False for a row that came before. */
  takes(row: Row): boolean {
    const { strictOrder, filtersByTime } = this.#session.generation
    if (strictOrder) {
      return this.#takesInOrder(row)
    }
    if (!this.#seen.add(row.message.messageHash)) {
      return false
    }
    // Of the time of arrival, by which a message without a time is ordered, nothing is known.
    if (filtersByTime && row.time !== 0n) {
      if (
        this.#before !== undefined &&
        compareTimes(row.time, this.#before.time) * this.#sign < 0
      ) {
        throw this.#session.violation('order', 'messages are not in order')
      }
      this.#before = row
    }
    return true
  }

  #takesInOrder(row: Row): boolean {
    if (this.#before === undefined || compareKeys(row, this.#before) * this.#sign > 0) {
      this.#before = row
      return true
    }
    const same = [...this.#earlier, ...this.#rows].filter((other) =>
      isSame(other.message.messageHash, row.message.messageHash)
    )
    if (same.length < 2) {
      throw this.#session.violation('order', 'messages are not in order')
    }
    return false
  }
}

/** Negative, zero or positive as `a` stands before, with, or after `b`. */
export function compareKeys(a: OrderKey, b: OrderKey): number {
  return compareTimes(a.time, b.time) || compareBytes(a.tie, b.tie)
}

function compareTimes(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** True if a walk that delivered `last` has this row behind it; rows of one time are told by hash, where it is known. */
export function isBehind(row: Row, last: LastDelivered, sign: number): boolean {
  const isAmong = (hashes: LastDelivered['hashes'] = []): boolean =>
    hashes.some((hash) => isSame(hash, row.message.messageHash))
  return row.time === last.time && last.hashes !== undefined
    ? isAmong(last.hashes)
    : compareKeys(row, last) * sign <= 0 || isAmong(last.beyond)
}
