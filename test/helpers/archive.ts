import { sha256 } from '@noble/hashes/sha2.js'
import { messageHash, toHex, type WakuMessage } from 'waku-light/message'
import {
  decodeHistoryIndex,
  decodeHistoryIndexBeta2,
  decodeHistoryQuery,
  decodeHistoryQueryBeta2,
  decodeStoreQueryRequest,
  encodeHistoryIndex,
  encodeHistoryIndexBeta2,
  encodeHistoryResponse,
  encodeHistoryResponseBeta2,
  encodeStoreQueryResponse,
  encodeWakuMessage,
  encodeWakuMessageKeyValue,
  STORE_BETA2_PROTOCOL,
  STORE_BETA4_PROTOCOL,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'

/** All protocols that {@link Archive} answers. */
export const STORE_PROTOCOLS = [STORE_QUERY_3_PROTOCOL, STORE_BETA4_PROTOCOL, STORE_BETA2_PROTOCOL]

/** The text with which the reference node refuses a cursor that it does not know. */
const UNKNOWN_CURSOR = 'BAD_RESPONSE: archive error: DRIVER_ERROR: cursor not found'

/** A message in an archive, with what the orders of the generations go by. */
export interface Stored {
  readonly message: WakuMessage
  readonly pubsubTopic: string
  /** Hexadecimal, as all keys here: their order as text is that of their bytes. */
  readonly hash: string
  readonly digest: string
  /** The message's own time, or that of arrival if it has none. */
  readonly storedTime: bigint
  /** Seconds, as a 32-bit float. */
  readonly receivedTime: number
}

/** How an {@link Archive} behaves. */
export interface ArchiveInit {
  /** @default 100 */
  readonly maxPage?: number
  /** beta4: how the last page is told: `absent` paging info, or the `cursor` of its last message (nwaku up to 0.11). */
  readonly lastPage?: 'absent' | 'cursor'
  /** True: `timeEnd` is exclusive, as specified, not inclusive, as at the reference nodes. */
  readonly isEndExclusive?: boolean
}

interface Filter {
  readonly pubsubTopic?: string
  readonly contentTopics: readonly string[]
  readonly from?: bigint
  readonly to?: bigint
}

interface Page {
  /** Oldest first. */
  readonly rows: readonly Stored[]
  /** Last in the direction of walking. */
  readonly final: Stored | undefined
  readonly more: boolean
}

type Order = (a: Stored, b: Stored) => number

const toKey = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byTime = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** The order of store-query 3. */
export const inHashOrder: Order = (a, b) =>
  byTime(a.message.timestamp ?? 0n, b.message.timestamp ?? 0n) || byText(a.hash, b.hash)
/** The order of beta4. */
export const inDigestOrder: Order = (a, b) =>
  byTime(a.storedTime, b.storedTime) || byText(a.digest, b.digest)
/** The order of beta2. */
export const inReceivedOrder: Order = (a, b) =>
  a.receivedTime - b.receivedTime || byText(a.digest, b.digest)

/** A small archive in memory that answers store queries of three generations as the reference nodes do. */
export class Archive {
  readonly rows: Stored[] = []
  maxPage: number
  /** True: no cursor of store-query is known, as after the node lost its history and got it back. */
  forgetsCursors = false
  readonly #lastPage: 'absent' | 'cursor'
  readonly #isEndExclusive: boolean

  constructor(init: ArchiveInit = {}) {
    this.maxPage = init.maxPage ?? 100
    this.#lastPage = init.lastPage ?? 'absent'
    this.#isEndExclusive = init.isEndExclusive ?? false
  }

  /** Stores a message once. */
  add(message: WakuMessage, pubsubTopic: string, arrivedAt = 0n): Stored {
    const hash = toHex(messageHash(pubsubTopic, message))
    const storedTime = message.timestamp ? message.timestamp : arrivedAt
    const digest = sha256
      .create()
      .update(new TextEncoder().encode(message.contentTopic))
      .update(message.payload)
      .digest()
    const stored: Stored = {
      message,
      pubsubTopic,
      hash,
      digest: toHex(digest),
      storedTime,
      receivedTime: Math.fround(Number(storedTime) / 1e9)
    }
    if (!this.rows.some((row) => row.hash === hash)) {
      this.rows.push(stored)
    }
    return stored
  }

  answer(protocol: string, bytes: Uint8Array): Uint8Array {
    switch (protocol) {
      case STORE_QUERY_3_PROTOCOL:
        return this.#answerQuery3(bytes)
      case STORE_BETA4_PROTOCOL:
        return this.#answerBeta4(bytes)
      default:
        return this.#answerBeta2(bytes)
    }
  }

  #answerQuery3(bytes: Uint8Array): Uint8Array {
    const query = decodeStoreQueryRequest(bytes, 1000)
    const { requestId, paginationCursor, paginationForward: forward, messageHashes } = query
    const at =
      paginationCursor === undefined
        ? undefined
        : this.rows.find(({ hash }) => hash === toHex(paginationCursor))
    if (paginationCursor !== undefined && (this.forgetsCursors || at === undefined)) {
      return encodeStoreQueryResponse({
        requestId: '',
        statusCode: 300,
        statusDesc: UNKNOWN_CURSOR,
        messages: []
      })
    }
    const asked = new Set(messageHashes.map(toHex))
    const matching = this.#matching({ ...query, from: query.timeStart, to: query.timeEnd }).filter(
      ({ hash }) => asked.size === 0 || asked.has(hash)
    )
    const { rows, final, more } = this.#page(matching, inHashOrder, {
      forward,
      limit: query.paginationLimit,
      isBeyond: (row) => at === undefined || inHashOrder(row, at) * (forward ? 1 : -1) > 0
    })
    return encodeStoreQueryResponse({
      requestId,
      statusCode: 200,
      statusDesc: 'OK',
      messages: rows.map(({ hash, message, pubsubTopic }) =>
        encodeWakuMessageKeyValue({
          messageHash: toKey(hash),
          ...(query.includeData ? { message: encodeWakuMessage(message), pubsubTopic } : undefined)
        })
      ),
      paginationCursor: more && final ? toKey(final.hash) : undefined
    })
  }

  #answerBeta4(bytes: Uint8Array): Uint8Array {
    const query = decodeHistoryQuery(bytes)
    const { requestId, cursor, forward } = query
    const index = cursor && decodeHistoryIndex(cursor)
    const at = index && { storedTime: index.receiverTime, digest: toHex(index.digest) }
    const matching = this.#matching({ ...query, from: query.startTime, to: query.endTime }, true)
    const { rows, final, more } = this.#page(matching, inDigestOrder, {
      forward,
      limit: query.pageSize,
      isBeyond: (row) =>
        at === undefined || inDigestOrder(row, { ...row, ...at }) * (forward ? 1 : -1) > 0
    })
    const next =
      final &&
      encodeHistoryIndex({
        digest: toKey(final.digest),
        receiverTime: final.storedTime,
        senderTime: final.message.timestamp ?? 0n,
        pubsubTopic: final.pubsubTopic
      })
    return encodeHistoryResponse({
      requestId,
      messages: rows.map(({ message }) => encodeWakuMessage(message)),
      cursor: more ? next : this.#lastPage === 'absent' ? undefined : (next ?? cursor),
      error: 0
    })
  }

  #answerBeta2(bytes: Uint8Array): Uint8Array {
    const { requestId, topics, pageSize, cursor, forward } = decodeHistoryQueryBeta2(bytes)
    const index = cursor && decodeHistoryIndexBeta2(cursor)
    const at = index && { receivedTime: index.receivedTime, digest: toHex(index.digest) }
    const { rows, final } = this.#page(this.#matching({ contentTopics: topics }), inReceivedOrder, {
      forward,
      limit: pageSize,
      isBeyond: (row) =>
        at === undefined || inReceivedOrder(row, { ...row, ...at }) * (forward ? 1 : -1) > 0
    })
    return encodeHistoryResponseBeta2({
      requestId,
      messages: rows.map(({ message }) => encodeWakuMessage(message)),
      pagingInfo: {
        pageSize: BigInt(rows.length),
        forward,
        cursor: final
          ? encodeHistoryIndexBeta2({
              digest: toKey(final.digest),
              receivedTime: final.receivedTime
            })
          : cursor
      }
    })
  }

  /** Both bounds of time are inclusive at the reference nodes. */
  #matching({ pubsubTopic, contentTopics, from, to }: Filter, stored = false): Stored[] {
    return this.rows.filter((row) => {
      const time = stored ? row.storedTime : (row.message.timestamp ?? 0n)
      return (
        (pubsubTopic === undefined || row.pubsubTopic === pubsubTopic) &&
        (contentTopics.length === 0 || contentTopics.includes(row.message.contentTopic)) &&
        (from ?? time) <= time &&
        (to ?? time) >= time &&
        (stored || !this.#isEndExclusive || to === undefined || time < to)
      )
    })
  }

  #page(
    matching: Stored[],
    order: Order,
    walk: {
      readonly forward: boolean
      readonly limit: bigint | undefined
      readonly isBeyond: (row: Stored) => boolean
    }
  ): Page {
    const sign = walk.forward ? 1 : -1
    const ahead = matching.filter(walk.isBeyond).sort((a, b) => order(a, b) * sign)
    const rows = ahead.slice(0, Math.min(Number(walk.limit || 20n), this.maxPage))
    const final = rows.at(-1)
    return {
      rows: walk.forward ? rows : rows.reverse(),
      final,
      more: ahead.length > rows.length
    }
  }
}
