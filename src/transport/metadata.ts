import type { Connection, Stream } from '@libp2p/interface'
import {
  decodeMetadata,
  encodeClusterId,
  MAX_METADATA_BYTES,
  METADATA_PROTOCOL,
  type Metadata
} from '../wire/metadata.ts'
import { answer, exchange } from './exchange.ts'

/**
 * Asks a peer for its cluster and shards.
 *
 * @param own - our cluster id, if we know it
 * @throws as {@link exchange}, and {@link InvalidMessageError} if the answer does not decode
 * @see 66/WAKU2-METADATA
 */
export async function requestMetadata(
  connection: Connection,
  own: number | undefined,
  signal: AbortSignal
): Promise<Metadata> {
  const { bytes } = await exchange(
    connection,
    {
      protocols: [METADATA_PROTOCOL],
      encode: () => encodeClusterId(own),
      maxResponseBytes: MAX_METADATA_BYTES
    },
    signal
  )
  return decodeMetadata(bytes)
}

/**
 * Answers a peer that asks for our cluster. Both reference nodes leave a client that does not.
 *
 * @param respond - from what the peer says of itself to the cluster id that we name
 * @throws as {@link answer}
 */
export async function answerMetadata(
  stream: Stream,
  respond: (remote: Metadata) => number,
  signal: AbortSignal
): Promise<void> {
  await answer(
    stream,
    MAX_METADATA_BYTES,
    (bytes) => encodeClusterId(respond(decodeMetadata(bytes))),
    signal
  )
}
