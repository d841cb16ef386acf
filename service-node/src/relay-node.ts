import { createHash } from 'node:crypto'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { type GossipSub, gossipsub, StrictNoSign } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import type { ConnectionEncrypter, Libp2p, PrivateKey } from '@libp2p/interface'
import { mplex } from '@libp2p/mplex'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { joinWrites } from 'waku-light'
import type { ResolvedOptions } from './options.ts'
import { RELAY_PROTOCOL } from './relay.ts'
import { carefulWebSockets } from './websockets.ts'

/** The libp2p node underneath. */
export type RelayNode = Libp2p<{ pubsub: GossipSub }>

const DEFAULT_RPC_BYTES = 4 * 1024 * 1024
const MAX_UNSENT_BYTES = 16 * 1024 * 1024
const MAX_STREAMS = 512

/** For mplex, which has no other bound; rate limits of the services are lower. */
const MAX_NEW_STREAMS_PER_SECOND = 10_000
const NEGOTIATION_TIMEOUT_MS = 3000

/** Builds the libp2p node, not yet started: handlers are registered before the first connection. */
export function createRelayNode(
  options: ResolvedOptions,
  privateKey: PrivateKey
): Promise<RelayNode> {
  const { listen, tls, maxConnections, maxMessageBytes } = options
  return createLibp2p({
    start: false,
    privateKey,
    addresses: { listen: [...listen] },
    nodeInfo: { userAgent: 'waku-light-service-node' },
    transports: [
      tcp(),
      carefulWebSockets(tls === undefined ? {} : { https: { cert: tls.cert, key: tls.key } })
    ],
    connectionEncrypters: [patientNoise()],
    streamMuxers: [
      yamux({ maxInboundStreams: MAX_STREAMS, maxEarlyStreams: MAX_STREAMS }),
      // Its default closes a connection on more than five new streams a second, however short they are.
      mplex({ disconnectThreshold: MAX_NEW_STREAMS_PER_SECOND })
    ],
    // The default gater is that of a browser: no private addresses.
    connectionGater: { denyDialMultiaddr: () => false },
    connectionManager: {
      maxConnections,
      // gossipsub opens its streams one after the other: a peer that stalls one holds up all others for so long.
      outboundStreamProtocolNegotiationTimeout: NEGOTIATION_TIMEOUT_MS,
      maxIncomingPendingConnections: maxConnections,
      // Per host and second: behind one address there may be many clients.
      inboundConnectionThreshold: maxConnections
    },
    services: {
      identify: identify(),
      ping: ping({ maxInboundStreams: 8 }),
      pubsub: (components: Parameters<ReturnType<typeof gossipsub>>[0]) => {
        const service = gossipsub({
          globalSignaturePolicy: StrictNoSign,
          msgIdFn: ({ data }) => createHash('sha256').update(data).digest(),
          fallbackToFloodsub: false,
          // Without peers a publication fails and the same bytes may be sent again.
          allowPublishToZeroTopicPeers: false,
          allowedTopics: [...options.pubsubTopics],
          maxInboundDataLength: Math.max(DEFAULT_RPC_BYTES, 2 * maxMessageBytes),
          maxOutboundBufferSize: MAX_UNSENT_BYTES
        })(components)
        // Its `protocols` option is ignored in 17.1.1.
        service.protocols.splice(0, service.protocols.length, RELAY_PROTOCOL)
        return service
      }
    }
  })
}

/**
 * Noise without the early agreement on a muxer when a peer dials in: there each side takes the first of the other's list,
 * so a dialer that offers mplex before yamux would hang. The muxer is negotiated as usual instead.
 */
function patientNoise(): (
  components: Parameters<ReturnType<typeof noise>>[0]
) => ConnectionEncrypter {
  const factory = joinWrites(noise())
  return (components) => {
    const encrypter = factory(components)
    const secureInbound = encrypter.secureInbound.bind(encrypter)
    encrypter.secureInbound = (connection, options) =>
      secureInbound(connection, { ...options, skipStreamMuxerNegotiation: true })
    return encrypter
  }
}
