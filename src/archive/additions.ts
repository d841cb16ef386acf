import { report } from '../lib/report.ts'
import type { StoredMessage } from '../store/page.ts'
import type { AdditionListener, ArchiveCallOptions } from './archive.ts'

interface Subscription {
  readonly listener: AdditionListener
  readonly end: () => void
}

/** Who is told of additions. */
export class Additions {
  readonly #subscriptions = new Set<Subscription>()

  /** Whether anyone listens. */
  get isHeard(): boolean {
    return this.#subscriptions.size > 0
  }

  /** As {@link Archive.subscribe}. */
  subscribe(listener: AdditionListener, { signal }: ArchiveCallOptions = {}): () => void {
    signal?.throwIfAborted()
    const end = (): void => {
      this.#subscriptions.delete(subscription)
      signal?.removeEventListener('abort', end)
    }
    const subscription = { listener, end }
    this.#subscriptions.add(subscription)
    signal?.addEventListener('abort', end)
    return end
  }

  /** Tells everyone; nothing if there is nothing to tell. */
  announce(messages: readonly StoredMessage[]): void {
    if (messages.length > 0) {
      for (const { listener } of [...this.#subscriptions]) {
        report(listener, messages)
      }
    }
  }

  /** Ends every subscription. */
  clear(): void {
    for (const { end } of [...this.#subscriptions]) {
      end()
    }
  }
}
