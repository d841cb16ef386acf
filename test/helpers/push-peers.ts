import {
  decodeLegacyPushRequest,
  decodeLightPushRequest,
  encodeLegacyPushResponse,
  encodeLightPushResponse,
  type LegacyPushResponse,
  LIGHT_PUSH_2_PROTOCOL,
  LIGHT_PUSH_3_PROTOCOL,
  type LightPushResponse
} from 'waku-light/wire'
import type { FakePeer } from './fake-peers.ts'

/** A peer that answers light push 3 from a script; what is left out of an answer is that of a success. */
export function push3Peer(
  answer: Partial<LightPushResponse> | Uint8Array | (() => Promise<never>) = {},
  peerId = 'peer'
): FakePeer {
  return {
    peerId,
    protocols: [LIGHT_PUSH_3_PROTOCOL],
    answer: ({ bytes }) => {
      if (answer instanceof Uint8Array) {
        return answer
      }
      const { requestId } = decodeLightPushRequest(bytes)
      return typeof answer === 'function'
        ? answer()
        : encodeLightPushResponse({ requestId, statusCode: 200, ...answer })
    }
  }
}

/** As {@link push3Peer}, for light push 2. */
export function push2Peer(
  answer: Partial<LegacyPushResponse> | Uint8Array = {},
  peerId = 'peer'
): FakePeer {
  return {
    peerId,
    protocols: [LIGHT_PUSH_2_PROTOCOL],
    answer: ({ bytes }) =>
      answer instanceof Uint8Array
        ? answer
        : encodeLegacyPushResponse({
            requestId: decodeLegacyPushRequest(bytes).requestId,
            isSuccess: true,
            ...answer
          })
  }
}
