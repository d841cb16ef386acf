import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import { errorMessage, ServiceNodeError } from '../errors.ts'
import type { ArchivedMessage } from './archived-message.ts'
import { KeyReader } from './key-reader.ts'
import { PageReader } from './page-reader.ts'
import { openDatabase } from './schema.ts'

/** How long messages are kept. */
export interface Retention {
  /** Older messages are deleted, by timestamp; milliseconds. */
  readonly maxAgeMs: number
  /** Beyond this many, the oldest are deleted. */
  readonly maxCount: number
}

/** Settings of an archive. */
export interface ArchiveInit {
  /** Path, or `:memory:`. */
  readonly file: string
  readonly retention: Retention
  readonly now: Clock
}

interface Insertion {
  readonly messages: readonly ArchivedMessage[]
  readonly marks: Marks
  resolve(areNew: readonly boolean[]): void
  reject(error: unknown): void
}

/** Small values by their keys; undefined removes one. */
type Marks = ReadonlyMap<string, Uint8Array | undefined>

const NO_MARKS: Marks = new Map()

const NANOSECONDS_PER_MS = 1_000_000

/**
 * The node's message archive, on SQLite.
 *
 * What arrives in one turn of the event loop is committed in one transaction; an insertion resolves after its commit.
 */
export class Archive {
  /** Reads pages. */
  readonly pages: PageReader
  /** Reads keys. */
  readonly keys: KeyReader
  readonly #listeners = new Set<(added: readonly ArchivedMessage[]) => void>()
  readonly #database: DatabaseSync
  readonly #init: ArchiveInit
  readonly #insert: StatementSync
  #pending: Insertion[] = []
  #count: number
  #isClosed = false
  #lastError: Error | undefined

  /** @throws {@link ServiceNodeError} if the file cannot be opened, or another node has it */
  constructor(init: ArchiveInit) {
    this.#init = init
    this.#database = openDatabase(init.file)
    this.pages = new PageReader(this.#database)
    this.keys = new KeyReader(this.#database)
    this.#insert = this.#database.prepare(
      `INSERT INTO messages (hash, timestamp, received_time, digest, pubsub_topic, content_topic, message)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING`
    )
    this.#count = Number(
      this.#database.prepare('SELECT count(*) AS count FROM messages').get()?.count
    )
  }

  /** How many messages it holds. */
  get count(): number {
    return this.#count
  }

  /** Why the last commit failed; undefined after one that did not. */
  get lastError(): Error | undefined {
    return this.#lastError
  }

  /**
   * Inserts a message; one that is there already stays as it is.
   *
   * @returns resolves once the message is committed, with true if it is new
   * @throws {@link ServiceNodeError} `ERR_DATABASE` if it could not be: nothing of its transaction is stored
   */
  async insert(message: ArchivedMessage): Promise<boolean> {
    const [isNew = false] = await this.insertAll([message])
    return isNew
  }

  /**
   * Inserts messages and sets marks: all of it, or nothing.
   *
   * @returns resolves once it is committed, with true for each message that is new
   * @throws as {@link Archive.insert}
   */
  insertAll(messages: readonly ArchivedMessage[], marks = NO_MARKS): Promise<readonly boolean[]> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) {
        setImmediate(() => this.#commit())
      }
      this.#pending.push({ messages, marks, resolve, reject })
    })
  }

  /** The value of a mark; undefined if it is not set. */
  getMark(key: string): Uint8Array | undefined {
    const row = this.#database.prepare('SELECT value FROM marks WHERE key = ?').get(key)
    return row?.value as Uint8Array | undefined
  }

  /** Tells of new messages after their commit; returns a function that ends this. */
  subscribe(listener: (added: readonly ArchivedMessage[]) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Deletes what is too old. */
  prune(): void {
    const oldest =
      this.#init.now() - BigInt(Math.round(this.#init.retention.maxAgeMs * NANOSECONDS_PER_MS))
    const { changes } = this.#database
      .prepare('DELETE FROM messages WHERE timestamp < ?')
      .run(oldest)
    this.#count -= Number(changes)
  }

  /** Limits the size of the database, in pages; what goes beyond fails as a full disk does. For tests. */
  limitPages(maxPages: number): void {
    this.#database.exec(`PRAGMA max_page_count = ${maxPages}`)
  }

  /** Commits what is pending and lets go of the file. */
  close(): void {
    if (!this.#isClosed) {
      this.#commit()
      this.#isClosed = true
      this.#database.close()
    }
  }

  #commit(): void {
    const batch = this.#pending
    this.#pending = []
    if (batch.length === 0) {
      return
    }
    try {
      const areNew = this.#isClosed ? this.#fail() : this.#transact(batch)
      this.#lastError = undefined
      const added = newOf(batch, areNew)
      if (added.length > 0) {
        for (const listener of this.#listeners) {
          listener(added)
        }
      }
      for (const [index, insertion] of batch.entries()) {
        insertion.resolve(areNew[index] ?? [])
      }
    } catch (cause) {
      this.#lastError = new ServiceNodeError(
        'ERR_DATABASE',
        `not archived: ${errorMessage(cause)}`,
        { cause }
      )
      for (const { reject } of batch) {
        reject(this.#lastError)
      }
    }
  }

  #fail(): never {
    throw new Error('the archive is closed')
  }

  /** @returns for each insertion, which of its messages were new */
  #transact(batch: readonly Insertion[]): readonly (readonly boolean[])[] {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const areNew = batch.map(({ messages, marks }) => {
        this.#setMarks(marks)
        return messages.map((message) => this.#insertOne(message) > 0)
      })
      const addedCount = newOf(batch, areNew).length
      const removed = this.#deleteBeyondCount(this.#count + addedCount)
      this.#database.exec('COMMIT')
      this.#count += addedCount - removed
      return areNew
    } catch (error) {
      // SQLite rolls back by itself for some errors, a full disk among them.
      if (this.#database.isTransaction) {
        this.#database.exec('ROLLBACK')
      }
      throw error
    }
  }

  #insertOne({
    hash,
    timestamp,
    receivedTime,
    digest,
    pubsubTopic,
    contentTopic,
    encoded
  }: ArchivedMessage): number {
    const result = this.#insert.run(
      hash,
      timestamp,
      receivedTime,
      digest,
      pubsubTopic,
      contentTopic,
      encoded
    )
    return Number(result.changes)
  }

  #setMarks(marks: Marks): void {
    for (const [key, value] of marks) {
      if (value === undefined) {
        this.#database.prepare('DELETE FROM marks WHERE key = ?').run(key)
      } else {
        const sql = 'INSERT OR REPLACE INTO marks (key, value) VALUES (?, ?)'
        this.#database.prepare(sql).run(key, value)
      }
    }
  }

  #deleteBeyondCount(count: number): number {
    const excess = count - this.#init.retention.maxCount
    if (excess <= 0) {
      return 0
    }
    const sql =
      'DELETE FROM messages WHERE id IN (SELECT id FROM messages ORDER BY timestamp, hash LIMIT ?)'
    return Number(this.#database.prepare(sql).run(excess).changes)
  }
}

function newOf(
  batch: readonly Insertion[],
  areNew: readonly (readonly boolean[])[]
): ArchivedMessage[] {
  return batch.flatMap(({ messages }, index) =>
    messages.filter((_, nth) => areNew[index]?.[nth] === true)
  )
}
