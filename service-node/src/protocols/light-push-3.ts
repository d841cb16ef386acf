import { messageSizeBytes } from 'waku-light/message'
import {
  decodeLightPushRequest,
  decodeWakuMessage,
  encodeLightPushResponse,
  LIGHT_PUSH_3_PROTOCOL,
  type LightPushResponse
} from 'waku-light/wire'
import { errorMessage } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { decodeFailure } from './decode-failure.ts'
import type { LightPushConfig } from './light-push-config.ts'
import { derivePubsubTopic, type PushRequest } from './push-request.ts'
import type { Answer, Service } from './service.ts'

/** Frames carry a message, topic and request id: room for the latter two, as older reference nodes had it. */
export const PUSH_OVERHEAD_BYTES = 64 * 1024

// The placeholder of the reference node for an id that it did not read.
const NO_ID = 'N/A'

/** Serves light push 3.0.0, with the status codes and texts of the reference node. */
export function lightPush3(config: LightPushConfig): Service {
  return {
    protocol: LIGHT_PUSH_3_PROTOCOL,
    maxRequestBytes: config.maxMessageBytes + PUSH_OVERHEAD_BYTES,
    rateLimits: config.rateLimits,
    refusal: encodeLightPushResponse({
      requestId: NO_ID,
      statusCode: 429,
      statusDesc: 'Request rejected due to too many requests'
    }),
    tooLarge: encodeLightPushResponse({ requestId: NO_ID, ...tooLarge(config.maxMessageBytes) }),
    async respond(request, log) {
      return toAnswer(await answer(request, config, log))
    }
  }
}

function toAnswer(response: LightPushResponse): Answer {
  return { frame: encodeLightPushResponse(response), status: String(response.statusCode) }
}

async function answer(
  request: Uint8Array,
  config: LightPushConfig,
  log: Logger
): Promise<LightPushResponse> {
  const push = readPush(request, config)
  if ('statusCode' in push) {
    return push
  }
  const { requestId, pubsubTopic, message, encoded } = push
  try {
    const outcome = await config.publish(pubsubTopic, message, encoded)
    return outcome.status === 'published'
      ? { requestId, statusCode: 200, relayPeerCount: outcome.relayPeerCount }
      : { requestId, statusCode: 505, statusDesc: 'No peers for topic, skipping publish' }
  } catch (error) {
    log.error({ err: error }, 'push failed')
    return { requestId, statusCode: 500, statusDesc: errorMessage(error) }
  }
}

function readPush(request: Uint8Array, config: LightPushConfig): PushRequest | LightPushResponse {
  const { clusterId, shardCount, maxMessageBytes } = config
  let decoded: Omit<PushRequest, 'pubsubTopic'> & { pubsubTopic?: string }
  try {
    const { message: encoded, ...rest } = decodeLightPushRequest(request)
    decoded = { ...rest, message: decodeWakuMessage(encoded), encoded }
  } catch (error) {
    return {
      requestId: NO_ID,
      statusCode: 400,
      statusDesc: `decode_rpc_failure: ${decodeFailure(error)}`
    }
  }
  const { requestId, message, encoded } = decoded
  const pubsubTopic =
    decoded.pubsubTopic ?? derivePubsubTopic(message.contentTopic, clusterId, shardCount)
  if (typeof pubsubTopic !== 'string') {
    return { requestId, ...pubsubTopic }
  }
  if (pubsubTopic.trim() === '') {
    return { requestId, statusCode: 400, statusDesc: 'topic must not be empty' }
  }
  if (Math.max(encoded.length, messageSizeBytes(message)) > maxMessageBytes) {
    return { requestId, ...tooLarge(maxMessageBytes) }
  }
  if (!config.serves(pubsubTopic)) {
    return { requestId, statusCode: 421, statusDesc: 'Unsupported pubsub topic' }
  }
  return { requestId, pubsubTopic, message, encoded }
}

function tooLarge(maxMessageBytes: number): { statusCode: number; statusDesc: string } {
  return {
    statusCode: 420,
    statusDesc: `Message size exceeded maximum of ${maxMessageBytes} bytes`
  }
}
