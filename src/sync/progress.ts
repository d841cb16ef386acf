import type { ProgressEvent } from '../options.ts'
import type { SyncWindow } from './window.ts'

/** Which side opened a session. */
export type SyncRole = 'initiator' | 'responder'

/** What became of a session. */
export interface SyncResult {
  readonly peerId: string
  readonly role: SyncRole
  readonly window: SyncWindow
  /**
   * `in-sync`: no difference was found. `reconciled`: all differences were found and moved. `partial`: some were not moved,
   * `missing` and `unsent` say how many, or the session ended early, by the peer or since it found as many differences as it
   * takes messages; the next session goes on from there.
   * `mismatch`: the sides have no topics in common, and nothing was compared.
   */
  readonly outcome: 'in-sync' | 'reconciled' | 'partial' | 'mismatch'
  /** Payloads that came from the peer. */
  readonly rounds: number
  /** Bytes of reconciliation, without the messages. */
  readonly sentBytes: number
  readonly receivedBytes: number
  /** Messages that are new in our archive, by transfer or from a store. */
  readonly received: number
  /** Messages that were transferred to the peer. It does not say whether it keeps them. */
  readonly sent: number
  /** Messages that the peer says it has and that could not be had. */
  readonly missing: number
  /** Messages that the peer lacks and that could not be transferred: too large, gone, or it takes none. */
  readonly unsent: number
}

/** What happens in sessions. */
export type SyncProgress =
  | ProgressEvent<
      'sync:start',
      { readonly peerId: string; readonly role: SyncRole; readonly window: SyncWindow }
    >
  | ProgressEvent<'sync:round', { readonly peerId: string; readonly rounds: number }>
  | ProgressEvent<
      'sync:received',
      { readonly peerId: string; readonly count: number; readonly by: 'transfer' | 'store' }
    >
  | ProgressEvent<'sync:rejected', { readonly peerId: string; readonly reason: SyncRejection }>
  | ProgressEvent<'sync:end', SyncResult>
  | ProgressEvent<'sync:failed', { readonly peerId?: string; readonly error: unknown }>

/** Why a transferred message was dropped. */
export type SyncRejection =
  /** Its bytes do not decode, or it is one that no archive takes. */
  | 'invalid'
  /** The session is not about its topic or its time. */
  | 'outside'
  /** The session found no such difference: nobody asked for it, or its content does not have the hash. */
  | 'unexpected'

/** Told what happens. */
export type Tell = (event: SyncProgress) => void
