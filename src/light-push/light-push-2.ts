import { ProtocolViolationError } from '../errors.ts'
import {
  decodeLegacyPushResponse,
  encodeLegacyPushRequest,
  LIGHT_PUSH_2_PROTOCOL
} from '../wire/light-push-2.ts'
import type { LightPushGeneration } from './generation.ts'
import { type PushReason, verdictOf } from './outcome.ts'

const RATE_LIMITED = /TOO_MANY_REQUESTS|exceeds the rate limit/

/**
 * Texts with which the two reference nodes say that they did nothing with the message. This generation has no codes, so the
 * text is all there is; what is not listed is not guessed at.
 */
const REFUSALS =
  /decode_rpc_failure|empty_request_body_failure|invalid request|message size exceed|validation failed|validator failed|missing ContentTopic|rln/i

/** Texts with which they say that they have no relay peers for it, or, nwaku, that it went out before. */
const NOT_RELAYED = /not_published_to_any_peer|not enough peers/

/**
 * Light push 2.0.0-beta1.
 *
 * @see 19/WAKU2-LIGHTPUSH
 */
export const LIGHT_PUSH_2: LightPushGeneration = {
  protocol: LIGHT_PUSH_2_PROTOCOL,
  encode: (requestId, pubsubTopic, message) =>
    encodeLegacyPushRequest({ requestId, pubsubTopic, message }),
  decode(bytes, requestId, peerId) {
    const response = decodeLegacyPushResponse(bytes)
    if (response.isSuccess && response.requestId !== requestId) {
      throw new ProtocolViolationError('request-id', 'the answer is to another request', peerId)
    }
    const reason = response.isSuccess ? 'accepted' : toReason(response.info ?? '')
    return { ...verdictOf(reason), statusDesc: response.info }
  }
}

function toReason(info: string): PushReason {
  if (RATE_LIMITED.test(info)) {
    return 'rate-limited'
  }
  if (REFUSALS.test(info)) {
    return 'refused'
  }
  return NOT_RELAYED.test(info) ? 'not-relayed' : 'no-answer'
}
