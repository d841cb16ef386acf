import { ClosedError } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import { resultOf, storeOf, toStorageError } from '../lib/indexed-db.ts'
import type { StoredMessage } from '../store/page.ts'
import { Additions } from './additions.ts'
import type { Archive, ArchiveCallOptions, PutOptions } from './archive.ts'
import { type Chunk, fromChunk } from './chunk.ts'
import { compareOrder, toArchiveKeys, toHashes, toPutInput } from './entries.ts'
import { type Commit, createGroupCommit } from './group-commit.ts'
import { toPruneLimits } from './limits.ts'
import { prune } from './pruning.ts'
import {
  countMessages,
  type Reader,
  readChunksAt,
  readKeys,
  readMessages,
  walkChunks
} from './reading.ts'
import { type Selection, toSelection } from './selection.ts'
import { addMessages } from './writing.ts'

/**
 * An archive over an open database.
 *
 * @param ended - aborted with an error once the database is lost; aborted here at the end
 * @param channel - tells other tabs of additions, by the keys of their chunks
 */
export function createDatabaseArchive(
  database: IDBDatabase,
  ended: AbortController,
  channel: BroadcastChannel
): Archive {
  const additions = new Additions()
  const puts = createGroupCommit(commit)
  let closing: Promise<void> | undefined

  const release = (): void => {
    channel.close()
    additions.clear()
    database.close()
  }

  function check({ signal }: ArchiveCallOptions = {}): void {
    if (closing !== undefined) {
      throw new ClosedError('the archive')
    }
    ended.signal.throwIfAborted()
    signal?.throwIfAborted()
  }

  /** Runs reads that end with the call or the archive, and fail with our errors. */
  function reader(options?: ArchiveCallOptions): Reader {
    return async (read) => {
      check(options)
      return await withSignals([options?.signal, ended.signal], async () => {
        try {
          return await read(database)
        } catch (error) {
          throw toStorageError(error)
        }
      })
    }
  }

  async function* walk(
    selection: Selection,
    options?: ArchiveCallOptions
  ): AsyncGenerator<StoredMessage> {
    for await (const message of walkChunks(reader(options), selection)) {
      yield message
      check(options)
    }
  }

  async function commit(...put: Parameters<Commit>): ReturnType<Commit> {
    const chunks = await addMessages(database, ...put).catch((error: unknown) => {
      throw toStorageError(error)
    })
    if (chunks.length > 0 && !ended.signal.aborted) {
      channel.postMessage(chunks.map(({ start }) => start))
      announce(chunks)
    }
    return new Set(chunks.flatMap(({ hashes }) => hashes))
  }

  function announce(chunks: readonly Chunk[]): void {
    if (additions.isHeard) {
      additions.announce(chunks.flatMap(fromChunk).sort(compareOrder))
    }
  }

  channel.onmessage = ({ data }) => {
    if (additions.isHeard) {
      readChunksAt(database, data as readonly Uint8Array<ArrayBuffer>[]).then(
        announce,
        () => {} // The database is closed, or another version wrote something else.
      )
    }
  }
  ended.signal.addEventListener('abort', release)
  if (ended.signal.aborted) {
    release()
  }

  async function putMany(
    messages: readonly StoredMessage[],
    options: PutOptions = {}
  ): Promise<StoredMessage[]> {
    check(options)
    const input = toPutInput(messages, options)
    return input.entries.length + input.marks.length === 0
      ? []
      : await puts.put(input, [options.signal, ended.signal])
  }

  return {
    putMany,
    async has(hashes, options) {
      const asked = toHashes(hashes)
      const keys = await reader(options)((opened) => readKeys(opened, asked))
      return keys.map((key) => key !== undefined)
    },
    async get(hashes, options) {
      const asked = toHashes(hashes)
      return await reader(options)((opened) => readMessages(opened, asked))
    },
    walk: (criteria, options) => walk(toSelection(criteria), options),
    walkKeys: (criteria, options) => toArchiveKeys(walk(toSelection(criteria), options)),
    count: (options) => reader(options)(countMessages),
    async prune(limits, options) {
      return await prune(reader(options), toPruneLimits(limits))
    },
    getMark: (key, options) =>
      reader(options)((opened) => resultOf(storeOf(opened, 'marks').get(key))),
    async setMark(key, value, options) {
      await putMany([], { ...options, marks: { [key]: value } })
    },
    subscribe(listener, options) {
      check(options)
      return additions.subscribe(listener, options)
    },
    async close() {
      closing ??= puts.idle().then(() => ended.abort(new ClosedError('the archive')))
      await closing
    }
  }
}
