import type { Connection, Stream } from '@libp2p/interface'
import {
  decodeMetadata,
  encodeMetadata,
  MAX_METADATA_BYTES,
  METADATA_PROTOCOL,
  type Metadata
} from '../wire/metadata.ts'
import { answer, exchange } from './exchange.ts'

/**
 * Asks a peer for its cluster and shards.
 *
 * @param own - what we say of ourselves
 * @throws as {@link exchange}, and {@link InvalidMessageError} if the answer does not decode
 * @see 66/WAKU2-METADATA
 */
export async function requestMetadata(
  connection: Connection,
  own: Metadata,
  signal: AbortSignal
): Promise<Metadata> {
  const { bytes } = await exchange(
    connection,
    {
      protocols: [METADATA_PROTOCOL],
      encode: () => encodeMetadata(own),
      maxResponseBytes: MAX_METADATA_BYTES
    },
    signal
  )
  return decodeMetadata(bytes)
}

/**
 * Answers a peer that asks for our cluster. Both reference nodes leave a client that does not.
 *
 * @param respond - from what the peer says of itself to what we say of ourselves
 * @throws as {@link answer}
 */
export async function answerMetadata(
  stream: Stream,
  respond: (remote: Metadata) => Metadata,
  signal: AbortSignal
): Promise<void> {
  await answer(
    stream,
    MAX_METADATA_BYTES,
    (bytes) => encodeMetadata(respond(decodeMetadata(bytes))),
    signal
  )
}
