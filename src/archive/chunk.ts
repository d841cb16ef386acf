import type { StoredMessage } from '../store/page.ts'
import type { ArchivePosition } from './archive.ts'
import { compareOrder, timeOf } from './entries.ts'
import { invertKey, toKey } from './keys.ts'

/** Messages in one record: a write costs by the record, ten times more than by the byte. */
const CHUNK_MESSAGES = 20
/** A chunk is full at this size of its payloads, so that a batch of chunks has a bound. */
const CHUNK_BYTES = 65_536
/** No chunk covers more time than this: who looks for a time has to look as far back for the beginning of a chunk. */
export const CHUNK_SPAN = 300_000_000_000n

/** A record: some messages in order. Chunks may overlap, but no message is in two of them. */
export interface Chunk {
  /** Key of the first message. */
  readonly start: Uint8Array<ArrayBuffer>
  /** Inverted key of the last message. */
  readonly end: Uint8Array<ArrayBuffer>
  /** Of each message. */
  readonly hashes: readonly Uint8Array<ArrayBuffer>[]
  /** At the same indices. */
  readonly contents: readonly Omit<StoredMessage, 'messageHash'>[]
}

/** Puts messages into chunks. */
export function toChunks(messages: readonly StoredMessage[]): Chunk[] {
  const chunks: StoredMessage[][] = []
  let current: StoredMessage[] = []
  let bytes = CHUNK_BYTES
  for (const message of messages.toSorted(compareOrder)) {
    const [first = message] = current
    if (
      bytes >= CHUNK_BYTES ||
      current.length === CHUNK_MESSAGES ||
      timeOf(message) - timeOf(first) > CHUNK_SPAN
    ) {
      current = []
      bytes = 0
      chunks.push(current)
    }
    current.push(message)
    bytes += message.payload.length
  }
  return chunks.map(toChunk)
}

/** The messages of a chunk, in order. */
export function fromChunk({ hashes, contents }: Chunk): StoredMessage[] {
  return contents.map((content, index) => ({
    ...content,
    messageHash: hashes[index] as Uint8Array<ArrayBuffer>
  }))
}

function toChunk(messages: readonly StoredMessage[]): Chunk {
  return {
    start: toKey(messages[0] as ArchivePosition),
    end: invertKey(toKey(messages.at(-1) as ArchivePosition)),
    hashes: messages.map(({ messageHash }) => messageHash),
    contents: messages.map(({ messageHash: _, ...content }) => content)
  }
}
