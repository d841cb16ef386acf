import { compareBytes, toHex } from '../lib/bytes.ts'
import type { OrderKey } from './generation.ts'
import { isSame } from './legacy.ts'
import type { RejectedEntry, Row, SourcePage } from './page.ts'
import type { LastDelivered, SourcePosition } from './position.ts'
import type { AskedPage } from './raw-pages.ts'
import type { StoreSession } from './session.ts'
import { type Expectation, verify } from './verification.ts'

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

/** Second stage: entries are verified, and each message comes once, in the order of the generation. */
export function eachOnce(session: StoreSession, expected: Expectation, delivered: Delivered) {
  return async function* (pages: AsyncIterable<AskedPage>): AsyncGenerator<SourcePage> {
    const sieve = new Sieve(session, expected.query.forward ? 1 : -1, delivered)
    let emptyPages = 0
    let uselessPages = 0
    for await (const { page, asked } of pages) {
      const { entries, completeness, cursor } = page
      const { rows: found, rejected } = verify(session, expected, entries)
      const duplicates: RejectedEntry[] = []
      const start = { cursor: asked, after: sieve.after }
      const rows = sieve.pass(expected.query.forward ? found : found.reverse(), duplicates)
      rejected.push(...duplicates)
      let end: SourcePosition = { cursor, after: sieve.after }
      if (completeness === 'more') {
        emptyPages = entries.length > duplicates.length ? 0 : emptyPages + 1
        uselessPages = entries.length > rejected.length ? 0 : uselessPages + 1
        if (emptyPages > MAX_EMPTY_PAGES || uselessPages > MAX_USELESS_PAGES) {
          throw session.violation('no-progress', `${uselessPages} pages in a row hold nothing new`)
        }
      } else {
        sieve.assertFound()
        end = { cursor: asked, after: rows.at(-1)?.message.messageHash ?? start.after }
      }
      yield { rows, rejected, completeness, start, end }
    }
  }
}

/** Lets each row through once, and sees that rows follow one another, as far as the generation's order is known here. */
class Sieve {
  /** After which row it goes on; undefined once that has been found. */
  after: Uint8Array<ArrayBuffer> | undefined
  readonly #session: StoreSession
  readonly #sign: number
  readonly #delivered: Delivered
  readonly #seen = new RecentHashes()
  #passedOver = 0
  #before: Row | undefined
  #earlier: readonly Row[] = []

  constructor(session: StoreSession, sign: number, delivered: Delivered) {
    this.#session = session
    this.#sign = sign
    this.#delivered = delivered
    this.after = delivered.after
  }

  /**
   * The rows of the next page that were not delivered before.
   *
   * @param duplicates - gets those that came before in this request
   */
  pass(rows: readonly Row[], duplicates: RejectedEntry[]): Row[] {
    const together = [...this.#earlier, ...rows]
    this.#earlier = rows
    return rows.filter((row) => {
      const { messageHash } = row.message
      const isNew = this.#takes(row, together)
      if (!isNew) {
        duplicates.push({ reason: 'duplicate', messageHash, detail: 'it came before' })
      }
      return isNew && !this.#wasDelivered(row)
    })
  }

  /** The node has lost it, or never had it. */
  assertFound(): void {
    if (this.after !== undefined) {
      throw this.#session.violation('position', 'what was read last is there no more')
    }
  }

  #wasDelivered(row: Row): boolean {
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
    const { strictOrder } = this.#session.generation
    return (
      (!strictOrder && recent.has(messageHash)) ||
      (last !== undefined &&
        // Of the time of arrival, by which a message without a time is ordered, nothing is known.
        (row.time !== 0n || last.time === 0n || strictOrder) &&
        isBehind(row, last, this.#sign))
    )
  }

  /** False for a row that came before; `together`: the rows of this page and the one before it. */
  #takes(row: Row, together: readonly Row[]): boolean {
    const { strictOrder, filtersByTime } = this.#session.generation
    const { messageHash } = row.message
    if (!strictOrder && !this.#seen.add(messageHash)) {
      return false
    }
    // Of the time of arrival, by which a message without a time is ordered, nothing is known.
    if (strictOrder || (filtersByTime && row.time !== 0n)) {
      const compare = strictOrder ? compareKeys : compareTimes
      const step = this.#before === undefined ? 1 : compare(row, this.#before) * this.#sign
      if (step < 0 || (step === 0 && strictOrder)) {
        const same = together.filter((other) => isSame(other.message.messageHash, messageHash))
        if (!strictOrder || same.length < 2) {
          throw this.#session.violation('order', 'messages are not in order')
        }
        return false
      }
      this.#before = row
    }
    return true
  }
}

/** Negative, zero or positive as `a` stands before, with, or after `b`. */
export function compareKeys(a: OrderKey, b: OrderKey): number {
  return compareTimes(a, b) || compareBytes(a.tie, b.tie)
}

function compareTimes({ time: a }: OrderKey, { time: b }: OrderKey): number {
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
