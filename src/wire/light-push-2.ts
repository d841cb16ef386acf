import { InvalidMessageError } from '../errors.ts'
import { readFields } from './fields.ts'
import { type PushRpc as EncodedPushRpc, PushRpcFields } from './generated/light-push-2.ts'
import { writeFields } from './write-fields.ts'

/** Protocol id of light push, older generation. */
export const LIGHT_PUSH_2_PROTOCOL = '/vac/waku/lightpush/2.0.0-beta1'

/** A push of one message. */
export interface LegacyPushRequest {
  readonly requestId: string
  readonly pubsubTopic: string
  /** The encoded WakuMessage. */
  readonly message: Uint8Array<ArrayBuffer>
}

/** What the service node says of a push. */
export interface LegacyPushResponse {
  /** That of the request; a placeholder or empty on some errors. */
  readonly requestId: string
  readonly isSuccess: boolean
  readonly info?: string
}

/** Encodes a request. */
export function encodeLegacyPushRequest({
  requestId,
  pubsubTopic,
  message
}: LegacyPushRequest): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedPushRpc>(
    { requestId, request: { pubsubTopic, message } },
    PushRpcFields
  )
}

/**
 * Decodes a request.
 *
 * @throws {@link InvalidMessageError} if it does not decode or a part is absent
 */
export function decodeLegacyPushRequest(bytes: Uint8Array): LegacyPushRequest {
  const { requestId, request } = readFields<EncodedPushRpc>(bytes, PushRpcFields)
  if (requestId === undefined || request === undefined) {
    throw new InvalidMessageError(
      `light push request has no ${requestId === undefined ? 'request id' : 'request'}`
    )
  }
  const { pubsubTopic, message } = request
  if (pubsubTopic === undefined || message === undefined) {
    throw new InvalidMessageError(
      `light push request has no ${pubsubTopic === undefined ? 'pubsub topic' : 'message'}`
    )
  }
  return { requestId, pubsubTopic, message }
}

/** Encodes a response. */
export function encodeLegacyPushResponse({
  requestId,
  isSuccess,
  info
}: LegacyPushResponse): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedPushRpc>(
    { requestId, response: { isSuccess, info: info || undefined } },
    PushRpcFields
  )
}

/**
 * Decodes a response.
 *
 * @throws {@link InvalidMessageError} if it does not decode or is no response
 */
export function decodeLegacyPushResponse(bytes: Uint8Array): LegacyPushResponse {
  const { requestId = '', response } = readFields<EncodedPushRpc>(bytes, PushRpcFields)
  if (response === undefined) {
    throw new InvalidMessageError('light push answer holds no response')
  }
  return {
    requestId,
    isSuccess: response.isSuccess ?? false,
    ...(response.info === undefined ? undefined : { info: response.info })
  }
}
