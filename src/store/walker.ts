import type { ServicePeers } from '../transport/service-peers.ts'
import type { Criteria } from './criteria.ts'
import type { StoreGeneration } from './generation.ts'
import type { MessagePage, StoreProgress } from './page.ts'
import type { WalkPosition } from './position.ts'

/** Everything that a walk depends on. */
export interface WalkInit {
  readonly servicePeers: ServicePeers
  readonly generations: readonly StoreGeneration[]
  readonly criteria: Criteria
  readonly forward: boolean
  readonly pageLimit: number
  /** False: hashes only; messages then hold their hash and nothing else. */
  readonly includeData: boolean
  /** From where to go on; with the digest of the criteria where it is the beginning. */
  readonly position: WalkPosition
  /** The only node to ask. */
  readonly peerId?: string
  readonly requestTimeoutMs: number
  /** Waits for a number of milliseconds, or rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** For each page, whatever it takes. */
  readonly pageTimeoutMs: number
  readonly signal?: AbortSignal
  readonly onProgress?: (event: StoreProgress) => void
}

/**
 * A way to walk through history, for the option `walker` of {@link StoreClient}'s calls. Each keeps the rules: every match
 * once, in the documented order, or an error with the position from which to go on. What is not imported is not in the
 * bundle.
 */
export interface Walker<Page extends MessagePage = MessagePage> {
  /**
   * Checks at once, walks when it is pulled.
   *
   * @internal
   */
  readonly begin: (init: WalkInit) => AsyncGenerator<Page>
}
