/**
 * `waku-light/node`: the light node, a libp2p that is set up for service nodes of a Waku network. The one module that pulls
 * libp2p in.
 *
 * @packageDocumentation
 */
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p } from 'libp2p'
import { InvalidArgumentError } from '../errors.ts'
import { assertTimeoutMs, MAX_TIMER_MS } from '../lib/deadline.ts'
import { definedOnly } from '../lib/defined.ts'
import { joinWrites } from './joined-writes.ts'
import { type LightNode, type LightNodeOptions, NODE_DEFAULTS } from './node-options.ts'
import { createServicePeers } from './peers.ts'
import { PEER_DEFAULTS } from './peers-options.ts'
import { answerPing, PING_PROTOCOL } from './ping.ts'
import { SendAhead } from './send-ahead.ts'
import { toLightNode } from './started-node.ts'
import { closingWebSockets } from './websockets.ts'

export {
  type ConnectionChange,
  type LightNode,
  type LightNodeOptions,
  NODE_DEFAULTS
} from './node-options.ts'

/**
 * Creates a light node and starts to dial: its first service node, and beside it the next ones if that takes long. One is kept
 * connected from then on. It resolves without waiting for that: a node that cannot be reached shows in
 * {@link LightNode.state} and in the calls made, with its reason.
 *
 * @throws {@link InvalidArgumentError} for options that are wrong or do not go together
 *
 * @example
 * ```ts
 * const node = await createLightNode({ serviceNodes: ['/dns4/node.example/tcp/443/wss/p2p/16Uiu2HA…'] })
 * const lightPush = new LightPushClient(node)
 * ```
 */
export async function createLightNode(options: LightNodeOptions): Promise<LightNode> {
  const settings = { ...PEER_DEFAULTS, ...NODE_DEFAULTS, ...definedOnly(options ?? {}) }
  for (const name of ['pingIntervalMs', 'pingTimeoutMs', 'minRedialMs', 'maxRedialMs'] as const) {
    assertTimeoutMs(settings[name], name)
  }
  const { pingIntervalMs, privateKey } = settings
  // The dial has a deadline of its own; libp2p's for one address is shorter.
  const dialTimeoutMs = Math.min(settings.dialTimeoutMs, MAX_TIMER_MS)
  if (privateKey !== undefined && typeof privateKey?.publicKey !== 'object') {
    throw new InvalidArgumentError('privateKey', 'must be a key of @libp2p/crypto')
  }
  const sockets = closingWebSockets(webSockets())
  const ahead =
    settings.sendAhead === false
      ? undefined
      : new SendAhead({ handshakeTimeoutMs: dialTimeoutMs / 2 })
  const encrypter = joinWrites(noise())
  const libp2p = await createLibp2p({
    start: false,
    privateKey,
    addresses: { listen: [] },
    // The default tells every node the name and version of the browser.
    nodeInfo: { name: 'waku-light', userAgent: 'waku-light' },
    transports: [ahead?.transport(sockets.transport) ?? sockets.transport],
    connectionEncrypters: [ahead?.encrypter(encrypter) ?? encrypter],
    streamMuxers: [yamux({ maxInboundStreams: MAX_INBOUND_STREAMS })],
    // Addresses are screened before they get here; libp2p's own gater refuses loopback and plain ws.
    connectionGater: { denyDialMultiaddr: () => false },
    // It pings whatever else is said on a connection, and not when a page is seen again.
    connectionMonitor: { enabled: false },
    connectionManager: { reconnectRetries: 0, addressDialTimeout: dialTimeoutMs },
    services: { identify: identify() }
  })
  const servicePeers = await createServicePeers(libp2p, options)
  await libp2p.handle(PING_PROTOCOL, answerPing, { maxInboundStreams: 2 })
  await libp2p.start()
  return toLightNode({
    ...settings,
    libp2p,
    servicePeers,
    sockets,
    pingIntervalMs: pingIntervalMs <= MAX_TIMER_MS ? pingIntervalMs : Infinity
  })
}

/** Streams that a peer may have open to us: each may fill its buffer of 4 MiB. */
const MAX_INBOUND_STREAMS = 32
