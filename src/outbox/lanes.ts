import type { OutboxEntry } from './entry.ts'

/** Brings one entry to its end; calls `goOn` as soon as the next one of its topic may be sent. */
export type Deliver = (id: string, goOn: () => void) => Promise<void>

/** A queue for each content topic: within one in order, beside each other freely. */
export class Lanes {
  /** What waits for its turn, of each topic that has something under way. */
  readonly #queues = new Map<string, OutboxEntry[]>()
  /** By id: what waits, or is under way. */
  readonly #deliveries = new Map<string, Promise<void> | undefined>()
  readonly #deliver: Deliver

  /** @param deliver - may reject, to end early: then what it is told of does not go on */
  constructor(deliver: Deliver) {
    this.#deliver = deliver
  }

  /** Takes in an entry, once. */
  add(entry: OutboxEntry): void {
    const { id, contentTopic } = entry
    if (this.#deliveries.has(id)) {
      return
    }
    this.#deliveries.set(id, undefined)
    const queue = this.#queues.get(contentTopic) ?? []
    queue.push(entry)
    queue.sort((a, b) => a.seq - b.seq)
    if (!this.#queues.has(contentTopic)) {
      this.#queues.set(contentTopic, queue)
      this.#start(contentTopic, queue)
    }
  }

  /** Settles once what is under way has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#deliveries.values())
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
    const delivery = this.#deliver(entry.id, goOn).then(
      () => {
        this.#deliveries.delete(entry.id)
        goOn()
      },
      () => {} // ended: the queue stands still
    )
    this.#deliveries.set(entry.id, delivery)
  }
}
