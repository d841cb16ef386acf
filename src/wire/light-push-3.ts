import { InvalidMessageError } from '../errors.ts'
import { readFields } from './fields.ts'
import {
  type LightPushRequest as EncodedLightPushRequest,
  type LightPushResponse as EncodedLightPushResponse,
  LightPushRequestFields,
  LightPushResponseFields
} from './generated/light-push-3.ts'
import { writeFields } from './write-fields.ts'

/** Protocol id of light push, current generation. */
export const LIGHT_PUSH_3_PROTOCOL = '/vac/waku/lightpush/3.0.0'

/** A push of one message. */
export interface LightPushRequest {
  readonly requestId: string
  /** Absent: the service node derives it from the content topic. */
  readonly pubsubTopic?: string
  /** The encoded WakuMessage. */
  readonly message: Uint8Array<ArrayBuffer>
}

/** What the service node says of a push. */
export interface LightPushResponse {
  /** That of the request; a placeholder (`N/A`) on some errors. */
  readonly requestId: string
  /** 200 for success; 0 if the node sent none. */
  readonly statusCode: number
  readonly statusDesc?: string
  /** To how many relay peers the node handed the message. */
  readonly relayPeerCount?: number
}

/** Encodes a request. */
export function encodeLightPushRequest(request: LightPushRequest): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedLightPushRequest>(
    { ...request, pubsubTopic: request.pubsubTopic || undefined },
    LightPushRequestFields
  )
}

/**
 * Decodes a request.
 *
 * @throws {@link InvalidMessageError} if it does not decode, or request id or message is absent
 */
export function decodeLightPushRequest(bytes: Uint8Array): LightPushRequest {
  const { requestId, pubsubTopic, message } = readFields<EncodedLightPushRequest>(
    bytes,
    LightPushRequestFields
  )
  if (requestId === undefined || message === undefined) {
    throw new InvalidMessageError(
      `light push request has no ${requestId === undefined ? 'request id' : 'message'}`
    )
  }
  return { requestId, message, ...(pubsubTopic === undefined ? undefined : { pubsubTopic }) }
}

/** Encodes a response. */
export function encodeLightPushResponse(response: LightPushResponse): Uint8Array<ArrayBuffer> {
  return writeFields<EncodedLightPushResponse>(
    {
      ...response,
      statusDesc: response.statusDesc || undefined
    },
    LightPushResponseFields
  )
}

/**
 * Decodes a response.
 *
 * @throws {@link InvalidMessageError} if it does not decode
 */
export function decodeLightPushResponse(bytes: Uint8Array): LightPushResponse {
  const {
    requestId = '',
    statusCode = 0,
    ...rest
  } = readFields<EncodedLightPushResponse>(bytes, LightPushResponseFields)
  return { requestId, statusCode, ...rest }
}
