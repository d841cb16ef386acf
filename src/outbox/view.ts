import { Listeners } from '../lib/listeners.ts'
import { isFinished, type OutboxChange, type OutboxEntry } from './entry.ts'

/** What this page knows of the entries, and who wants to hear of it. */
export class EntryView {
  readonly listeners = new Listeners<OutboxChange>()
  /** On their way into the storage. */
  readonly arriving = new Set<Omit<OutboxEntry, 'seq'>>()
  readonly #entries = new Map<string, OutboxEntry>()

  /** Undefined if it is not known. */
  get(id: string): OutboxEntry | undefined {
    return this.#entries.get(id)
  }

  /** In order. */
  list(): OutboxEntry[] {
    return [...this.#entries.values()].sort((a, b) => a.seq - b.seq)
  }

  /** What is not finished, what is on its way into the storage included. */
  pending(): Omit<OutboxEntry, 'seq'>[] {
    return [...this.list().filter((entry) => !isFinished(entry)), ...this.arriving]
  }

  /** Takes an entry in, unless it is known as it is or newer. */
  set(entry: OutboxEntry): void {
    const previous = this.#entries.get(entry.id)
    // An id may come again once its entry is forgotten.
    if (previous?.seq === entry.seq && previous.revision >= entry.revision) {
      return
    }
    this.#entries.set(entry.id, entry)
    this.listeners.tell({ entry, previousState: previous?.state })
  }

  /** Forgets an entry. */
  delete(id: string): void {
    this.#entries.delete(id)
  }
}
