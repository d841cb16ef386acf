import type { SyncNode, SyncStore } from './components.ts'
import type { Holdings } from './holdings.ts'
import type { SyncSettings } from './init.ts'
import type { Intakes } from './intake.ts'
import type { Tell } from './progress.ts'

/** What all that one sync does has to do with. */
export interface SyncContext {
  readonly node: SyncNode
  readonly store: SyncStore | undefined
  readonly settings: SyncSettings
  readonly holdings: Holdings
  readonly intakes: Intakes
  /** Peers whose sessions are being answered. */
  readonly served: Set<string>
  /** Tells whoever listens to this sync. */
  readonly tell: Tell
  /** Ends everything. */
  readonly signal: AbortSignal
}
