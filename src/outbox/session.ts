import type { Pauses } from '../lib/pauses.ts'
import type { Turnstile } from '../lib/turnstile.ts'
import type { OutboxComponents } from './components.ts'
import type { OutboxSettings } from './init.ts'
import type { EntryView } from './view.ts'

/** What an outbox works with while it is the only one that sends. */
export interface OutboxSession {
  readonly components: OutboxComponents
  readonly settings: OutboxSettings
  readonly view: EntryView
  readonly pauses: Pauses
  /** Through which every push and look-up goes. */
  readonly turnstile: Turnstile
  /** Tells other tabs. */
  readonly tell: (ids: readonly string[]) => void
  /** Ends it. */
  readonly signal: AbortSignal
  /** Aborted once another tab may send: from then on nothing is written. */
  readonly lost: AbortSignal
  /** A timestamp that no other message has. */
  readonly stamp: () => bigint
}
