import { compareBytes } from '../lib/bytes.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { StoredMessage } from '../store/page.ts'
import { encodeWakuMessage } from '../wire/message.ts'
import {
  decodeStoreQueryRequest,
  encodeStoreQueryResponse,
  encodeWakuMessageKeyValue
} from '../wire/store-query-3.ts'
import { compareSyncIds, type SyncId } from '../wire/sync-payload.ts'
import type { SyncArchive } from './components.ts'
import type { SyncContext } from './context.ts'
import type { Frames } from './frames.ts'

/** Largest request: a hundred hashes and some more. */
export const MAX_LOOKUP_BYTES = 16 * 1024

const MAX_HASHES = 256
const MAX_PAGE_MESSAGES = 100
/** Length-prefixed decoders of other clients stop at 4 MiB. */
const MAX_PAGE_BYTES = 4_000_000

/**
 * Looks up messages for a peer with a session.
 *
 * @throws as {@link answerLookup}, {@link TimeoutError}, what the stream throws, or the signal's own reason
 */
export async function serveLookup(
  { settings, intakes, signal }: SyncContext,
  frames: Frames,
  peerId: string
): Promise<void> {
  const { replyTimeoutMs, archive } = settings
  await withDeadline('look-up', { signal }, replyTimeoutMs, async (within) => {
    const request = await frames.read(within)
    const isKnown = intakes.of(peerId).length > 0
    if (request !== undefined) {
      await frames.write(await answerLookup(request, isKnown ? archive : undefined), within)
    }
    await frames.close(within)
  })
}

/**
 * Answers a store query for messages by their hashes, and refuses every other.
 *
 * @param archive - where they are; undefined for a peer that may not ask
 * @throws {@link InvalidMessageError} or {@link LimitExceededError} if the request does not decode, what the archive throws
 * @see 13/WAKU2-STORE
 */
export async function answerLookup(
  bytes: Uint8Array,
  archive: Pick<SyncArchive, 'get'> | undefined
): Promise<Uint8Array> {
  const request = decodeStoreQueryRequest(bytes, MAX_HASHES)
  const { requestId, messageHashes, includeData, paginationCursor: cursor } = request
  const answer = (
    statusCode: number,
    statusDesc: string,
    messages: readonly Uint8Array<ArrayBuffer>[] = [],
    paginationCursor?: Uint8Array<ArrayBuffer>
  ): Uint8Array =>
    encodeStoreQueryResponse({ requestId, statusCode, statusDesc, messages, paginationCursor })
  if (archive === undefined) {
    return answer(503, 'SERVICE_UNAVAILABLE: no sync session')
  }
  if (messageHashes.length === 0 || messageHashes.some(({ length }) => length !== 32)) {
    return answer(400, 'BAD_REQUEST: look-ups by message hash only')
  }
  const found = (await archive.get(messageHashes)).filter((message) => message !== undefined)
  const rows = found.sort((a, b) => compareSyncIds(toSyncId(a), toSyncId(b)))
  if (!request.paginationForward) {
    rows.reverse()
  }
  // a page goes on after the cursor, wherever that is in the order
  const isCursor = ({ messageHash }: StoredMessage): boolean =>
    cursor !== undefined && compareBytes(messageHash, cursor) === 0
  const first = rows.findIndex(isCursor) + 1
  if (cursor !== undefined && first === 0) {
    return answer(400, 'BAD_REQUEST: unknown cursor')
  }
  const limit = Math.min(Number(request.paginationLimit ?? 0n) || 20, MAX_PAGE_MESSAGES)
  const page: Uint8Array<ArrayBuffer>[] = []
  let last: StoredMessage | undefined
  let sizeBytes = 0
  for (const row of rows.slice(first, first + limit)) {
    const { messageHash, pubsubTopic } = row
    const data = includeData ? { message: encodeWakuMessage(row), pubsubTopic } : {}
    const entry = encodeWakuMessageKeyValue({ messageHash, ...data })
    sizeBytes += entry.length
    if (sizeBytes > MAX_PAGE_BYTES && page.length > 0) {
      break
    }
    page.push(entry)
    last = row
  }
  const next = last === rows.at(-1) ? undefined : last?.messageHash
  return answer(200, 'OK', request.paginationForward ? page : page.reverse(), next)
}

function toSyncId({ timestamp = 0n, messageHash: hash }: StoredMessage): SyncId {
  return { timestamp, hash }
}
