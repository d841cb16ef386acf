import { messageSizeBytes } from 'waku-light/message'
import {
  decodeLegacyPushRequest,
  decodeWakuMessage,
  encodeLegacyPushResponse,
  type LegacyPushResponse,
  LIGHT_PUSH_2_PROTOCOL
} from 'waku-light/wire'
import { errorMessage } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { decodeFailure } from './decode-failure.ts'
import { PUSH_OVERHEAD_BYTES } from './light-push-3.ts'
import type { LightPushConfig } from './light-push-config.ts'
import type { PushRequest } from './push-request.ts'
import type { Service } from './service.ts'

/** Serves light push 2.0.0-beta1, with the texts of the reference node. */
export function lightPush2(config: LightPushConfig): Service {
  return {
    protocol: LIGHT_PUSH_2_PROTOCOL,
    maxRequestBytes: config.maxMessageBytes + PUSH_OVERHEAD_BYTES,
    rateLimits: config.rateLimits,
    refusal: encodeLegacyPushResponse(refuse('N/A', 'TOO_MANY_REQUESTS')),
    tooLarge: encodeLegacyPushResponse(refuse('N/A', tooLarge(config.maxMessageBytes))),
    async respond(request, log) {
      const response = await answer(request, config, log)
      return {
        frame: encodeLegacyPushResponse(response),
        status: response.isSuccess ? 'success' : 'failure'
      }
    }
  }
}

async function answer(
  request: Uint8Array,
  config: LightPushConfig,
  log: Logger
): Promise<LegacyPushResponse> {
  const push = readPush(request)
  if ('isSuccess' in push) {
    return push
  }
  const { requestId, pubsubTopic, message, encoded } = push
  if (Math.max(encoded.length, messageSizeBytes(message)) > config.maxMessageBytes) {
    return refuse(requestId, tooLarge(config.maxMessageBytes))
  }
  if (!config.serves(pubsubTopic)) {
    return refuse(requestId, 'not_published_to_any_peer')
  }
  try {
    const { status } = await config.publish(pubsubTopic, message, encoded)
    return status === 'published'
      ? { requestId, isSuccess: true, info: 'OK' }
      : refuse(requestId, 'not_published_to_any_peer')
  } catch (error) {
    log.error({ err: error }, 'push failed')
    return refuse(requestId, errorMessage(error))
  }
}

function readPush(request: Uint8Array): PushRequest | LegacyPushResponse {
  try {
    const { message: encoded, ...rest } = decodeLegacyPushRequest(request)
    return { ...rest, message: decodeWakuMessage(encoded), encoded }
  } catch (error) {
    const failure = decodeFailure(error)
    return refuse(
      '',
      failure.includes('"request"')
        ? 'empty_request_body_failure'
        : `decode_rpc_failure: ${failure}`
    )
  }
}

function refuse(requestId: string, info: string): LegacyPushResponse {
  return { requestId, isSuccess: false, info }
}

function tooLarge(maxMessageBytes: number): string {
  return `Message size exceeded maximum of ${maxMessageBytes} bytes`
}
