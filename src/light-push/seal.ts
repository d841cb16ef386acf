import { copyBytes } from '../lib/bytes.ts'
import { assertMessage, type WakuMessage } from '../message/message.ts'
import { messageHash } from '../message/message-hash.ts'
import { toPubsubTopic } from '../message/topics.ts'
import type { ServicePeers } from '../transport/service-peers.ts'
import { encodeWakuMessage } from '../wire/message.ts'
import type { PushOptions, PushSettings } from './options.ts'
import type { SealedMessage } from './outcome.ts'

/** A message that will not change any more. */
export interface Sealed {
  readonly contentTopic: string
  /** What the caller is told of it. */
  readonly told: SealedMessage
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * The message as it is sent: with its timestamp, and with a proof if there is one to ask for.
 *
 * @throws what learning the network and the prover throw, and {@link assertMessage} for a wrong proof
 */
export async function seal(
  draft: WakuMessage,
  servicePeers: ServicePeers,
  settings: PushSettings,
  { pubsubTopic: given, proof }: PushOptions,
  signal: AbortSignal
): Promise<Sealed> {
  const { contentTopic } = draft
  const network = await servicePeers.network(signal)
  const pubsubTopic = given ?? toPubsubTopic(contentTopic, network, 'message.contentTopic')
  const timestamp = draft.timestamp ?? settings.stamp()
  let message = { ...draft, timestamp }
  if (proof !== undefined) {
    message = { ...message, rateLimitProof: copyBytes(await proof(message, pubsubTopic)) }
    assertMessage(message, settings.maxMessageBytes)
  }
  return {
    contentTopic,
    told: { messageHash: messageHash(pubsubTopic, message), pubsubTopic, timestamp },
    bytes: encodeWakuMessage(message)
  }
}
