import { InvalidMessageError, ProtocolViolationError } from '../errors.ts'
import { compareBytes, toHex } from '../lib/bytes.ts'
import { messageHash as computeHash } from '../message/message-hash.ts'
import { decodeWakuMessage } from '../wire/message.ts'
import type { OrderKey, PageQuery, RawEntry, RawPage } from './generation.ts'
import { isSameCursor } from './legacy.ts'
import type { RejectedEntry, RejectionReason, Row, SourcePage } from './page.ts'
import type { LastDelivered } from './position.ts'
import type { StoreSession } from './session.ts'

/** Pages in a row that bring nothing new, before a walk is given up. */
const MAX_BARREN_PAGES = 3

/** Hashes that are remembered to find duplicates where the order cannot be checked. */
const MAX_RECENT_HASHES = 2_000

/** A page as it came, and the cursor it was asked with. */
export interface AskedPage {
  readonly page: RawPage
  readonly asked: Uint8Array<ArrayBuffer> | undefined
}

/** First stage: the pages of one request, one after the other, each asked for when it is pulled. */
export async function* rawPages(
  session: StoreSession,
  query: Omit<PageQuery, 'cursor'>,
  start: Uint8Array<ArrayBuffer> | undefined
): AsyncGenerator<AskedPage> {
  const loop = new LoopDetector()
  for (let cursor = start; ; ) {
    const page = await session.ask({ ...query, cursor })
    yield { page, asked: cursor }
    if (page.completeness !== 'more') {
      return
    }
    if (isSameCursor(page.cursor, cursor) || loop.closes(page.cursor)) {
      throw new ProtocolViolationError('cursor', 'the cursor does not move on', session.peerId)
    }
    cursor = page.cursor
  }
}

/** Finds out that a sequence of cursors repeats, whatever the length of the loop, from one remembered cursor (Brent). */
class LoopDetector {
  #remembered: Uint8Array | undefined
  #steps = 0
  #power = 1

  closes(cursor: Uint8Array | undefined): boolean {
    if (isSameCursor(cursor, this.#remembered)) {
      return true
    }
    if (++this.#steps === this.#power) {
      this.#remembered = cursor
      this.#power *= 2
      this.#steps = 0
    }
    return false
  }
}

/** How {@link verified} tells what was asked for. */
export interface Expectation {
  readonly query: Omit<PageQuery, 'cursor'>
  readonly timeStart: bigint | undefined
  readonly timeEnd: bigint | undefined
  /** The pubsub topic of a content topic, for generations that do not send it. */
  readonly derive: (contentTopic: string) => string | undefined
}

/** Second stage: entries are decoded, their hashes recomputed, and what was not asked for is set aside. */
export function verified(session: StoreSession, expected: Expectation) {
  return async function* (pages: AsyncIterable<AskedPage>): AsyncGenerator<SourcePage> {
    for await (const { page, asked } of pages) {
      const rows: Row[] = []
      const rejected: RejectedEntry[] = []
      for (const entry of page.entries) {
        const result = verify(session, expected, entry)
        if (result !== undefined && 'reason' in result) {
          rejected.push(result)
        } else if (result !== undefined) {
          rows.push(result)
        }
      }
      if (!expected.query.forward) {
        rows.reverse()
      }
      yield { rows, rejected, asked, next: page.cursor, completeness: page.completeness }
    }
  }
}

/** A row, why it is none, or undefined for what a node may send though it was not asked for. */
export function verify(
  session: StoreSession,
  expected: Expectation,
  entry: RawEntry
): Row | RejectedEntry | undefined {
  const { messageHash: stated } = entry
  const reject = (reason: RejectionReason, detail: string): RejectedEntry => ({
    reason,
    messageHash: stated,
    detail
  })
  if (entry.message === undefined) {
    return reject('undecodable', entry.error?.message ?? 'the entry has no message')
  }
  try {
    const message = decodeWakuMessage(entry.message)
    const pubsubTopic =
      entry.pubsubTopic ?? expected.query.pubsubTopic ?? expected.derive(message.contentTopic)
    if (pubsubTopic === undefined) {
      return reject('undecodable', 'its pubsub topic is not known')
    }
    const messageHash = computeHash(pubsubTopic, message)
    if (stated !== undefined && compareBytes(messageHash, stated) !== 0) {
      return reject('hash-mismatch', `its content has the hash ${toHex(messageHash)}`)
    }
    const { contentTopics, pubsubTopic: asked } = expected.query
    if (asked !== undefined && pubsubTopic !== asked) {
      return reject('foreign', 'it is of another pubsub topic')
    }
    if (contentTopics.length > 0 && !contentTopics.includes(message.contentTopic)) {
      return reject('foreign', 'it is of another content topic')
    }
    const { timestamp } = message
    const { timeStart, timeEnd } = expected
    if (
      timestamp !== undefined &&
      ((timeStart ?? timestamp) > timestamp || (timeEnd ?? timestamp) < timestamp)
    ) {
      return session.generation.filtersByTime
        ? reject('foreign', 'it is of another time')
        : undefined
    }
    if (timestamp !== undefined && timestamp === timeEnd) {
      return undefined
    }
    return {
      message: { ...message, messageHash, pubsubTopic },
      ...session.generation.orderKey(message, messageHash)
    }
  } catch (error) {
    if (error instanceof InvalidMessageError) {
      return reject('undecodable', error.message)
    }
    throw error
  }
}

/** Hashes of what was delivered lately, for a whole walk. */
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
}

/**
 * Third stage: each message once, in the order of the generation.
 *
 * @param last - delivered before this request began: up to it, rows are passed over
 * @param recent - what was delivered lately, where the order cannot be checked
 */
export function eachOnce(
  session: StoreSession,
  forward: boolean,
  last: LastDelivered | undefined,
  recent: RecentHashes
) {
  const sign = forward ? 1 : -1
  return async function* (pages: AsyncIterable<SourcePage>): AsyncGenerator<SourcePage> {
    let before: OrderKey | undefined
    let earlier: Row[] = []
    let barren = 0
    for await (const page of pages) {
      const rows: Row[] = []
      const rejected = [...page.rejected]
      let passedOver = 0
      for (const row of page.rows) {
        if (last !== undefined && wasDelivered(session, row, last, sign)) {
          passedOver++
        } else if (
          session.generation.strictOrder
            ? isAfter(row, before, sign)
            : recent.add(row.message.messageHash)
        ) {
          before = row
          rows.push(row)
        } else {
          assertRepeated(session, row, [...earlier, ...page.rows])
          rejected.push({
            reason: 'duplicate',
            messageHash: row.message.messageHash,
            detail: 'it came before'
          })
        }
      }
      const filtered = !session.generation.filtersByTime
      barren =
        rows.length > 0 || passedOver > 0 || filtered || page.completeness !== 'more'
          ? 0
          : barren + 1
      if (barren > MAX_BARREN_PAGES) {
        throw new ProtocolViolationError(
          'no-progress',
          `${barren} pages in a row without anything new`,
          session.peerId
        )
      }
      earlier = [...page.rows]
      yield { ...page, rows, rejected }
    }
  }
}

function isAfter(row: OrderKey, before: OrderKey | undefined, sign: number): boolean {
  return before === undefined || compareKeys(row, before) * sign > 0
}

/** Under a strict order, what does not come after its predecessor has come before, or the node is out of order. */
function assertRepeated(session: StoreSession, row: Row, rows: readonly Row[]): void {
  const same = rows.filter(
    (other) => compareBytes(other.message.messageHash, row.message.messageHash) === 0
  )
  if (session.generation.strictOrder && same.length < 2) {
    throw new ProtocolViolationError(
      'order',
      'messages are not in the order of timestamp and hash',
      session.peerId
    )
  }
}

/** True for a row up to the last one that was delivered. Without a timestamp, or a known order, only the hash tells. */
function wasDelivered(session: StoreSession, row: Row, last: LastDelivered, sign: number): boolean {
  if (compareBytes(row.message.messageHash, last.messageHash) === 0) {
    return true
  }
  return session.generation.filtersByTime && row.time !== 0n && compareKeys(row, last) * sign < 0
}

/** Negative, zero or positive as `a` stands before, with, or after `b`. */
export function compareKeys(a: OrderKey, b: OrderKey): number {
  return a.time === b.time ? compareBytes(a.tie, b.tie) : a.time < b.time ? -1 : 1
}
