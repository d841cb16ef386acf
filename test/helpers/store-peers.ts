import { messageHash, type WakuMessage } from 'waku-light/message'
import {
  decodeHistoryQuery,
  decodeHistoryQueryBeta2,
  decodeStoreQueryRequest,
  encodeHistoryResponse,
  encodeHistoryResponseBeta2,
  encodeStoreQueryResponse,
  encodeWakuMessage,
  encodeWakuMessageKeyValue,
  type HistoryQuery,
  type HistoryQueryBeta2,
  type HistoryResponse,
  type HistoryResponseBeta2,
  STORE_BETA2_PROTOCOL,
  STORE_BETA4_PROTOCOL,
  STORE_QUERY_3_PROTOCOL,
  type StoreQueryRequest,
  type StoreQueryResponse,
  type WakuMessageKeyValue
} from 'waku-light/wire'
import { type Archive, STORE_PROTOCOLS } from './archive.ts'
import type { FakePeer } from './fake-peers.ts'

/** The content topic of {@link messageAt}, and the pubsub topic that it has in a network of eight shards. */
export const CONTENT_TOPIC = '/app/22/a/proto'
export const PUBSUB_TOPIC = '/waku/2/rs/1/2'

/** A peer that answers from an archive. */
export function archivePeer(
  archive: Archive,
  peerId = 'peer',
  protocols: readonly string[] = STORE_PROTOCOLS
): FakePeer {
  return { peerId, protocols, answer: ({ protocol, bytes }) => archive.answer(protocol, bytes) }
}

/** A peer that answers store-query 3 from a script: what a function makes of each query, completed to a good answer. */
export function query3Peer(
  answer: (query: StoreQueryRequest, index: number) => Partial<StoreQueryResponse> | Uint8Array,
  peerId = 'peer'
): FakePeer {
  let index = 0
  return {
    peerId,
    protocols: [STORE_QUERY_3_PROTOCOL],
    answer: ({ bytes }) => {
      const query = decodeStoreQueryRequest(bytes, 1000)
      const given = answer(query, index++)
      return given instanceof Uint8Array
        ? given
        : encodeStoreQueryResponse({
            requestId: query.requestId,
            statusCode: 200,
            messages: [],
            ...given
          })
    }
  }
}

/** As {@link query3Peer}, for beta4. */
export function beta4Peer(
  answer: (query: HistoryQuery, index: number) => Partial<HistoryResponse> | Uint8Array,
  peerId = 'peer'
): FakePeer {
  let index = 0
  return {
    peerId,
    protocols: [STORE_BETA4_PROTOCOL],
    answer: ({ bytes }) => {
      const query = decodeHistoryQuery(bytes)
      const given = answer(query, index++)
      return given instanceof Uint8Array
        ? given
        : encodeHistoryResponse({ requestId: query.requestId, messages: [], error: 0, ...given })
    }
  }
}

/** As {@link query3Peer}, for beta2. */
export function beta2Peer(
  answer: (query: HistoryQueryBeta2, index: number) => Partial<HistoryResponseBeta2>
): FakePeer {
  let index = 0
  return {
    peerId: 'peer',
    protocols: [STORE_BETA2_PROTOCOL],
    answer: ({ bytes }) => {
      const query = decodeHistoryQueryBeta2(bytes)
      const { requestId } = query
      return encodeHistoryResponseBeta2({ requestId, messages: [], ...answer(query, index++) })
    }
  }
}

/** An entry of a page of store-query 3. */
export function entryOf(
  message: WakuMessage,
  changes: Partial<WakuMessageKeyValue> = {}
): Uint8Array<ArrayBuffer> {
  return encodeWakuMessageKeyValue({
    messageHash: hashOf(message),
    message: encodeWakuMessage(message),
    pubsubTopic: PUBSUB_TOPIC,
    ...changes
  })
}

/** The hash of a message on {@link PUBSUB_TOPIC}. */
export function hashOf(message: WakuMessage): Uint8Array<ArrayBuffer> {
  return messageHash(PUBSUB_TOPIC, message)
}

/** A cursor of store-query 3. */
export function cursorOf(value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(32).fill(value)
}
