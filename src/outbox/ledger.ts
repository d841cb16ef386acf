import type { Pauses } from '../lib/pauses.ts'
import { isFinished, type OutboxEntry } from './entry.ts'
import type { OutboxSettings } from './init.ts'
import type { EntryView } from './view.ts'

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

/** How {@link Ledger} is built. */
export interface LedgerInit {
  readonly settings: OutboxSettings
  readonly view: EntryView
  readonly pauses: Pauses
  /** Tells other tabs. */
  readonly tell: (ids: readonly string[]) => void
  /** Aborted once another tab may send: from then on nothing is written. */
  readonly lost: AbortSignal
}

/** Writes changes of entries: to the storage first, then to the view and to other tabs. Only the tab that sends has one. */
export class Ledger {
  readonly #init: LedgerInit

  constructor(init: LedgerInit) {
    this.#init = init
  }

  /** Writes a change; rejects where the storage does. */
  async write(entry: OutboxEntry, change: EntryChange): Promise<OutboxEntry> {
    const { settings, view, tell, lost } = this.#init
    lost.throwIfAborted()
    const { reason: _reason, statusCode: _code, detail: _detail, ...rest } = entry
    const { nextAttemptAtMs: _next, ...kept } = rest
    const changed = { ...kept, ...change, revision: entry.revision + 1 }
    // An app may want the content of what failed; what is out it has itself.
    const dropContent =
      isFinished(changed) && (changed.state === 'published' || changed.state === 'stored')
    await settings.storage.put(changed, dropContent)
    lost.throwIfAborted()
    view.set(changed)
    tell([changed.id])
    return changed
  }

  /** Writes a change, as often as it takes: what came of a try must not be forgotten. */
  async commit(entry: OutboxEntry, change: EntryChange): Promise<OutboxEntry> {
    for (let failures = 0; ; failures++) {
      try {
        return await this.write(entry, change)
      } catch {
        const { pauses, lost } = this.#init
        await pauses.wait(pauses.backoffMs(failures), pauses.waking, lost)
      }
    }
  }

  /** Writes the last change of an entry, and forgets the oldest of those that are finished where there are too many. */
  async finish(entry: OutboxEntry, change: EntryChange): Promise<void> {
    const { settings, view, tell } = this.#init
    await this.commit(entry, { ...change, finishedAtMs: settings.now() })
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
  }
}

function contentBytes({ state, sizeBytes }: OutboxEntry): number {
  return state === 'rejected' || state === 'expired' ? sizeBytes : 0
}
