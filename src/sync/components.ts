import type { ArchiveKey } from '../archive/archive.ts'
import type { LookupOptions } from '../store/options.ts'
import type { StoredMessage } from '../store/page.ts'
import type { ServicePeers, StreamHost } from '../transport/service-peers.ts'

/** What sync needs of a node. A light node is one. */
export interface SyncNode {
  /** Streams to peers that are connected, and handlers for theirs; any libp2p will do. */
  readonly streamHost: StreamHost
  /**
   * Whom to ask; one that is not connected is dialed. Left out: the peers that are connected and say that they speak the
   * protocol.
   */
  readonly servicePeers?: Pick<ServicePeers, 'candidates' | 'network' | 'request'>
  /** Tells which peers come and go. Left out: there is no sync at once after reconnecting. */
  onConnectionChange?(
    listener: (change: { readonly peerId: string; readonly connected: boolean }) => void
  ): () => void
}

/** What sync needs of a store client. {@link StoreClient} is one. */
export interface SyncStore {
  /** Messages by their hashes, each with its hash recomputed, from one node. */
  lookup(
    hashes: readonly Uint8Array[],
    options: Pick<LookupOptions, 'peerId' | 'signal'>
  ): AsyncIterable<StoredMessage>
}

/** What sync is built over. */
export interface SyncComponents {
  readonly node: SyncNode
  /** Left out: what a peer has is taken by transfer alone. */
  readonly store?: SyncStore
}

/** What sync has to know of a message in an archive. */
export type SyncKey = Pick<ArchiveKey, 'messageHash' | 'pubsubTopic' | 'contentTopic'> & {
  readonly timestamp?: bigint
}

/** What sync needs of an archive. Every archive of `waku-light/archive` is one. */
export interface SyncArchive {
  /** Adds messages; those that are there already are left out. Resolves with the new ones. */
  putMany(messages: readonly StoredMessage[]): Promise<readonly StoredMessage[]>
  /** The messages with these hashes, in their order. */
  get(hashes: readonly Uint8Array[]): Promise<readonly (StoredMessage | undefined)[]>
  /** What lies in a range of time, without content. */
  walkKeys(
    criteria: { readonly timeStart: bigint; readonly timeEnd?: bigint },
    options: { readonly signal?: AbortSignal }
  ): AsyncIterable<SyncKey>
  /** Tells additions, until the returned function is called. */
  subscribe(listener: (messages: readonly SyncKey[]) => void): () => void
}
