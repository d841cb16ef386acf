import { InvalidMessageError } from '../errors.ts'
import { MAX_META_BYTES, type WakuMessage } from '../message/message.ts'
import { readFields } from './fields.ts'
import { type WakuMessage as EncodedWakuMessage, WakuMessageFields } from './generated/message.ts'
import { unlessEmpty, writeFields } from './write-fields.ts'

/**
 * Encodes a message in its minimal form: payload and content topic always, optional fields only where they say something.
 *
 * @returns bytes in a buffer of their own, so that they can be transferred or stored as they are
 * @see 14/WAKU2-MESSAGE; the reference node refuses a message whose payload or content topic is absent
 */
export function encodeWakuMessage(message: WakuMessage): Uint8Array<ArrayBuffer> {
  const { payload, contentTopic, version, timestamp, meta, rateLimitProof, ephemeral } = message
  return writeFields<EncodedWakuMessage>(
    {
      payload,
      contentTopic,
      version: version === 0 ? undefined : version,
      timestamp: timestamp,
      meta: unlessEmpty(meta),
      rateLimitProof: unlessEmpty(rateLimitProof),
      ephemeral: ephemeral === true ? true : undefined
    },
    WakuMessageFields
  )
}

/**
 * Decodes a message. Empty optional fields, as the reference node writes them, come back as absent. What it returns are
 * copies: a message that is kept does not keep the frame it came in.
 *
 * @throws {@link InvalidMessageError} if the bytes do not decode, payload or content topic is absent, or `meta` is longer than
 * 64 bytes
 */
export function decodeWakuMessage(bytes: Uint8Array): WakuMessage {
  const { payload, contentTopic, version, timestamp, meta, rateLimitProof, ephemeral } =
    readFields<EncodedWakuMessage>(bytes, WakuMessageFields)
  if (payload === undefined || contentTopic === undefined) {
    throw new InvalidMessageError(
      `message has no ${payload === undefined ? 'payload' : 'content topic'}`
    )
  }
  if (meta !== undefined && meta.length > MAX_META_BYTES) {
    throw new InvalidMessageError(`meta of ${meta.length} bytes exceeds ${MAX_META_BYTES}`)
  }
  return {
    payload: new Uint8Array(payload),
    contentTopic,
    ...(version ? { version } : undefined),
    ...(timestamp === undefined ? undefined : { timestamp }),
    ...(meta?.length ? { meta: new Uint8Array(meta) } : undefined),
    ...(rateLimitProof?.length ? { rateLimitProof: new Uint8Array(rateLimitProof) } : undefined),
    ...(ephemeral ? { ephemeral } : undefined)
  }
}
