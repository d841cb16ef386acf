import { createServiceNode } from 'waku-light-service-node'

/** Two service nodes of our own, joined by relay, for specs that need a real peer. */
export interface ServiceNodes {
  /** Cluster of the nodes. */
  readonly clusterId: number
  /** Number of shards of the network; undefined where it is not known. */
  readonly shardCount?: number
  /** The websocket multiaddrs of each node. */
  readonly addresses: readonly (readonly string[])[]
  /** Stops the nodes that were started here. */
  close(): Promise<void>
}

// not one of the well-known clusters, whose shard count clients know already
const CLUSTER_ID = 66
const SHARD_COUNT = 8

/**
 * Starts the nodes: on loopback, on free ports, with archives in memory. With `WAKU_SERVICE_NODES` (websocket multiaddrs,
 * one a node, separated by commas) nothing is started, and the nodes are those; `WAKU_CLUSTER_ID` and `WAKU_SHARD_COUNT`
 * say what they belong to.
 */
export async function startServiceNodes(): Promise<ServiceNodes> {
  const { WAKU_SERVICE_NODES: given, WAKU_CLUSTER_ID, WAKU_SHARD_COUNT } = process.env
  if (given !== undefined && given !== '') {
    return {
      clusterId: Number(WAKU_CLUSTER_ID ?? CLUSTER_ID),
      shardCount: Number(WAKU_SHARD_COUNT ?? SHARD_COUNT),
      addresses: given.split(',').map((address) => [address.trim()]),
      close: async () => {}
    }
  }
  const options = { clusterId: CLUSTER_ID, shardCount: SHARD_COUNT }
  const first = await createServiceNode(options)
  const second = await createServiceNode({ ...options, peers: first.multiaddrs.map(String) })
  const nodes = [first, second]
  return {
    ...options,
    addresses: nodes.map(({ multiaddrs }) =>
      multiaddrs.map(String).filter((address) => /\/ws(\/|$)/.test(address))
    ),
    close: async () => {
      await Promise.all(nodes.map(async (node) => await node.close()))
    }
  }
}
