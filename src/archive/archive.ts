import type { TimeInput } from '../lib/time.ts'
import type { StoredMessage } from '../store/page.ts'

/** What every call of an archive takes. */
export interface ArchiveCallOptions {
  /** Ends the call: it rejects with the signal's own reason. */
  readonly signal?: AbortSignal
}

/** Options of {@link Archive.putMany}. */
export interface PutOptions extends ArchiveCallOptions {
  /**
   * Small values to set together with the messages: both are stored, or neither. What structured cloning takes; `undefined`
   * removes a mark.
   */
  readonly marks?: Readonly<Record<string, unknown>>
}

/** A place in the order of an archive: by time, then by message hash. A message is one. */
export interface ArchivePosition {
  /** Nanoseconds; absent counts as 0. */
  readonly timestamp?: bigint
  /** 32 bytes. */
  readonly messageHash: Uint8Array
}

/** Which messages, and in which direction; what is left out, or empty, does not restrict. */
export interface ArchiveCriteria {
  /** Any of these. */
  readonly contentTopics?: readonly string[]
  readonly pubsubTopic?: string
  /** From this time on. */
  readonly timeStart?: TimeInput
  /** Before this time. */
  readonly timeEnd?: TimeInput
  /** Go on after this place, in the direction of the walk; the place itself is left out. */
  readonly after?: ArchivePosition
  /** @default 'forward', oldest first */
  readonly direction?: 'forward' | 'backward'
}

/** A message without its content. */
export interface ArchiveKey {
  /** Nanoseconds; 0 for a message without a time. */
  readonly timestamp: bigint
  /** 32 bytes. */
  readonly messageHash: Uint8Array<ArrayBuffer>
  readonly pubsubTopic: string
  readonly contentTopic: string
}

/** What to remove. Either or both. */
export interface PruneLimits {
  /** Everything older than this. */
  readonly before?: TimeInput
  /** The oldest, until no more than this many are left. */
  readonly maxCount?: number
}

/** Told of messages that were added, in order of time, then of hash; at least one. */
export type AdditionListener = (messages: readonly StoredMessage[]) => void

/**
 * A local store of messages: what resume fills, an app reads and sync reconciles.
 *
 * Messages are told apart by their hash, which is taken as it is given: it was computed where the message came from. Every
 * call rejects with {@link ClosedError} after {@link Archive.close}.
 */
export interface Archive {
  /**
   * Adds messages, all of them or none. Those that are there already, and ephemeral ones, are left out. Calls made at the same
   * time share a transaction.
   *
   * @returns the new ones, in the order given
   * @throws {@link InvalidArgumentError} before anything is stored
   * @throws {@link StorageFullError} if there is no room; nothing of this call is stored, and nothing else is lost
   * @throws {@link StorageError} if the database cannot be written
   * @throws the signal's own reason; the messages may be stored nevertheless, if that was under way
   */
  putMany(messages: readonly StoredMessage[], options?: PutOptions): Promise<StoredMessage[]>
  /** Which of these hashes are there, in the order given. */
  has(hashes: readonly Uint8Array[], options?: ArchiveCallOptions): Promise<boolean[]>
  /** Messages by their hashes, in the order given; undefined for one that is not there. */
  get(
    hashes: readonly Uint8Array[],
    options?: ArchiveCallOptions
  ): Promise<(StoredMessage | undefined)[]>
  /**
   * Messages in order of time, then of hash, each once. It reads as it is pulled, a bounded number at a time; what is added or
   * removed meanwhile may or may not be seen.
   *
   * @throws {@link InvalidArgumentError} at the call
   */
  walk(criteria?: ArchiveCriteria, options?: ArchiveCallOptions): AsyncGenerator<StoredMessage>
  /** The same walk, with times, hashes and topics only. */
  walkKeys(criteria?: ArchiveCriteria, options?: ArchiveCallOptions): AsyncGenerator<ArchiveKey>
  /** How many messages there are. */
  count(options?: ArchiveCallOptions): Promise<number>
  /**
   * Removes old messages.
   *
   * @returns how many
   */
  prune(limits: PruneLimits, options?: ArchiveCallOptions): Promise<number>
  /** The value of a mark; undefined if it is not set. */
  getMark(key: string, options?: ArchiveCallOptions): Promise<unknown>
  /** Sets a mark alone; `undefined` removes it. */
  setMark(key: string, value: unknown, options?: ArchiveCallOptions): Promise<void>
  /**
   * Tells a listener of every addition from now on, here or in another tab, each once. An exception in it changes nothing.
   * Only what a tab stored just before it crashed may go untold; a walk shows it.
   *
   * @param options - an aborted signal ends it as well
   * @returns ends it
   */
  subscribe(listener: AdditionListener, options?: ArchiveCallOptions): () => void
  /** Stores what was put before, ends every other call with {@link ClosedError}, and lets go of everything. Idempotent. */
  close(): Promise<void>
}
