import { isFinished } from './entry.ts'
import type { EntryView } from './view.ts'

/** Brings one entry to its end; calls `goOn` as soon as the next one of its topic may be sent. */
export type Deliver = (id: string, goOn: () => void) => Promise<void>

/** A lane for each content topic: within one in order, beside each other freely. */
export class Lanes {
  readonly #view: EntryView
  readonly #deliver: Deliver
  /** By id: what was begun, and has not come to its end. */
  readonly #deliveries = new Map<string, Promise<void> | undefined>()
  /** Topics whose next entry has to wait. */
  readonly #busy = new Set<string>()

  /** @param deliver - may reject, to end early: then what is behind it does not go on */
  constructor(view: EntryView, deliver: Deliver) {
    this.#view = view
    this.#deliver = deliver
  }

  /** Begins with the next entry of a topic, if there is one and it need not wait. */
  next(topic: string): void {
    if (this.#busy.has(topic)) {
      return
    }
    const entry = this.#view
      .list()
      .find(
        (other) =>
          other.contentTopic === topic && !isFinished(other) && !this.#deliveries.has(other.id)
      )
    if (entry === undefined) {
      return
    }
    const { id } = entry
    this.#busy.add(topic)
    let isDone = false
    const goOn = (): void => {
      if (!isDone) {
        isDone = true
        this.#busy.delete(topic)
        this.next(topic)
      }
    }
    this.#deliveries.set(id, undefined) // before anything of it can call back
    const delivery = this.#deliver(id, goOn).then(
      () => {
        this.#deliveries.delete(id)
        goOn()
      },
      () => {}
    )
    this.#deliveries.set(id, delivery)
  }

  /** Settles once what is under way has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#deliveries.values())
  }
}
