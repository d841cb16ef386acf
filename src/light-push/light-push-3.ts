import { ProtocolViolationError } from '../errors.ts'
import {
  decodeLightPushResponse,
  encodeLightPushRequest,
  LIGHT_PUSH_3_PROTOCOL
} from '../wire/light-push-3.ts'
import type { LightPushGeneration } from './generation.ts'
import { type PushReason, verdictOf } from './outcome.ts'

/** Codes with which a node says that it did nothing with the message. What is not listed is not guessed at. */
const REFUSALS: readonly number[] = [400, 413, 420, 421, 500, 504]

/**
 * Light push 3.0.0.
 *
 * @see WAKU-LIGHTPUSH
 */
export const LIGHT_PUSH_3: LightPushGeneration = {
  protocol: LIGHT_PUSH_3_PROTOCOL,
  encode: (requestId, pubsubTopic, message) =>
    encodeLightPushRequest({ requestId, pubsubTopic, message }),
  decode(bytes, requestId, peerId) {
    const response = decodeLightPushResponse(bytes)
    const { statusCode, statusDesc, relayPeerCount } = response
    // On errors the reference node puts a placeholder in place of the id.
    if (isSuccess(statusCode) && response.requestId !== requestId) {
      throw new ProtocolViolationError('request-id', 'the answer is to another request', peerId)
    }
    const reason = toReason(statusCode, relayPeerCount)
    return { ...verdictOf(reason), statusCode, statusDesc, relayPeerCount }
  }
}

function isSuccess(statusCode: number): boolean {
  return statusCode >= 200 && statusCode < 300
}

function toReason(statusCode: number, relayPeerCount: number | undefined): PushReason {
  if (isSuccess(statusCode)) {
    return relayPeerCount === 0 ? 'not-relayed' : 'accepted'
  }
  if (statusCode === 429) {
    return 'rate-limited'
  }
  // "No relay peers" is 503 in the specification and 505 at the reference node, which says it of a duplicate too.
  if (statusCode === 503 || statusCode === 505) {
    return 'not-relayed'
  }
  return REFUSALS.includes(statusCode) ? 'refused' : 'no-answer'
}
