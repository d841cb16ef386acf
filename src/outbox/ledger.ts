import { isFinished, type OutboxEntry } from './entry.ts'
import { NO_WAIT, type Wait } from './pace.ts'
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
  const { reason: _reason, statusCode: _code, detail: _detail, ...rest } = entry
  const { nextAttemptAtMs: _next, ...kept } = rest
  const changed = { ...kept, ...change, revision: entry.revision + 1 }
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

/**
 * Writes the last change of an entry, and forgets the oldest of those that are finished where there are too many.
 *
 * @returns that there is nothing to wait for
 */
export async function finish(
  session: OutboxSession,
  entry: OutboxEntry,
  change: EntryChange
): Promise<Wait> {
  const { settings, view, tell } = session
  await commit(session, entry, { ...change, finishedAtMs: settings.now() })
  const finished = view.list().filter(isFinished)
  let size = finished.reduce((sum, other) => sum + contentBytes(other), 0)
  let count = finished.length
  const ids: string[] = []
  for (const other of finished) {
    if (count <= settings.maxFinished && size <= settings.maxBytes) {
      break
    }
    count--
    size -= contentBytes(other)
    ids.push(other.id)
  }
  if (ids.length > 0) {
    await settings.storage.remove(ids)
    for (const id of ids) {
      view.delete(id)
    }
    tell(ids)
  }
  return NO_WAIT
}

/** Whether an entry keeps its content although it is finished. */
function isGivenUp({ state }: OutboxEntry): boolean {
  return state === 'rejected' || state === 'expired'
}

function contentBytes(entry: OutboxEntry): number {
  return isGivenUp(entry) ? entry.sizeBytes : 0
}
