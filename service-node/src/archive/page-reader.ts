import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { type ArchiveKey, compareKeys } from './order.ts'
import { type KeyQuery, keyStatement } from './page-query.ts'

/** What a page is to hold. */
export interface PageQuery extends Omit<KeyQuery, 'contentTopic'> {
  /** Any of them; empty for all. */
  readonly contentTopics: readonly string[]
  /** Together with no other filter but a pubsub topic. */
  readonly hashes?: readonly Uint8Array[]
  /** False: keys only. */
  readonly includeData: boolean
  /** The page ends before the message with which it would get larger; it holds one at least. */
  readonly maxBytes: number
}

/** One message of a page. */
export interface PageRow extends ArchiveKey {
  /** The encoded WakuMessage; only if data was asked for. */
  readonly message?: Uint8Array
  readonly pubsubTopic?: string
}

/** A page of the archive. */
export interface Page {
  /** Oldest first, whatever the direction. */
  readonly rows: readonly PageRow[]
  /** Where the walk goes on: last row in walking direction. Undefined for an empty page. */
  readonly last?: PageRow
  /** The first match beyond `last`; undefined if there is none. */
  readonly next?: ArchiveKey
}

interface KeyRow extends ArchiveKey {
  readonly id: SQLOutputValue
}

/** Reads pages. Keys first, from an index alone where there is one; then the messages of the page, one by one. */
export class PageReader {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Reads a page; everything in it is of one moment. */
  readPage(query: PageQuery): Page {
    const keys =
      query.hashes === undefined ? this.#filteredKeys(query) : this.#keysOf(query.hashes, query)
    const rows: PageRow[] = []
    let bytes = 0
    for (const key of keys.slice(0, query.limit)) {
      const row: PageRow = query.includeData ? this.#withMessage(key) : key
      bytes += row.message?.length ?? 0
      if (bytes > query.maxBytes && rows.length > 0) {
        break
      }
      rows.push(row)
    }
    const last = rows.at(-1)
    return { rows: query.forward ? rows : rows.reverse(), last, next: keys[rows.length] }
  }

  /** The position of a message in the order of (timestamp, hash); undefined if it is not archived. */
  findHash(hash: Uint8Array): ArchiveKey | undefined {
    return this.#keyOf(hash)
  }

  /** True if a message with this timestamp and digest is archived. */
  hasTimestampDigest(timestamp: bigint, digest: Uint8Array): boolean {
    const sql = 'SELECT 1 FROM messages WHERE timestamp = ? AND digest = ? LIMIT 1'
    return this.#prepare(sql).get(timestamp, digest) !== undefined
  }

  /** True if a message with this received time and digest is archived. */
  hasReceivedDigest(receivedTime: number, digest: Uint8Array): boolean {
    const sql = 'SELECT 1 FROM messages WHERE received_time = ? AND digest = ? LIMIT 1'
    return this.#prepare(sql).get(receivedTime, digest) !== undefined
  }

  /** One query a content topic, each along an index, then merged: `IN` would sort all that match. */
  #filteredKeys(query: PageQuery): KeyRow[] {
    const topics = new Set<string | undefined>(
      query.contentTopics.length === 0 ? [undefined] : query.contentTopics
    )
    const limit = query.limit + 1
    const lists = [...topics].map((contentTopic) => this.#keys({ ...query, contentTopic, limit }))
    return lists.length === 1
      ? (lists[0] ?? [])
      : inWalkingOrder(lists.flat(), query.forward).slice(0, limit)
  }

  #keys(query: KeyQuery): KeyRow[] {
    const { sql, values } = keyStatement(query)
    return this.#prepare(sql)
      .all(...values)
      .map(toKeyRow)
  }

  #keysOf(hashes: readonly Uint8Array[], query: PageQuery): KeyRow[] {
    const { pubsubTopic, after, forward, limit } = query
    const distinct = new Map(hashes.map((hash) => [Buffer.from(hash).toString('hex'), hash]))
    const found = [...distinct.values()].flatMap((hash) => this.#keyOf(hash, pubsubTopic) ?? [])
    return inWalkingOrder(found, forward)
      .filter(
        (key) =>
          after === undefined ||
          (forward ? compareKeys(key, after) > 0 : compareKeys(key, after) < 0)
      )
      .slice(0, limit + 1)
  }

  #keyOf(hash: Uint8Array, pubsubTopic: string | null = null): KeyRow | undefined {
    const sql =
      'SELECT id, timestamp, hash FROM messages WHERE hash = ?1 AND pubsub_topic = ifnull(?2, pubsub_topic)'
    const row = this.#prepare(sql).get(hash, pubsubTopic)
    return row && toKeyRow(row)
  }

  #withMessage(key: KeyRow): PageRow {
    const row = this.#prepare('SELECT message, pubsub_topic FROM messages WHERE id = ?').get(key.id)
    return { ...key, message: row?.message as Uint8Array, pubsubTopic: row?.pubsub_topic as string }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      statement.setReadBigInts(true)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

function toKeyRow(row: Record<string, SQLOutputValue>): KeyRow {
  return {
    id: row.id ?? null,
    time: (row.timestamp ?? row.received_time) as bigint | number,
    digest: row.digest as Uint8Array | undefined,
    hash: row.hash as Uint8Array
  }
}

function inWalkingOrder(keys: KeyRow[], forward: boolean): KeyRow[] {
  return keys.sort((a, b) => (forward ? compareKeys(a, b) : compareKeys(b, a)))
}
