import { createRequestId } from '../lib/random.ts'
import type { OutboxEntry, OutboxMessage } from './entry.ts'
import type { OutboxStorage } from './storage.ts'

/**
 * Keeps entries in memory: for tests, and for Node where nothing has to survive the process. Each call makes a storage of its
 * own; outboxes over the same one share it.
 *
 * @example
 * ```ts
 * const outbox = await createOutbox({ lightPush, store }, { storage: memoryStorage() })
 * ```
 */
export function memoryStorage(): OutboxStorage {
  const entries = new Map<string, OutboxEntry>()
  const messages = new Map<string, OutboxMessage>()
  let seq = 0
  return {
    scope: `memory/${createRequestId()}`,
    async add(entry, message) {
      const existing = entries.get(entry.id)
      if (existing !== undefined) {
        return existing
      }
      const added = { ...entry, seq: ++seq }
      entries.set(added.id, structuredClone(added))
      messages.set(added.id, structuredClone(message))
      return added
    },
    async put(entry, dropContent) {
      entries.set(entry.id, structuredClone(entry))
      if (dropContent) {
        messages.delete(entry.id)
      }
    },
    entries: async () => structuredClone([...entries.values()]),
    entry: async (id) => structuredClone(entries.get(id)),
    message: async (id) => structuredClone(messages.get(id)),
    async remove(ids) {
      for (const id of ids) {
        entries.delete(id)
        messages.delete(id)
      }
    },
    async close() {}
  }
}
