import { delay } from '../lib/deadline.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { write } from './ledger.ts'
import type { OutboxSession } from './session.ts'

/**
 * Sends what there is and what comes, as the only one to do so, until the signal is aborted and all that was under way has
 * been written down.
 *
 * @param begin - gets the lanes, which are to be told of what comes from now on
 * @throws what the storage throws at the beginning
 */
export async function work(session: OutboxSession, begin: (lanes: Lanes) => void): Promise<void> {
  const { settings, view, signal } = session
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

  // What was taken in meanwhile is in the view as well, and the lanes are told of all that comes from here on.
  const lanes = createLanes(session)
  begin(lanes)
  for (const { contentTopic } of view.list()) {
    lanes.next(contentTopic)
  }
  await delay(Infinity, signal).catch(() => {})
  await lanes.idle()
}
