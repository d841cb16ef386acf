import type { SQLInputValue } from 'node:sqlite'
import { type ArchiveKey, type ArchiveOrder, keyValues, ORDER_COLUMNS } from './order.ts'

/** What a page is to hold, for one content topic at most. */
export interface KeyQuery {
  readonly order: ArchiveOrder
  readonly pubsubTopic?: string
  readonly contentTopic?: string
  /** Timestamp, inclusive; nanoseconds. */
  readonly timeFrom?: bigint
  /** Timestamp, inclusive; nanoseconds. */
  readonly timeTo?: bigint
  /** Exclusive. */
  readonly after?: ArchiveKey
  readonly forward: boolean
  readonly limit: number
}

/** A statement and its values. */
export interface BoundStatement {
  readonly sql: string
  readonly values: SQLInputValue[]
}

/**
 * The statement that reads the keys of a page in walking direction.
 *
 * The planner takes one lower and one upper bound of an index. Where a cursor and a bound of the time range meet on one
 * side, only the nearer of them is written, so that no page is reached by skipping over the ones before it.
 */
export function keyStatement(query: KeyQuery): BoundStatement {
  const { order, pubsubTopic, contentTopic, after, forward } = query
  const columns = ORDER_COLUMNS[order]
  const conditions: string[] = []
  const values: SQLInputValue[] = []
  if (contentTopic !== undefined) {
    conditions.push('content_topic = ?')
    values.push(contentTopic)
  }
  if (pubsubTopic !== undefined) {
    // A content topic selects more than a pubsub topic: the plus sign keeps the planner on its index.
    conditions.push(contentTopic === undefined ? 'pubsub_topic = ?' : '+pubsub_topic = ?')
    values.push(pubsubTopic)
  }
  const byTimestamp = order !== 'received-digest'
  let { timeFrom, timeTo } = query
  if (after !== undefined) {
    const nearBound = forward ? timeFrom : timeTo
    const isBeyond =
      nearBound === undefined || (forward ? after.time >= nearBound : after.time <= nearBound)
    if (!byTimestamp || isBeyond) {
      const key = keyValues(order, after)
      const names = columns.slice(0, key.length)
      conditions.push(
        `(${names.join(', ')}) ${forward ? '>' : '<'} (${names.map(() => '?').join(', ')})`
      )
      values.push(...key)
      if (byTimestamp) {
        timeFrom = forward ? undefined : timeFrom
        timeTo = forward ? timeTo : undefined
      }
    }
  }
  if (timeFrom !== undefined) {
    conditions.push('timestamp >= ?')
    values.push(timeFrom)
  }
  if (timeTo !== undefined) {
    conditions.push('timestamp <= ?')
    values.push(timeTo)
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const direction = forward ? 'ASC' : 'DESC'
  const orderBy = columns.map((column) => `${column} ${direction}`).join(', ')
  values.push(query.limit)
  return {
    sql: `SELECT id, ${columns.join(', ')} FROM messages${where} ORDER BY ${orderBy} LIMIT ?`,
    values
  }
}
