import type { OutboxEntry, OutboxMessage } from './entry.ts'

/**
 * Where an outbox keeps its entries. An adapter passes values through as they are (they are what structured cloning takes,
 * `bigint` included), and its operations take effect in the order in which they are called. Each resolves once its effect is
 * durable, and has either all of its effect or none.
 */
export interface OutboxStorage {
  /** Names the data: outboxes with the same scope share it, and only one of them sends at a time. */
  readonly scope: string
  /**
   * Adds an entry with its content, and gives it the next `seq`.
   *
   * @returns the entry with its `seq`; the one that is there already, unchanged, if its id is taken
   */
  add(entry: Omit<OutboxEntry, 'seq'>, message: OutboxMessage): Promise<OutboxEntry>
  /** Replaces an entry; with `dropContent` its content goes in the same step. */
  put(entry: OutboxEntry, dropContent: boolean): Promise<void>
  /** All entries, in the order of `seq`. */
  entries(): Promise<OutboxEntry[]>
  /** One entry; undefined if there is none. */
  entry(id: string): Promise<OutboxEntry | undefined>
  /** The content of an entry; undefined once it was dropped. */
  message(id: string): Promise<OutboxMessage | undefined>
  /** Removes entries with their content. */
  remove(ids: readonly string[]): Promise<void>
  /** Lets go of what is held open. May be called again, and the storage used again. */
  close(): Promise<void>
}
