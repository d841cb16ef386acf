import { lpStream } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { messageHash, type WakuMessage } from 'waku-light/message'
import {
  decodeStoreQueryRequest,
  encodeMetadata,
  encodeStoreQueryResponse,
  encodeWakuMessage,
  encodeWakuMessageKeyValue,
  METADATA_PROTOCOL,
  STORE_QUERY_3_PROTOCOL,
  type StoreQueryRequest,
  type StoreQueryResponse
} from 'waku-light/wire'
import type { ServiceNode } from 'waku-light-service-node'
import { generateKey } from '../../src/key-file.ts'
import { resolveOptions } from '../../src/options.ts'
import { createRelayNode } from '../../src/relay-node.ts'
import { CLUSTER, TOPIC } from './messages.ts'
import type { Resources } from './resources.ts'

/** What a {@link startStorePeer} answers. */
export type StoreAnswer = Partial<StoreQueryResponse>

/** An entry of a page, as an honest node makes it, unless told otherwise. */
export function toEntry(
  message: WakuMessage,
  pubsubTopic = TOPIC,
  hash?: Uint8Array
): Uint8Array<ArrayBuffer> {
  return encodeWakuMessageKeyValue({
    messageHash: (hash ?? messageHash(pubsubTopic, message)) as Uint8Array<ArrayBuffer>,
    message: encodeWakuMessage(message),
    pubsubTopic
  })
}

/**
 * A peer that relays, and whose store answers what the test says.
 *
 * @param answer - undefined: never
 */
export async function startStorePeer(
  resources: Resources,
  answer: (request: StoreQueryRequest) => StoreAnswer | undefined
): Promise<{ readonly requests: StoreQueryRequest[]; dial(node: ServiceNode): Promise<void> }> {
  const requests: StoreQueryRequest[] = []
  const peer = await createRelayNode(resolveOptions({ clusterId: CLUSTER }), await generateKey())
  resources.add(() => peer.stop())
  await peer.handle(METADATA_PROTOCOL, async (stream) => {
    await lpStream(stream).write(encodeMetadata({ clusterId: CLUSTER, shards: [0] }))
    await stream.close()
  })
  await peer.handle(STORE_QUERY_3_PROTOCOL, async (stream) => {
    const frames = lpStream(stream)
    const request = decodeStoreQueryRequest((await frames.read()).subarray(), 1_000)
    requests.push(request)
    const given = answer(request)
    if (given !== undefined) {
      const { requestId } = request
      const response = { requestId, statusCode: 200, statusDesc: 'OK', messages: [], ...given }
      await frames.write(encodeStoreQueryResponse(response))
      await stream.close()
    }
  })
  await peer.start()
  peer.services.pubsub.subscribe(TOPIC)
  return {
    requests,
    dial: async (node) => {
      await peer.dial(multiaddr(node.multiaddrs[0] ?? ''))
    }
  }
}
