import {
  decodeLightPushResponse,
  encodeLightPushRequest,
  LIGHT_PUSH_3_PROTOCOL,
  type LightPushResponse
} from 'waku-light/wire'
import type { Client } from './client.ts'
import { TOPIC } from './messages.ts'

/** Pushes an encoded message by light push 3. */
export async function push(
  client: Client,
  address: string | undefined,
  message: Uint8Array<ArrayBuffer>,
  pubsubTopic: string | undefined = TOPIC
): Promise<LightPushResponse> {
  const body = encodeLightPushRequest({ requestId: 'req-1', pubsubTopic, message })
  return decodeLightPushResponse(await client.request(address, LIGHT_PUSH_3_PROTOCOL, body))
}
