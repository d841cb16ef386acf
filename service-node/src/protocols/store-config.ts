import type { PageReader } from '../archive/page-reader.ts'
import type { RateLimits } from '../rate-limiter.ts'

/** What all generations of store work with. */
export interface StoreConfig {
  readonly pages: PageReader
  /** Page size where none is asked for. */
  readonly defaultPageLimit: number
  /** Larger page sizes are cut to it. */
  readonly maxPageLimit: number
  /** A page ends before it gets larger, messages only. */
  readonly maxPageBytes: number
  readonly rateLimits?: RateLimits
}

/** Largest store request: ten content topics or some hundred hashes. */
export const MAX_STORE_REQUEST_BYTES = 64 * 1024

/** Largest number of content topics in a query, as the reference nodes have it. */
export const MAX_CONTENT_TOPICS = 10

/** The page size to use: the node's own where none is asked for, or too large a one. */
export function pageLimit(asked: bigint, { defaultPageLimit, maxPageLimit }: StoreConfig): number {
  if (asked <= 0n) {
    return Math.min(defaultPageLimit, maxPageLimit)
  }
  return asked > BigInt(maxPageLimit) ? maxPageLimit : Number(asked)
}
