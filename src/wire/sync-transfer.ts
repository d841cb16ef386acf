import { InvalidMessageError } from '../errors.ts'
import { encodeText } from '../lib/bytes.ts'
import type { WakuMessage } from '../message/message.ts'
import { decodeText, type Fields, readFields } from './fields.ts'
import { decodeWakuMessage, encodeWakuMessage } from './message.ts'
import { assertLimit } from './sync-bytes.ts'
import { writeFields } from './write-fields.ts'

/** Protocol id of Waku Sync's transfer: one frame a message, pushed by the side that has it. */
export const TRANSFER_PROTOCOL = '/vac/waku/transfer/1.0.0'

/** The largest frame that the reference node takes: it closes the stream on a larger one. */
export const MAX_TRANSFER_BYTES = 153_600

/** A message as it is transferred. Its hash is the receiver's to compute. */
export interface TransferredMessage {
  readonly pubsubTopic: string
  readonly message: WakuMessage
}

/** Both as bytes: which is which shows in what they hold. */
interface EncodedTransfer {
  readonly first: Uint8Array
  readonly second: Uint8Array
}

const TRANSFER_FIELDS: Fields = { 1: ['first', 'bytes'], 2: ['second', 'bytes'] }
const SLASH = 0x2f

/**
 * Encodes a message to transfer, in the reference node's order of fields: 1 is the pubsub topic, 2 the message. The
 * specification has them the other way round.
 *
 * @throws {@link LimitExceededError} if the frame would exceed {@link MAX_TRANSFER_BYTES}: such a message cannot be transferred
 */
export function encodeTransfer({
  pubsubTopic,
  message
}: TransferredMessage): Uint8Array<ArrayBuffer> {
  const frame = writeFields<EncodedTransfer>(
    { first: encodeText(pubsubTopic), second: encodeWakuMessage(message) },
    TRANSFER_FIELDS
  )
  assertLimit(frame.length, MAX_TRANSFER_BYTES, 'bytes in a frame')
  return frame
}

/**
 * Decodes a transferred message, with its fields in either order: a first field that is text and starts with a slash is the
 * pubsub topic. A message cannot be taken for one, since it would have to start with field 5 of wire type 7.
 *
 * @throws {@link InvalidMessageError} if the bytes do not decode, or topic or message is absent
 * @throws {@link LimitExceededError} if the frame exceeds {@link MAX_TRANSFER_BYTES}
 */
export function decodeTransfer(bytes: Uint8Array): TransferredMessage {
  assertLimit(bytes.length, MAX_TRANSFER_BYTES, 'bytes in a frame')
  const { first, second } = readFields<Partial<EncodedTransfer>>(bytes, TRANSFER_FIELDS)
  if (first === undefined || second === undefined) {
    throw new InvalidMessageError('a transfer without topic or message')
  }
  const [topic, message] =
    second[0] === SLASH && first[0] !== SLASH ? [second, first] : [first, second]
  return { pubsubTopic: decodeText(topic, 'a topic'), message: decodeWakuMessage(message) }
}
