import type { WakuMessage } from '../message/message.ts'

/** What one page is asked for. */
export interface PageQuery {
  readonly pubsubTopic?: string
  readonly contentTopics: readonly string[]
  /** Nanoseconds, inclusive. */
  readonly timeStart?: bigint
  /** Nanoseconds, exclusive. */
  readonly timeEnd?: bigint
  readonly forward: boolean
  /** Largest number of messages in the page. */
  readonly limit: number
  /** As the node gave it. */
  readonly cursor?: Uint8Array<ArrayBuffer>
  /** False: hashes only. */
  readonly includeData: boolean
  /** 32 bytes each; not together with any filter. */
  readonly messageHashes: readonly Uint8Array<ArrayBuffer>[]
}

/** The protocol of each generation. */
export function protocolsOf(generations: readonly StoreGeneration[]): readonly string[] {
  return generations.map(({ protocol }) => protocol)
}

/** The generation of a protocol; undefined if it is not among these. */
export function generationOf(
  generations: readonly StoreGeneration[],
  protocol: string | undefined
): StoreGeneration | undefined {
  return generations.find((generation) => generation.protocol === protocol)
}

/** One entry of a page, its message not decoded yet. */
export interface RawEntry {
  /** 32 bytes; absent in generations that do not send it. */
  readonly messageHash?: Uint8Array<ArrayBuffer>
  readonly pubsubTopic?: string
  /** The encoded WakuMessage; absent where only hashes were asked for. */
  readonly message?: Uint8Array<ArrayBuffer>
  /** Why the entry itself does not decode. */
  readonly error?: Error
}

/** Whether more matches exist: the node says so, it says not, or it cannot tell an error from an end. */
export type Completeness = 'more' | 'complete' | 'unverifiable'

/** One page as a node answered it, oldest first. */
export interface RawPage {
  readonly entries: readonly RawEntry[]
  /** From where to go on; present exactly where `completeness` is `more`. */
  readonly cursor?: Uint8Array<ArrayBuffer>
  readonly completeness: Completeness
}

/** Where a message stands in the order of a generation: by time, then by bytes. */
export interface OrderKey {
  readonly time: bigint
  readonly tie: Uint8Array<ArrayBuffer>
}

/** What a request was, so that its answer can be read. */
export interface PageContext {
  readonly query: PageQuery
  readonly requestId: string
  readonly peerId: string
}

/** A generation of the store protocol, as a value. */
export interface StoreGeneration {
  /** Protocol id. */
  readonly protocol: string
  /** True: it answers look-ups by hash, and with hashes only. */
  readonly looksUpHashes: boolean
  /** True: it filters by time, so that a walk can go on by time where a cursor is of no use. */
  readonly filtersByTime: boolean
  /** True: its order is fully known here, so each page can be checked against it. */
  readonly strictOrder: boolean
  /** Encodes a request for one page. */
  encode(query: PageQuery, requestId: string): Uint8Array<ArrayBuffer>
  /**
   * Reads the answer.
   *
   * @throws {@link RemoteStatusError} for any status but success
   * @throws {@link InvalidMessageError}, {@link LimitExceededError} or {@link ProtocolViolationError} for a bad answer
   */
  decode(bytes: Uint8Array<ArrayBuffer>, context: PageContext): RawPage
  /** Where a message stands. */
  orderKey(message: WakuMessage, messageHash: Uint8Array<ArrayBuffer>): OrderKey
}
