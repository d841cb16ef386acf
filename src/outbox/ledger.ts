import { definedOnly } from '../lib/defined.ts'
import { isFinished, type OutboxEntry } from './entry.ts'
import type { OutboxSession } from './session.ts'

/** What changes in an entry; what is not said of its last try is cleared. */
export type EntryChange = Partial<
  Pick<
    OutboxEntry,
    | 'state'
    | 'attempts'
    | 'sent'
    | 'reason'
    | 'statusCode'
    | 'detail'
    | 'nextAttemptAtMs'
    | 'finishedAtMs'
  >
>

const NOTHING_SAID: EntryChange = {
  reason: undefined,
  statusCode: undefined,
  detail: undefined,
  nextAttemptAtMs: undefined
}

/**
 * Writes a change: to the storage first, then to the view and to other tabs. Rejects where the storage does, and from the time
 * on at which another tab may send.
 */
export async function write(
  { settings, view, tell, lost }: OutboxSession,
  entry: OutboxEntry,
  change: EntryChange
): Promise<OutboxEntry> {
  lost.throwIfAborted()
  const changed = definedOnly({
    ...entry,
    ...NOTHING_SAID,
    ...change,
    revision: entry.revision + 1
  })
  // An app may want the content of what failed; what is out it has itself.
  const dropContent = isFinished(changed) && !isGivenUp(changed)
  await settings.storage.put(changed, dropContent)
  lost.throwIfAborted()
  view.set(changed)
  tell([changed.id])
  return changed
}

/** Writes a change, as often as it takes: what came of a try must not be forgotten. */
export async function commit(
  session: OutboxSession,
  entry: OutboxEntry,
  change: EntryChange
): Promise<OutboxEntry> {
  const { pauses, lost } = session
  for (let failures = 0; ; failures++) {
    try {
      return await write(session, entry, change)
    } catch {
      await pauses.wait(pauses.backoffMs(failures), pauses.waking, lost)
    }
  }
}

/** Writes the last change of an entry, and forgets the oldest of those that are finished where there are too many. */
export async function finish(
  session: OutboxSession,
  entry: OutboxEntry,
  change: EntryChange
): Promise<undefined> {
  const { settings, view, tell } = session
  await commit(session, entry, { ...change, finishedAtMs: settings.now() })
  let [count, bytes] = [0, 0]
  const ids: string[] = []
  for (const other of view.list().filter(isFinished).reverse()) {
    count++
    bytes += isGivenUp(other) ? other.sizeBytes : 0
    if (count > settings.maxFinished || bytes > settings.maxBytes) {
      ids.push(other.id)
    }
  }
  if (ids.length > 0) {
    await settings.storage.remove(ids)
    for (const id of ids) {
      view.delete(id)
    }
    tell(ids)
  }
}

/** Whether an entry keeps its content although it is finished. */
function isGivenUp({ state }: OutboxEntry): boolean {
  return state === 'rejected' || state === 'expired'
}
