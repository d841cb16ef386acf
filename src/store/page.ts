import type { WakuMessage } from '../message/message.ts'
import type { ProgressEvent } from '../options.ts'
import type { Completeness, OrderKey } from './generation.ts'
import type { SourcePosition } from './position.ts'

/** A message from a store node's archive, its hash recomputed here. */
export interface StoredMessage extends WakuMessage {
  /** 32 bytes. */
  readonly messageHash: Uint8Array<ArrayBuffer>
  readonly pubsubTopic: string
}

/** Why an entry of a page is not delivered. */
export type RejectionReason =
  /** Its bytes do not decode. */
  | 'undecodable'
  /** Its content does not have the hash that the node states. */
  | 'hash-mismatch'
  /** It was not asked for. */
  | 'foreign'
  /** It was delivered before. */
  | 'duplicate'

/** An entry that is not delivered; the walk goes on after it. */
export interface RejectedEntry {
  readonly reason: RejectionReason
  /** As the node states it; undefined if it does not. */
  readonly messageHash?: Uint8Array<ArrayBuffer>
  /** What was wrong with it, in words. */
  readonly detail: string
}

/** A page of history. */
export interface MessagePage {
  /** Oldest first, in both directions. */
  readonly messages: readonly StoredMessage[]
  readonly rejected: readonly RejectedEntry[]
  /**
   * Go on after this page, be it the last one: pass it as `position` with the same criteria. Plain text; it may be stored.
   */
  readonly position: string
  /** `more` on every page but the last. */
  readonly completeness: Completeness
  /** The node that answered. */
  readonly peerId: string
  /** The protocol it spoke. */
  readonly protocol: string
}

/** What happens in a walk. */
export type StoreProgress =
  | ProgressEvent<
      'store:page',
      {
        readonly peerId: string
        readonly protocol: string
        readonly count: number
        readonly bytes: number
      }
    >
  | ProgressEvent<'store:rejected', RejectedEntry & { readonly peerId: string }>
  /** All nodes that could go on have too many requests: they are left alone for a while. */
  | ProgressEvent<'store:pause', { readonly pauseMs: number }>
  | ProgressEvent<'store:peer-failed', { readonly peerId: string; readonly error: Error }>

/** A verified message and its place in the order. */
export interface Row extends OrderKey {
  /** Where hashes only were asked for: its hash, and nothing else. */
  readonly message: StoredMessage
}

/** One page of one request after verification, without what was delivered before. */
export interface SourcePage {
  /** In the order of walking. */
  readonly rows: readonly Row[]
  readonly rejected: readonly RejectedEntry[]
  readonly completeness: Completeness
  /** From where it can be had again. */
  readonly start: SourcePosition
  /** From where to go on after it. */
  readonly end: SourcePosition
}
