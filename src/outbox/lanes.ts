import type { OutboxEntry } from './entry.ts'

/** Brings one entry to its end; calls `goOn` as soon as the next one of its topic may be sent. */
export type Deliver = (id: string, goOn: () => void) => Promise<void>

/** A queue for each content topic: within one in order, beside each other freely. */
export class Lanes {
  readonly #queues = new Map<string, OutboxEntry[]>()
  readonly #known = new Set<string>()
  readonly #deliver: Deliver
  #isOpen = false

  /** @param deliver - does not reject, but may end early: then what it is told to end does not go on */
  constructor(deliver: Deliver) {
    this.#deliver = deliver
  }

  /** Takes in an entry, once. */
  add(entry: OutboxEntry): void {
    if (this.#known.has(entry.id)) {
      return
    }
    this.#known.add(entry.id)
    const queue = this.#queues.get(entry.contentTopic) ?? []
    const place = queue.findIndex((other) => other.seq > entry.seq)
    queue.splice(place === -1 ? queue.length : place, 0, entry)
    const isNew = !this.#queues.has(entry.contentTopic)
    this.#queues.set(entry.contentTopic, queue)
    if (isNew && this.#isOpen) {
      this.#start(entry.contentTopic, queue)
    }
  }

  /** Begins; what is added from now on starts as it comes. */
  open(): void {
    this.#isOpen = true
    for (const [topic, queue] of this.#queues) {
      this.#start(topic, queue)
    }
  }

  #start(topic: string, queue: OutboxEntry[]): void {
    const entry = queue.shift()
    if (entry === undefined) {
      this.#queues.delete(topic)
      return
    }
    let isDone = false
    const goOn = (): void => {
      if (!isDone) {
        isDone = true
        this.#start(topic, queue)
      }
    }
    this.#deliver(entry.id, goOn).then(
      () => {
        this.#known.delete(entry.id)
        goOn()
      },
      () => {} // ended: the queue stands still
    )
  }
}
