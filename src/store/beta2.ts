/**
 * `waku-light/store/beta2`: the oldest store generation with pagination, for {@link StoreClientInit.generations}.
 *
 * @packageDocumentation
 */
import { ProtocolViolationError } from '../errors.ts'
import {
  decodeHistoryResponseBeta2,
  encodeHistoryQueryBeta2,
  STORE_BETA2_PROTOCOL
} from '../wire/store-beta2.ts'
import type { StoreGeneration } from './generation.ts'
import { isSame, legacyDigest } from './legacy.ts'

/**
 * Store 2.0.0-beta2. It filters by content topic only: times are filtered here, and a pubsub topic is
 * taken on trust. It has no errors: a walk
 * ends on an empty page, and that end cannot be told from a failure. Its order, (received time, digest), is the node's own,
 * since the received time does not travel with a message.
 *
 * @see 13/WAKU2-STORE, version of November 2020
 *
 * @example
 * ```ts
 * const store = new StoreClient(node, { generations: [STORE_BETA2] })
 * ```
 */
export const STORE_BETA2: StoreGeneration = {
  protocol: STORE_BETA2_PROTOCOL,
  looksUpHashes: false,
  filtersByTime: false,
  strictOrder: false,
  encode: (query, requestId) =>
    encodeHistoryQueryBeta2({
      requestId,
      topics: query.contentTopics,
      pageSize: BigInt(query.limit),
      cursor: query.cursor,
      forward: query.forward
    }),
  decode(bytes, { query, requestId, peerId }) {
    const response = decodeHistoryResponseBeta2(bytes, query.limit)
    const { messages, pagingInfo } = response
    if (response.requestId !== requestId) {
      throw new ProtocolViolationError('request-id', 'the answer is to another request', peerId)
    }
    const entries = messages.map((message) => ({ message }))
    if (messages.length === 0) {
      return { entries, completeness: 'unverifiable' }
    }
    const cursor = pagingInfo?.cursor
    if (cursor === undefined || isSame(cursor, query.cursor)) {
      throw new ProtocolViolationError(
        'cursor',
        `the cursor ${cursor ? 'does not move' : 'is missing'}`,
        peerId
      )
    }
    return { entries, cursor, completeness: 'more' }
  },
  orderKey: (message) => ({ time: message.timestamp ?? 0n, tie: legacyDigest(message) })
}
