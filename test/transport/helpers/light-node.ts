import type { ExchangeReply, ExchangeRequest } from '../../../src/transport/exchange.ts'
import {
  createLightNode,
  type LightNode,
  type LightNodeOptions
} from '../../../src/transport/node.ts'
import type { ServicePeer, ServicePeers } from '../../../src/transport/service-peers.ts'
import type { NodeState } from '../../../src/transport/state.ts'
import { ECHO_PROTOCOL } from './scripted-node.ts'

/** What is asked, and echoed. */
export const BODY = Uint8Array.of(1, 2, 3)

const running = new Set<LightNode>()

/** A light node of cluster 1 that `closeLightNodes` closes. */
export async function startLightNode(
  serviceNodes: readonly string[],
  options: Partial<LightNodeOptions> = {}
): Promise<LightNode> {
  const node = await createLightNode({ serviceNodes, clusterId: 1, shardCount: 8, ...options })
  running.add(node)
  return node
}

/** For `afterEach`. */
export async function closeLightNodes(): Promise<void> {
  await Promise.all(Array.from(running, (node) => node.close()))
  running.clear()
}

/** Asks the first candidate, or a given one. */
export async function askEcho(
  { servicePeers }: { readonly servicePeers: ServicePeers },
  options: Partial<ExchangeRequest> & {
    readonly peerId?: string
    readonly signal?: AbortSignal
  } = {}
): Promise<ExchangeReply & ServicePeer> {
  const { peerId, signal = new AbortController().signal, ...request } = options
  const [first] = servicePeers.candidates()
  return await servicePeers.request(
    { peerId: peerId ?? first?.peerId ?? '' },
    { protocols: [ECHO_PROTOCOL], encode: () => BODY, maxResponseBytes: 100, ...request },
    signal
  )
}

/** Resolves with the next change of connections that fits. */
export async function nextChange(node: LightNode, connected: boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const end = node.onConnectionChange((change) => {
    if (change.connected === connected) {
      resolve(change.peerId)
    }
  })
  try {
    return await promise
  } finally {
    end()
  }
}

/** Resolves with the state once it fits. */
export async function until(
  node: LightNode,
  fits: (state: NodeState) => boolean
): Promise<NodeState> {
  const { promise, resolve } = Promise.withResolvers<NodeState>()
  const end = node.onStateChange((state) => fits(state) && resolve(state))
  if (fits(node.state)) {
    resolve(node.state)
  }
  try {
    return await promise
  } finally {
    end()
  }
}
