import { delay } from '../lib/deadline.ts'
import { deliver } from './delivery.ts'
import { isFinished, type OutboxEntry } from './entry.ts'
import type { OutboxSession } from './session.ts'

/** A lane for each content topic: within one in order, beside each other freely. */
export interface Lanes {
  /** Begins with the next entry of a topic, if there is one and it need not wait. */
  next(topic: string): void
  /** Settles once the session is over, and what was under way has been written down. */
  idle(): Promise<void>
}

/** Begins to send what is in the view of a session. */
export function createLanes(session: OutboxSession): Lanes {
  /** By id: what was begun, and has not come to its end. */
  const deliveries = new Map<string, Promise<void>>()
  /** By topic: the entry that the next one has to wait for. */
  const heads = new Map<string, string>()

  function next(topic: string): void {
    if (heads.has(topic)) {
      return
    }
    const isNext = (entry: OutboxEntry): boolean =>
      entry.contentTopic === topic && !isFinished(entry) && !deliveries.has(entry.id)
    const entry = session.view.list().find(isNext)
    if (entry !== undefined) {
      begin(entry)
    }
  }

  function begin({ id, contentTopic }: OutboxEntry): void {
    const goOn = (): void => {
      if (heads.get(contentTopic) === id) {
        heads.delete(contentTopic)
        next(contentTopic)
      }
    }
    heads.set(contentTopic, id)
    const delivery = Promise.resolve() // it is noted before it begins, and can go on
      .then(() => deliver(session, id, goOn))
      .then(
        () => {
          deliveries.delete(id)
          goOn()
        },
        () => {} // ended: what is behind it does not go on
      )
    deliveries.set(id, delivery)
  }

  for (const { contentTopic } of session.view.pending()) {
    next(contentTopic)
  }
  return {
    next,
    async idle() {
      await delay(Infinity, session.signal).catch(() => {})
      await Promise.all(deliveries.values())
    }
  }
}
