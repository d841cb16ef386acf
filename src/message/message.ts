import { InvalidArgumentError, MessageTooLargeError } from '../errors.ts'
import { encodeText } from '../lib/bytes.ts'
import { assertInteger, assertObject, assertText } from '../lib/checks.ts'

/**
 * A message as it travels through the network.
 *
 * @see 14/WAKU2-MESSAGE
 */
export interface WakuMessage {
  /** The content, in whatever form the application wants; may be empty. */
  readonly payload: Uint8Array<ArrayBuffer>
  /** `/{application}/{version}/{name}/{encoding}` */
  readonly contentTopic: string
  /** How the payload is encrypted, as 26/WAKU2-PAYLOAD numbers it; absent means 0, not by Waku. */
  readonly version?: number
  /** Unix time in nanoseconds. */
  readonly timestamp?: bigint
  /** Application data that is part of the message hash, at most 64 bytes. */
  readonly meta?: Uint8Array<ArrayBuffer>
  /** A serialised RateLimitProof, carried untouched. */
  readonly rateLimitProof?: Uint8Array<ArrayBuffer>
  /** True: relayed, but not to be stored. */
  readonly ephemeral?: boolean
}

/** Largest `meta`, in bytes (14/WAKU2-MESSAGE). */
export const MAX_META_BYTES = 64

/**
 * Default for the largest message, in bytes as a service node encodes it: 149 KiB.
 *
 * The reference node's limit is 150 KiB, but its gossip layer silently drops a message whose frame is over that; 149 KiB
 * pass for every pubsub topic.
 */
export const DEFAULT_MAX_MESSAGE_BYTES = 152_576

/**
 * Size in bytes of a message as the reference node encodes it again: every field, empty ones included.
 *
 * @see the node's `maxMessageSize`, which is compared with this number
 */
export function messageSizeBytes(message: WakuMessage): number {
  return (
    delimited(1, message.payload.length) +
    delimited(1, encodeText(message.contentTopic).length) +
    1 +
    varintLength(message.version ?? 0) +
    1 +
    varintLength(zigzag(message.timestamp ?? 0n)) +
    delimited(1, message.meta?.length ?? 0) +
    delimited(2, message.rateLimitProof?.length ?? 0) +
    3 // ephemeral: a tag of two bytes and the value
  )
}

function delimited(tagBytes: number, length: number): number {
  return tagBytes + varintLength(length) + length
}

function varintLength(value: number | bigint): number {
  return Math.ceil(value.toString(2).length / 7)
}

function zigzag(value: bigint): bigint {
  return value < 0n ? -2n * value - 1n : 2n * value
}

/**
 * Checks a message before it is sent.
 *
 * @param message - the message
 * @param maxMessageBytes - limit for {@link messageSizeBytes}
 * @throws {@link InvalidArgumentError} naming the field that is wrong
 * @throws {@link MessageTooLargeError} with size and limit
 */
export function assertMessage(
  message: WakuMessage,
  maxMessageBytes: number = DEFAULT_MAX_MESSAGE_BYTES
): void {
  assertObject('message', message)
  if (!(message.payload instanceof Uint8Array)) {
    throw new InvalidArgumentError('message.payload', 'must be a Uint8Array')
  }
  assertText('message.contentTopic', message.contentTopic)
  if (!message.contentTopic.isWellFormed()) {
    throw new InvalidArgumentError('message.contentTopic', 'must not hold half of a surrogate pair')
  }
  const { version, timestamp, meta, rateLimitProof, ephemeral } = message
  assertInteger('message.version', version ?? 0, 0, 0xffffffff)
  if (
    timestamp !== undefined &&
    (typeof timestamp !== 'bigint' || BigInt.asIntN(64, timestamp) !== timestamp)
  ) {
    throw new InvalidArgumentError(
      'message.timestamp',
      'must be a bigint of nanoseconds that fits into 64 bits'
    )
  }
  if (meta !== undefined && !(meta instanceof Uint8Array && meta.length <= MAX_META_BYTES)) {
    throw new InvalidArgumentError(
      'message.meta',
      `must be a Uint8Array of at most ${MAX_META_BYTES} bytes`
    )
  }
  if (rateLimitProof !== undefined && !(rateLimitProof instanceof Uint8Array)) {
    throw new InvalidArgumentError('message.rateLimitProof', 'must be a Uint8Array')
  }
  if (ephemeral !== undefined && typeof ephemeral !== 'boolean') {
    throw new InvalidArgumentError('message.ephemeral', 'must be a boolean')
  }
  const sizeBytes = messageSizeBytes(message)
  if (sizeBytes > maxMessageBytes) {
    throw new MessageTooLargeError(sizeBytes, maxMessageBytes)
  }
}
