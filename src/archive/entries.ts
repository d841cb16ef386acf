import { InvalidArgumentError } from '../errors.ts'
import { compareBytes } from '../lib/bytes.ts'
import { definedOnly } from '../lib/defined.ts'
import { toNanoseconds } from '../lib/time.ts'
import { MESSAGE_HASH_BYTES } from '../message/message-hash.ts'
import type { StoredMessage } from '../store/page.ts'
import type { ArchiveKey, ArchivePosition, PutOptions } from './archive.ts'

/** Checked input of a put; the entries are copies, at the same indices as the messages. */
export interface PutInput {
  readonly messages: readonly StoredMessage[]
  readonly entries: readonly StoredMessage[]
  readonly marks: readonly [string, unknown][]
}

/**
 * Checks and copies what is to be stored.
 *
 * @throws {@link InvalidArgumentError} naming what is wrong
 */
export function toPutInput(given: readonly StoredMessage[], { marks = {} }: PutOptions): PutInput {
  if (!Array.isArray(given)) {
    throw new InvalidArgumentError('messages', 'must be an array')
  }
  const messages = (given as readonly StoredMessage[]).filter((message) => !message?.ephemeral)
  return { messages, entries: messages.map(toEntry), marks: copyMarks(marks) }
}

/** Negative, zero or positive as `a` comes before, with, or after `b`. */
export function compareOrder(a: ArchivePosition, b: ArchivePosition): number {
  const [first, second] = [timeOf(a), timeOf(b)]
  return first === second ? compareBytes(a.messageHash, b.messageHash) : first < second ? -1 : 1
}

/** The time that a message is sorted by. */
export function timeOf({ timestamp = 0n }: ArchivePosition): bigint {
  return timestamp
}

/** The same walk without content. */
export async function* toArchiveKeys(
  messages: AsyncIterable<StoredMessage>
): AsyncGenerator<ArchiveKey> {
  for await (const { timestamp = 0n, messageHash, pubsubTopic, contentTopic } of messages) {
    yield { timestamp, messageHash, pubsubTopic, contentTopic }
  }
}

/**
 * Checks and copies hashes.
 *
 * @throws {@link InvalidArgumentError} if one does not have 32 bytes
 */
export function toHashes(hashes: readonly Uint8Array[]): Uint8Array<ArrayBuffer>[] {
  if (!Array.isArray(hashes)) {
    throw new InvalidArgumentError('hashes', 'must be an array')
  }
  return (hashes as readonly Uint8Array[]).map((hash) => toHash(hash, 'hashes'))
}

/** One hash, as {@link toHashes} does it. */
export function toHash(hash: Uint8Array, parameter: string): Uint8Array<ArrayBuffer> {
  if (!(hash instanceof Uint8Array && hash.length === MESSAGE_HASH_BYTES)) {
    throw new InvalidArgumentError(parameter, `must be of ${MESSAGE_HASH_BYTES} bytes`)
  }
  return hash.slice()
}

/**
 * The known fields, with bytes of its own: a view into a frame would keep the whole frame, in memory as in a database.
 */
function toEntry(message: StoredMessage): StoredMessage {
  const { messageHash, pubsubTopic, payload, contentTopic, meta, rateLimitProof } = message ?? {}
  const { version, timestamp } = message ?? {}
  if (typeof contentTopic !== 'string' || typeof pubsubTopic !== 'string') {
    throw new InvalidArgumentError('message', 'must have a content topic and a pubsub topic')
  }
  if (timestamp !== undefined) {
    toNanoseconds(timestamp, 'message.timestamp')
  }
  return definedOnly({
    messageHash: toHash(messageHash, 'message.messageHash'),
    pubsubTopic,
    contentTopic,
    payload: copyBytes(payload, 'payload'),
    timestamp,
    version,
    meta: meta === undefined ? undefined : copyBytes(meta, 'meta'),
    rateLimitProof:
      rateLimitProof === undefined ? undefined : copyBytes(rateLimitProof, 'rateLimitProof')
  })
}

function copyBytes(bytes: Uint8Array<ArrayBuffer>, field: string): Uint8Array<ArrayBuffer> {
  if (!(bytes instanceof Uint8Array)) {
    throw new InvalidArgumentError(`message.${field}`, 'must be a Uint8Array')
  }
  return bytes.slice()
}

function copyMarks(marks: Readonly<Record<string, unknown>>): [string, unknown][] {
  try {
    return Object.entries(structuredClone(marks))
  } catch {
    throw new InvalidArgumentError('marks', 'must hold what structured cloning takes')
  }
}
