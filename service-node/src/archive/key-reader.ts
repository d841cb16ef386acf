import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'

/** A message without its content. */
export interface MessageKey {
  /** Unix time in nanoseconds. */
  readonly timestamp: bigint
  /** Message hash, 32 bytes. */
  readonly hash: Uint8Array
  readonly pubsubTopic: string
  readonly contentTopic: string
}

/** Keys read in one turn of the event loop. */
const BATCH_KEYS = 1_000

/** Walks through the keys of the archive, in the order of (timestamp, hash). */
export class KeyReader {
  readonly #statement: StatementSync

  constructor(database: DatabaseSync) {
    this.#statement = database.prepare(
      `SELECT timestamp, hash, pubsub_topic AS pubsubTopic, content_topic AS contentTopic FROM messages
       WHERE (timestamp, hash) > (?, ?) AND timestamp < ? ORDER BY timestamp, hash LIMIT ${BATCH_KEYS}`
    )
    this.#statement.setReadBigInts(true)
  }

  /** From `timeStart`, inclusive, to `timeEnd`, exclusive. What is added or removed meanwhile may or may not be seen. */
  async *walk(
    timeStart: bigint,
    timeEnd: bigint,
    signal?: AbortSignal
  ): AsyncGenerator<MessageKey> {
    // an empty hash sorts before all others
    let after = { timestamp: timeStart, hash: new Uint8Array() }
    for (;;) {
      signal?.throwIfAborted()
      const keys = this.#statement.all(after.timestamp, after.hash, timeEnd)
      for (const key of keys) {
        yield key as unknown as MessageKey
      }
      const last = keys.at(-1)
      if (last === undefined || keys.length < BATCH_KEYS) {
        return
      }
      after = last as unknown as typeof after
      await setImmediate()
    }
  }
}
