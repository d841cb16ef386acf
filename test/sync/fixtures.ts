// Messages, archives and running syncs over nodes in memory.
import { type Archive, createMemoryArchive } from '../../src/archive/index.ts'
import { compareBytes } from '../../src/lib/bytes.ts'
import { messageHash } from '../../src/message/message-hash.ts'
import type { StoredMessage } from '../../src/store/page.ts'
import { createSync, type Sync, type SyncInit, type SyncStore } from '../../src/sync/index.ts'
import type { MemoryNode } from './memory-network.ts'
import { PUBSUB_TOPIC } from './twin.ts'

export const NOW_MS = 1_700_000_000_000
export const NOW = BigInt(NOW_MS) * 1_000_000n
const CONTENT_TOPIC = '/app/1/chat/proto'

const SECOND = 1_000_000_000n
let counter = 0

/** Messages that no other call makes, `secondsAgo` and older, a second apart. */
export function makeMessages(
  count: number,
  fields: Partial<StoredMessage> = {},
  secondsAgo = 60
): StoredMessage[] {
  return Array.from({ length: count }, (_, index) => {
    const message = {
      payload: new TextEncoder().encode(`message ${counter++}`),
      contentTopic: CONTENT_TOPIC,
      timestamp: NOW - BigInt(secondsAgo + index) * SECOND,
      pubsubTopic: PUBSUB_TOPIC,
      ...fields
    }
    return { ...message, messageHash: messageHash(message.pubsubTopic, message) }
  })
}

const running = new Set<Sync>()

/** For `afterEach`. */
export async function closeSyncs(): Promise<void> {
  await Promise.all(Array.from(running, (sync) => sync.close()))
  running.clear()
}

export async function startSync(
  node: MemoryNode,
  messages: readonly StoredMessage[],
  { store, ...init }: Partial<SyncInit> & { readonly store?: SyncStore } = {}
): Promise<{ sync: Sync; archive: Archive; node: MemoryNode }> {
  const archive = createMemoryArchive()
  await archive.putMany(messages)
  const sync = await createSync(
    { node, ...(store === undefined ? undefined : { store }) },
    { archive, now: () => NOW_MS, locks: null, automatic: false, ...init }
  )
  running.add(sync)
  return { sync, archive, node }
}

/** A store client over archives, each a store node. */
export function storeOf(
  nodes: Readonly<Record<string, readonly StoredMessage[]>>,
  asked: string[] = []
): SyncStore {
  return {
    async *lookup(hashes, { peerId = '' }) {
      asked.push(peerId)
      for (const message of nodes[peerId] ?? []) {
        if (hashes.some((hash) => compareBytes(hash, message.messageHash) === 0)) {
          yield message
        }
      }
    }
  }
}
