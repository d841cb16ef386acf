import {
  decodeHistoryResponse,
  decodeHistoryResponseBeta2,
  decodeStoreQueryResponse,
  decodeWakuMessageKeyValue,
  encodeHistoryResponse,
  encodeHistoryResponseBeta2,
  encodeStoreQueryResponse,
  encodeWakuMessageKeyValue,
  STORE_BETA4_PROTOCOL,
  STORE_QUERY_3_PROTOCOL
} from 'waku-light/wire'
import { CORPUS } from './corpus.ts'
import { mutate } from './mutate.ts'
import type { Random } from './random.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** An answer of an archive that is well-formed and not true, most of the time. */
export function lie(
  random: Random,
  protocol: string,
  honest: Uint8Array,
  previous: readonly Uint8Array[]
): Uint8Array {
  const replay = previous.length > 0 ? random.pick(previous) : honest
  if (random.chance(0.1)) {
    return replay
  }
  if (random.chance(0.3)) {
    return honest
  }
  const { decode, encode } = codecOf(protocol)
  const page = decode(honest)
  const other = decode(replay)
  const { cursor: _, ...last } = page
  return encode(
    random.pick([
      { ...page, requestId: random.pick(['', 'N/A', other.requestId]) },
      { ...page, cursor: other.cursor },
      { ...page, cursor: random.bytes(random.pick([0, 1, 31, 32, 33])) },
      { ...page, cursor: page.cursor && mutate(random, page.cursor, random.pick(CORPUS)) },
      last,
      { ...page, messages: [] },
      { ...page, messages: [...page.messages].reverse() },
      { ...page, messages: [...page.messages, ...other.messages] },
      { ...page, messages: [...page.messages, ...page.messages] },
      { ...page, messages: page.messages.slice(random.int(3)) },
      { ...page, messages: page.messages.map((entry) => change(random, protocol, entry)) },
      { ...page, isRefused: true }
    ])
  )
}

/** What the answers of all generations have in common. */
interface Page {
  readonly requestId: string
  readonly messages: readonly Bytes[]
  readonly cursor?: Bytes
  readonly isRefused?: boolean
}

interface PageCodec {
  readonly decode: (bytes: Uint8Array) => Page
  readonly encode: (page: Page) => Uint8Array
}

function codecOf(protocol: string): PageCodec {
  switch (protocol) {
    case STORE_QUERY_3_PROTOCOL:
      return {
        decode: (bytes) => {
          const { paginationCursor: cursor, ...page } = decodeStoreQueryResponse(bytes, 1000)
          return { ...page, cursor }
        },
        encode: ({ cursor: paginationCursor, isRefused, ...page }) =>
          encodeStoreQueryResponse({
            ...page,
            paginationCursor,
            statusCode: isRefused ? 300 : 200,
            statusDesc: 'as you like it'
          })
      }
    case STORE_BETA4_PROTOCOL:
      return {
        decode: (bytes) => decodeHistoryResponse(bytes, 1000),
        encode: ({ isRefused, ...page }) =>
          encodeHistoryResponse({ ...page, error: isRefused ? 429 : 0 })
      }
    default:
      return {
        decode: (bytes) => {
          const { pagingInfo, ...page } = decodeHistoryResponseBeta2(bytes, 1000)
          return { ...page, cursor: pagingInfo?.cursor }
        },
        encode: ({ cursor, requestId, messages }) =>
          encodeHistoryResponseBeta2({
            requestId,
            messages,
            pagingInfo: { pageSize: BigInt(messages.length), forward: true, cursor }
          })
      }
  }
}

/** Another hash for the message, or another message for the hash. */
function change(random: Random, protocol: string, entry: Bytes): Bytes {
  if (protocol !== STORE_QUERY_3_PROTOCOL || random.chance(0.3)) {
    return mutate(random, entry, random.pick(CORPUS))
  }
  const { message, ...rest } = decodeWakuMessageKeyValue(entry)
  return encodeWakuMessageKeyValue(
    random.chance(0.5)
      ? { ...rest, message, messageHash: random.bytes(random.pick([0, 31, 32, 33])) }
      : { ...rest, message: message && mutate(random, message, random.pick(CORPUS)) }
  )
}
