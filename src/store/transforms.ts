import { compareBytes, toHex } from '../lib/bytes.ts'
import type { OrderKey, StoreGeneration } from './generation.ts'
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
  const sign = expected.query.forward ? 1 : -1
  return async function* (pages: AsyncIterable<AskedPage>): AsyncGenerator<SourcePage> {
    const takes = createOrderCheck(session, sign)
    /** After which row it goes on; undefined once that has been found. */
    let { after } = delivered
    let passedOver = 0
    let emptyPages = 0
    let uselessPages = 0

    /** The node has lost it, or never had it. */
    const assertFound = (): void => {
      if (after !== undefined) {
        throw session.violation('position', 'what was read last is there no more')
      }
    }
    const wasDelivered = (row: Row): boolean => {
      if (after === undefined) {
        return isDelivered(row, session.generation, sign, delivered)
      }
      if (isSame(row.message.messageHash, after)) {
        after = undefined
      } else if (++passedOver > MAX_PASSED_OVER) {
        assertFound()
      }
      return true
    }

    let earlier: readonly Row[] = []
    for await (const { page, asked } of pages) {
      const { entries, completeness, cursor } = page
      const { rows: found, rejected } = verify(session, expected, entries)
      if (!expected.query.forward) {
        found.reverse()
      }
      const start = { cursor: asked, after }
      const duplicates: RejectedEntry[] = []
      const together = [...earlier, ...found]
      const rows = found.filter((row) => {
        const isNew = takes(row, together)
        if (!isNew) {
          const { messageHash } = row.message
          duplicates.push({ reason: 'duplicate', messageHash, detail: 'it came before' })
        }
        return isNew && !wasDelivered(row)
      })
      earlier = found
      rejected.push(...duplicates)
      let end: SourcePosition = { cursor, after }
      if (completeness === 'more') {
        emptyPages = entries.length > duplicates.length ? 0 : emptyPages + 1
        uselessPages = entries.length > rejected.length ? 0 : uselessPages + 1
        if (emptyPages > MAX_EMPTY_PAGES || uselessPages > MAX_USELESS_PAGES) {
          throw session.violation('no-progress', `${uselessPages} pages in a row hold nothing new`)
        }
      } else {
        assertFound()
        end = { cursor: asked, after: rows.at(-1)?.message.messageHash ?? start.after }
      }
      yield { rows, rejected, completeness, start, end }
    }
  }
}

function isDelivered(
  row: Row,
  { strictOrder }: StoreGeneration,
  sign: number,
  { last, recent }: Delivered
): boolean {
  return (
    (!strictOrder && recent.has(row.message.messageHash)) ||
    (last !== undefined &&
      // Of the time of arrival, by which a message without a time is ordered, nothing is known.
      (row.time !== 0n || last.time === 0n || strictOrder) &&
      isBehind(row, last, sign))
  )
}

/** Checks that rows follow one another, as far as the generation's order is known here. */
function createOrderCheck(session: StoreSession, sign: number) {
  const seen = new RecentHashes()
  let before: Row | undefined
  /** False for a row that came before; `together`: the rows of this page and the one before it. */
  return (row: Row, together: readonly Row[]): boolean => {
    const { strictOrder, filtersByTime } = session.generation
    const { messageHash } = row.message
    if (!strictOrder && !seen.add(messageHash)) {
      return false
    }
    // Of the time of arrival, by which a message without a time is ordered, nothing is known.
    if (strictOrder || (filtersByTime && row.time !== 0n)) {
      const compare = strictOrder ? compareKeys : compareTimes
      const step = before === undefined ? 1 : compare(row, before) * sign
      if (step < 0 || (step === 0 && strictOrder)) {
        const same = together.filter((other) => isSame(other.message.messageHash, messageHash))
        if (!strictOrder || same.length < 2) {
          throw session.violation('order', 'messages are not in order')
        }
        return false
      }
      before = row
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
