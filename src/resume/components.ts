import type { Archive } from '../archive/archive.ts'
import type { StoreCriteria } from '../store/criteria.ts'
import type { FollowOptions, LookupOptions, WalkOptions } from '../store/options.ts'
import type { MessagePage, StoredMessage } from '../store/page.ts'
import type { SourcesPage } from '../store/roster.ts'

/** A page of one node, or of several. */
export type ResumePage = MessagePage & Partial<Pick<SourcesPage, 'sources'>>

/** What resume needs of a store client. {@link StoreClient} is one. */
export interface ResumeStore {
  /**
   * Pages of history, oldest first. It throws an {@link IncompleteHistoryError} where it cannot go on, and an
   * {@link InvalidArgumentError} that names `position` for one that is of other criteria.
   */
  queryPages(
    criteria: StoreCriteria,
    options: Pick<
      WalkOptions,
      'pageLimit' | 'position' | 'peerId' | 'signal' | 'onProgress' | 'walker'
    >
  ): AsyncIterable<ResumePage>
  /** A tail. It tells `store:caught-up` after the last message of a question was taken from it. */
  follow(
    criteria: Omit<StoreCriteria, 'timeEnd'>,
    options: Pick<FollowOptions, 'intervalMs' | 'signal' | 'onProgress' | 'walker'>
  ): AsyncIterable<StoredMessage>
  /** Messages by hash. */
  lookup(
    hashes: readonly Uint8Array[],
    options: Pick<LookupOptions, 'peerId' | 'signal' | 'onProgress'>
  ): AsyncIterable<StoredMessage>
  /**
   * The hashes of all messages that match, without their content; it throws {@link UnsupportedError} where the node cannot do
   * that. Left out: what may have healed is walked through in full.
   */
  queryHashes?(
    criteria: StoreCriteria,
    options: Pick<WalkOptions, 'peerId' | 'signal' | 'onProgress'>
  ): AsyncIterable<{ readonly messageHash: Uint8Array }>
}

/** What resume needs of an archive. */
export type ResumeArchive = Pick<Archive, 'putMany' | 'has' | 'getMark' | 'walkKeys'>

/** What resume needs of a light node. {@link LightNode} is one. */
export interface ResumeNode {
  readonly servicePeers: {
    /** The nodes that may be asked. */
    candidates(): readonly { readonly peerId: string }[]
  }
  /** Peer ids of those that are connected now. */
  readonly connectedPeers?: readonly string[]
  /** Tells when a node is connected or lost; returns a function that ends this. */
  onConnectionChange?(
    listener: (change: { readonly peerId: string; readonly connected: boolean }) => void
  ): () => void
}

/** What resume is built over. */
export interface ResumeComponents {
  readonly archive: ResumeArchive
  readonly store: ResumeStore
  /** Left out: the store client chooses the nodes, and an outage is noticed by what fails only. */
  readonly node?: ResumeNode
}
