import { messageSizeBytes, toHex } from 'waku-light/message'
import type { StoredMessage } from 'waku-light/store'
import type { SyncArchive } from 'waku-light/sync'
import type { Archive } from '../archive/archive.ts'
import { fromStoredMessage, toStoredMessage } from '../archive/stored-message.ts'
import type { ResolvedOptions } from '../options.ts'

const MAX_TIME = 2n ** 63n - 1n

/**
 * The node's archive as sync sees it. Messages that come this way are archived whenever they were made: the check against the
 * node's clock is for what is pushed and relayed.
 */
export function toSyncArchive(
  archive: Archive,
  { now, maxMessageBytes }: Pick<ResolvedOptions, 'now' | 'maxMessageBytes'>
): SyncArchive {
  return {
    async putMany(messages) {
      const fitting = messages.filter((message) => messageSizeBytes(message) <= maxMessageBytes)
      const areNew = await archive.insertAll(
        fitting.map((message) => fromStoredMessage(message, now()))
      )
      return fitting.filter((_, index) => areNew[index])
    },
    async get(hashes) {
      const { rows } = archive.pages.readPage({
        order: 'timestamp-hash',
        contentTopics: [],
        hashes,
        forward: true,
        limit: hashes.length,
        includeData: true,
        maxBytes: Infinity
      })
      const found = new Map<string, StoredMessage>()
      for (const message of rows.map(toStoredMessage)) {
        if (message !== undefined) {
          found.set(toHex(message.messageHash), message)
        }
      }
      return hashes.map((hash) => found.get(toHex(hash)))
    },
    async *walkKeys({ timeStart, timeEnd = MAX_TIME }, { signal }) {
      for await (const { hash, ...key } of archive.keys.walk(timeStart, timeEnd, signal)) {
        yield { ...key, messageHash: Uint8Array.from(hash) }
      }
    },
    subscribe: (listener) =>
      archive.subscribe((added) =>
        listener(added.map(({ hash, ...key }) => ({ ...key, messageHash: Uint8Array.from(hash) })))
      )
  }
}
