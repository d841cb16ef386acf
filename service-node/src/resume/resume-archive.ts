import { deserialize, serialize } from 'node:v8'
import { StorageError, StorageFullError } from 'waku-light/errors'
import { messageSizeBytes, toNanoseconds } from 'waku-light/message'
import type { ResumeArchive } from 'waku-light/resume'
import type { Archive } from '../archive/archive.ts'
import { isStorable } from '../archive/archived-message.ts'
import type { ArchiveKey } from '../archive/order.ts'
import { fromStoredMessage, toStoredMessage } from '../archive/stored-message.ts'
import { errorMessage } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'

const SQLITE_FULL = 13
const KEYS_PER_PAGE = 100

/**
 * The node's archive as resume sees it. It takes messages of any age: the check against the node's clock is for what is pushed
 * and relayed. What is not of this node's shards, too large, ephemeral or without a time it leaves out. Marks are those of
 * this set of shards: another one begins anew.
 */
export function toResumeArchive(
  archive: Archive,
  {
    now,
    maxMessageBytes,
    pubsubTopics
  }: Pick<ResolvedOptions, 'now' | 'maxMessageBytes' | 'pubsubTopics'>
): ResumeArchive {
  const served = new Set(pubsubTopics)
  const toKey = (mark: string): string => JSON.stringify([mark, ...[...served].sort()])
  return {
    async putMany(messages, { marks = {}, signal } = {}) {
      signal?.throwIfAborted()
      const taken = messages.filter(
        (message) =>
          served.has(message.pubsubTopic) &&
          isStorable(message) &&
          messageSizeBytes(message) <= maxMessageBytes
      )
      const rows = taken.map((message) => fromStoredMessage(message, now()))
      const values = Object.entries(marks).map(
        ([mark, value]) =>
          [toKey(mark), value === undefined ? undefined : serialize(value)] as const
      )
      try {
        const areNew = await archive.insertAll(rows, new Map(values))
        return taken.filter((_, index) => areNew[index])
      } catch (error) {
        throw toStorageError(error)
      }
    },

    has: async (hashes) =>
      await Promise.resolve(hashes.map((hash) => archive.pages.findHash(hash) !== undefined)),

    getMark: async (mark) => await Promise.resolve(decode(archive.getMark(toKey(mark)))),

    async *walkKeys({ timeStart, timeEnd, direction } = {}, { signal } = {}) {
      const forward = direction !== 'backward'
      let after: ArchiveKey | undefined
      do {
        signal?.throwIfAborted()
        await Promise.resolve()
        const page = archive.pages.readPage({
          order: 'timestamp-hash',
          contentTopics: [],
          timeFrom: timeStart && toNanoseconds(timeStart, 'timeStart'),
          timeTo: timeEnd && toNanoseconds(timeEnd, 'timeEnd') - 1n,
          after,
          forward,
          limit: KEYS_PER_PAGE,
          includeData: true,
          maxBytes: Infinity
        })
        for (const row of forward ? page.rows : page.rows.toReversed()) {
          const message = toStoredMessage(row)
          if (message !== undefined) {
            yield { ...message, timestamp: message.timestamp ?? 0n }
          }
        }
        after = page.next && page.last
      } while (after !== undefined)
    }
  }
}

/** A mark that this version of Node.js cannot read counts as none: more is asked for again, and nothing is lost. */
function decode(value: Uint8Array | undefined): unknown {
  try {
    return value && (deserialize(value) as unknown)
  } catch {
    return undefined
  }
}

/** A disk may have room again; anything else ends the attempts. */
function toStorageError(error: unknown): StorageError | StorageFullError {
  const cause = (error as { cause?: { errcode?: number } }).cause
  return ((cause?.errcode ?? 0) & 0xff) === SQLITE_FULL
    ? new StorageFullError({ cause: error })
    : new StorageError('failed', errorMessage(error), { cause: error })
}
