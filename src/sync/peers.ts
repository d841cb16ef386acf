import type { Connection, Peer } from '@libp2p/interface'
import { ConnectionError } from '../errors.ts'
import type { ExchangeRequest } from '../transport/exchange.ts'
import { encodeClusterId, MAX_METADATA_BYTES, METADATA_PROTOCOL } from '../wire/metadata.ts'
import { RECONCILIATION_PROTOCOL } from '../wire/sync.ts'
import type { SyncNode } from './components.ts'
import { createFrames, type Frames, toStreamError } from './frames.ts'

/** Node programs that answer as the reference node does. */
const REFERENCE_AGENT = /nwaku|logos-delivery/i

/** All that may be asked for something. */
export function knownPeers({ servicePeers, streamHost }: SyncNode): ReadonlySet<string> {
  return new Set(
    servicePeers?.candidates().map(({ peerId }) => peerId) ??
      streamHost.getConnections().map(({ remotePeer }) => remotePeer.toString())
  )
}

/**
 * Those that may speak sync, in random order. A service node that is not connected yet may; of other peers only those that
 * say so.
 */
export async function capablePeers(node: SyncNode, random: () => number): Promise<string[]> {
  const capable: string[] = []
  for (const peerId of knownPeers(node)) {
    const { protocols = [] } = (await identityOf(node, peerId)) ?? {}
    const isUnknown = protocols.length === 0 && node.servicePeers !== undefined
    if (isUnknown || protocols.includes(RECONCILIATION_PROTOCOL)) {
      capable.splice((1 - random()) * (capable.length + 1), 0, peerId)
    }
  }
  return capable
}

/** Whether a peer is a reference node, by what it says. */
export async function isReference(node: SyncNode, peerId: string): Promise<boolean> {
  const peer = await identityOf(node, peerId)
  return REFERENCE_AGENT.test(new TextDecoder().decode(peer?.metadata.get('AgentVersion')))
}

/**
 * Opens a stream, and frames on it of no more than `maxBytes`; a service node that is not connected is dialed.
 *
 * @throws {@link UnsupportedError} if the peer does not speak the protocol, {@link ConnectionError} if it cannot be reached,
 * or the signal's own reason
 */
export async function openFrames(
  node: SyncNode,
  peerId: string,
  protocol: string,
  maxBytes: number,
  signal: AbortSignal
): Promise<Frames> {
  const connection = connectionTo(node, peerId) ?? (await connect(node, peerId, signal))
  try {
    const options = { signal, maxOutboundStreams: Infinity }
    return createFrames(await connection.newStream(protocol, options), maxBytes)
  } catch (cause) {
    signal.throwIfAborted()
    throw toStreamError(cause)
  }
}

function connectionTo({ streamHost }: SyncNode, peerId: string): Connection | undefined {
  return streamHost
    .getConnections()
    .find(({ status, remotePeer }) => status === 'open' && remotePeer.toString() === peerId)
}

/** Any request makes a light node connect; this one is what it asks each node anyway. */
async function connect(node: SyncNode, peerId: string, signal: AbortSignal): Promise<Connection> {
  const { servicePeers } = node
  const peer = servicePeers?.candidates().find((candidate) => candidate.peerId === peerId)
  let failure: unknown = new ConnectionError('the peer is not connected')
  if (servicePeers !== undefined && peer !== undefined) {
    try {
      const { clusterId } = await servicePeers.network(signal)
      const request: ExchangeRequest = {
        protocols: [METADATA_PROTOCOL],
        encode: () => encodeClusterId(clusterId),
        maxResponseBytes: MAX_METADATA_BYTES
      }
      await servicePeers.request(peer, request, signal)
    } catch (error) {
      failure = error
    }
  }
  // one that was known by its address has got a peer id by now
  const connection = connectionTo(node, peer?.peerId ?? peerId)
  if (connection === undefined) {
    throw failure
  }
  return connection
}

/** What a peer says of itself in identify; nothing before that has come. */
async function identityOf(node: SyncNode, peerId: string): Promise<Peer | undefined> {
  const connection = connectionTo(node, peerId)
  try {
    return connection && (await node.streamHost.peerStore.get(connection.remotePeer))
  } catch {
    return undefined
  }
}
