import type { Pauses } from '../lib/pauses.ts'
import type { OutboxComponents } from './components.ts'
import { Delivery } from './delivery.ts'
import { isFinished } from './entry.ts'
import type { OutboxSettings } from './init.ts'
import { Lanes, Slots } from './lanes.ts'
import { Ledger } from './ledger.ts'
import { Sender } from './sender.ts'
import type { EntryView } from './view.ts'

/** What {@link work} needs. */
export interface SessionInit {
  readonly components: OutboxComponents
  readonly settings: OutboxSettings
  readonly view: EntryView
  readonly pauses: Pauses
  readonly tell: (ids: readonly string[]) => void
  /** Gets the queues, into which new entries go from now on. */
  readonly begin: (lanes: Lanes) => void
  /** Ends it. */
  readonly signal: AbortSignal
  /** Aborted once another tab may send. */
  readonly lost: AbortSignal
}

/**
 * Sends what there is and what comes, as the only one to do so, until the signal is aborted and all that was under way has
 * been written down.
 *
 * @throws what the storage throws at the beginning
 */
export async function work(init: SessionInit): Promise<void> {
  const { components, settings, view, pauses, signal, lost } = init
  const { lightPush, store } = components
  const ledger = new Ledger({ settings, view, pauses, tell: init.tell, lost })
  const sender = new Sender({ settings, lightPush, ledger, signal })
  const slots = new Slots(settings.maxConcurrent)
  const delivery = new Delivery({ settings, store, view, pauses, slots, ledger, sender, signal })
  const underWay = new Set<Promise<void>>()
  const lanes = new Lanes((id, goOn) => {
    const task = delivery.deliver(id, goOn)
    const done = (): boolean => underWay.delete(task)
    underWay.add(task)
    task.then(done, done)
    return task
  })

  // From here on what is enqueued goes into the lanes, and so does what was there before: nothing falls between.
  const known = view.ids()
  init.begin(lanes)
  const entries = await settings.storage.entries()
  const ids = new Set(entries.map(({ id }) => id))
  for (const id of known.filter((other) => !ids.has(other))) {
    view.delete(id)
  }
  for (const entry of entries) {
    signal.throwIfAborted()
    view.set(entry)
    if (entry.state === 'sending') {
      // Whoever sent it did not live to see the answer.
      lanes.add(await ledger.write(entry, { state: 'unknown', reason: 'interrupted' }))
    } else if (!isFinished(entry)) {
      lanes.add(entry)
    }
  }
  lanes.open()

  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) {
      resolve()
    }
  })
  await Promise.allSettled(underWay)
}
