import { report } from './report.ts'

/** Who is told of something. The same function may be among them more than once. */
export class Listeners<Event> {
  readonly #all = new Set<(event: Event) => void>()

  /** Adds one; returns a function that takes this one out. */
  add(listener: (event: Event) => void): () => void {
    const own = (event: Event): void => listener(event)
    this.#all.add(own)
    return () => {
      this.#all.delete(own)
    }
  }

  /** Tells all; an exception in one changes nothing for the others. */
  tell(event: Event): void {
    for (const listener of this.#all) {
      report(listener, event)
    }
  }

  /** Tells nobody any more. */
  clear(): void {
    this.#all.clear()
  }
}
