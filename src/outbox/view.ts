import { report } from '../lib/report.ts'
import { isFinished, type OutboxChange, type OutboxEntry } from './entry.ts'

/** What this page knows of the entries, and who wants to hear of it. */
export class EntryView {
  readonly listeners = new Set<(change: OutboxChange) => void>()
  /** Entries that are not finished, what is on its way into the storage included, and their size. */
  pendingCount = 0
  pendingBytes = 0
  readonly #entries = new Map<string, OutboxEntry>()

  /** Undefined if it is not known. */
  get(id: string): OutboxEntry | undefined {
    return this.#entries.get(id)
  }

  /** Of all entries. */
  ids(): string[] {
    return [...this.#entries.keys()]
  }

  /** In order. */
  list(): OutboxEntry[] {
    return [...this.#entries.values()].sort((a, b) => a.seq - b.seq)
  }

  /** Takes an entry in, unless it is known as it is or newer. */
  set(entry: OutboxEntry, isNews = true): void {
    const previous = this.#entries.get(entry.id)
    // An id may come again once its entry is forgotten.
    if (previous?.seq === entry.seq && previous.revision >= entry.revision) {
      return
    }
    this.delete(entry.id)
    this.#entries.set(entry.id, entry)
    this.#count(entry, 1)
    if (isNews) {
      for (const listener of this.listeners) {
        report(listener, { entry, previousState: previous?.state })
      }
    }
  }

  /** Forgets an entry. */
  delete(id: string): void {
    const entry = this.#entries.get(id)
    if (entry !== undefined) {
      this.#entries.delete(id)
      this.#count(entry, -1)
    }
  }

  /** Counts something that is not finished, or does not count it any more. */
  count(sizeBytes: number, sign: 1 | -1): void {
    this.pendingCount += sign
    this.pendingBytes += sign * sizeBytes
  }

  #count(entry: OutboxEntry, sign: 1 | -1): void {
    if (!isFinished(entry)) {
      this.count(entry.sizeBytes, sign)
    }
  }
}
