import { write } from './ledger.ts'
import type { OutboxSession } from './session.ts'

/**
 * Takes in what is in the storage, as the only one that may send from now on.
 *
 * @throws what the storage throws
 */
export async function recover(session: OutboxSession): Promise<void> {
  const { settings, view } = session
  const known = view.list()
  const entries = await settings.storage.entries()
  const stored = new Set(entries.map(({ id }) => id))
  for (const { id } of known) {
    if (!stored.has(id)) {
      view.delete(id)
    }
  }
  for (const entry of entries) {
    view.set(entry)
    if (entry.state === 'sending') {
      // Whoever sent it did not live to see the answer.
      await write(session, entry, { state: 'unknown', reason: 'interrupted' })
    }
  }
}
