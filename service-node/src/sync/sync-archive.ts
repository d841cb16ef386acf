import { messageSizeBytes, toHex } from 'waku-light/message'
import type { SyncArchive } from 'waku-light/sync'
import { decodeWakuMessage, encodeWakuMessage } from 'waku-light/wire'
import type { Archive } from '../archive/archive.ts'
import { toArchivedMessage } from '../archive/archived-message.ts'
import type { ResolvedOptions } from '../options.ts'

type Given = Parameters<SyncArchive['putMany']>[0][number]

const MAX_TIME = 2n ** 63n - 1n

/**
 * The node's archive as sync sees it. Messages that come this way are archived whenever they were made: the check against the
 * node's clock is for what is pushed and relayed.
 */
export function toSyncArchive(
  archive: Archive,
  { now, maxMessageBytes }: Pick<ResolvedOptions, 'now' | 'maxMessageBytes'>
): SyncArchive {
  async function put(given: Given): Promise<boolean> {
    const { messageHash: _hash, pubsubTopic, ...message } = given
    return (
      messageSizeBytes(message) <= maxMessageBytes &&
      (await archive.insert(
        toArchivedMessage(pubsubTopic, message, encodeWakuMessage(message), now())
      ))
    )
  }
  return {
    async putMany(messages) {
      const added = await Promise.all(messages.map(put))
      return messages.filter((_, index) => added[index])
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
      const found = new Map<string, Given>()
      for (const { hash, message, pubsubTopic } of rows) {
        if (hash !== undefined && message !== undefined && pubsubTopic !== undefined) {
          const messageHash = Uint8Array.from(hash)
          found.set(toHex(hash), { ...decodeWakuMessage(message), messageHash, pubsubTopic })
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
