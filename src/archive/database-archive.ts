import { ClosedError } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import type { StoredMessage } from '../store/page.ts'
import { Additions } from './additions.ts'
import type {
  AdditionListener,
  Archive,
  ArchiveCallOptions,
  ArchiveCriteria,
  ArchiveKey,
  PruneLimits,
  PutOptions
} from './archive.ts'
import { type Chunk, fromChunk } from './chunk.ts'
import type { Database } from './database.ts'
import { compareOrder, toArchiveKeys, toHashes, toPutInput } from './entries.ts'
import { toStorageError } from './failures.ts'
import { GroupCommit } from './group-commit.ts'
import { toPruneLimits } from './limits.ts'
import { prune } from './pruning.ts'
import { type Reader, readChunksAt, readKeys, readMessages, walkChunks } from './reading.ts'
import { type Selection, toSelection } from './selection.ts'
import { addMessages } from './writing.ts'

/** An archive over an open database. */
export class DatabaseArchive implements Archive {
  readonly #database: Database
  readonly #ended: AbortController
  readonly #channel: BroadcastChannel
  readonly #additions = new Additions()
  readonly #puts = new GroupCommit((entries, marks) => this.#commit(entries, marks))
  #closing: Promise<void> | undefined

  /**
   * @param ended - aborted with an error once the database is lost; aborted here at the end
   * @param channel - tells other tabs of additions, by the keys of their chunks
   */
  constructor(database: Database, ended: AbortController, channel: BroadcastChannel) {
    this.#database = database
    this.#ended = ended
    this.#channel = channel
    channel.onmessage = ({ data }) =>
      this.#onAnnouncement(data as readonly Uint8Array<ArrayBuffer>[])
    ended.signal.addEventListener('abort', () => this.#release())
    if (ended.signal.aborted) {
      this.#release()
    }
  }

  /** As {@link Archive.putMany}. */
  async putMany(
    messages: readonly StoredMessage[],
    options: PutOptions = {}
  ): Promise<StoredMessage[]> {
    this.#check(options)
    const input = toPutInput(messages, options)
    return input.entries.length + input.marks.length === 0
      ? []
      : await this.#puts.put(input, [options.signal, this.#ended.signal])
  }

  /** As {@link Archive.has}. */
  async has(hashes: readonly Uint8Array[], options?: ArchiveCallOptions): Promise<boolean[]> {
    const asked = toHashes(hashes)
    const keys = await this.#use(options, (database) => readKeys(database, asked))
    return keys.map((key) => key !== undefined)
  }

  /** As {@link Archive.get}. */
  async get(
    hashes: readonly Uint8Array[],
    options?: ArchiveCallOptions
  ): Promise<(StoredMessage | undefined)[]> {
    const asked = toHashes(hashes)
    return await this.#use(options, (database) => readMessages(database, asked))
  }

  /** As {@link Archive.walk}. */
  walk(criteria?: ArchiveCriteria, options?: ArchiveCallOptions): AsyncGenerator<StoredMessage> {
    return this.#walk(toSelection(criteria), options)
  }

  /** As {@link Archive.walkKeys}. */
  walkKeys(criteria?: ArchiveCriteria, options?: ArchiveCallOptions): AsyncGenerator<ArchiveKey> {
    return toArchiveKeys(this.walk(criteria, options))
  }

  /** As {@link Archive.count}. */
  async count(options?: ArchiveCallOptions): Promise<number> {
    return await this.#use(options, (database) => database.countFromIndex('chunks', 'hashes'))
  }

  /** As {@link Archive.prune}. */
  async prune(limits: PruneLimits, options?: ArchiveCallOptions): Promise<number> {
    return await prune(this.#reader(options), toPruneLimits(limits))
  }

  /** As {@link Archive.getMark}. */
  async getMark(key: string, options?: ArchiveCallOptions): Promise<unknown> {
    return await this.#use(options, (database) => database.get('marks', key))
  }

  /** As {@link Archive.setMark}. */
  async setMark(key: string, value: unknown, options?: ArchiveCallOptions): Promise<void> {
    await this.putMany([], { ...options, marks: { [key]: value } })
  }

  /** As {@link Archive.subscribe}. */
  subscribe(listener: AdditionListener, options?: ArchiveCallOptions): () => void {
    this.#check(options)
    return this.#additions.subscribe(listener, options)
  }

  /** As {@link Archive.close}. */
  async close(): Promise<void> {
    this.#closing ??= this.#puts.idle.then(() => this.#ended.abort(new ClosedError('the archive')))
    await this.#closing
  }

  async *#walk(selection: Selection, options?: ArchiveCallOptions): AsyncGenerator<StoredMessage> {
    for await (const message of walkChunks(this.#reader(options), selection)) {
      yield message
      this.#check(options)
    }
  }

  async #commit(
    entries: readonly StoredMessage[],
    marks: readonly (readonly [string, unknown])[]
  ): Promise<ReadonlySet<Uint8Array>> {
    const chunks = await addMessages(this.#database, entries, marks).catch((error: unknown) => {
      throw toStorageError(error)
    })
    if (chunks.length > 0 && !this.#ended.signal.aborted) {
      this.#channel.postMessage(chunks.map(({ start }) => start))
      this.#announce(chunks)
    }
    return new Set(chunks.flatMap(({ hashes }) => hashes))
  }

  #onAnnouncement(keys: readonly Uint8Array<ArrayBuffer>[]): void {
    if (this.#additions.isHeard) {
      readChunksAt(this.#database, keys).then(
        (chunks) => this.#announce(chunks),
        () => {} // The database is closed, or another version wrote something else.
      )
    }
  }

  #announce(chunks: readonly Chunk[]): void {
    if (this.#additions.isHeard) {
      this.#additions.announce(chunks.flatMap(fromChunk).sort(compareOrder))
    }
  }

  #reader(options: ArchiveCallOptions | undefined): Reader {
    return (read) => this.#use(options, read)
  }

  /** Runs something that ends with the call or the archive, and fails with our errors. */
  async #use<T>(
    options: ArchiveCallOptions | undefined,
    run: (database: Database) => Promise<T>
  ): Promise<T> {
    this.#check(options)
    const { signal } = this.#ended
    return await withSignals([options?.signal, signal], async () => {
      try {
        return await run(this.#database)
      } catch (error) {
        throw toStorageError(error)
      }
    })
  }

  #check({ signal }: ArchiveCallOptions = {}): void {
    if (this.#closing !== undefined) {
      throw new ClosedError('the archive')
    }
    this.#ended.signal.throwIfAborted()
    signal?.throwIfAborted()
  }

  #release(): void {
    this.#channel.close()
    this.#additions.clear()
    this.#database.close()
  }
}
