/** Two service nodes of our own, joined by relay, for specs that need a real peer. */
export interface ServiceNodes {
  /** Cluster of the nodes. */
  readonly clusterId: number
  /** The multiaddrs of each node. */
  readonly addresses: readonly (readonly string[])[]
  /** Stops the nodes that were started here. */
  close(): Promise<void>
}

interface ServiceNode {
  readonly multiaddrs: readonly { toString(): string }[]
  close(): Promise<void>
}

interface ServiceNodeModule {
  createServiceNode(options: Record<string, unknown>): Promise<ServiceNode>
}

const CLUSTER_ID = 16
const SHARD_COUNT = 8

/**
 * Starts the nodes: on loopback, on free ports, with databases in memory. With `WAKU_SERVICE_NODES` (multiaddrs, one a
 * node, separated by commas) nothing is started, and the nodes are those; `WAKU_CLUSTER_ID` is their cluster then.
 */
export async function startServiceNodes(): Promise<ServiceNodes> {
  const given = process.env.WAKU_SERVICE_NODES
  if (given !== undefined && given !== '') {
    return {
      clusterId: Number(process.env.WAKU_CLUSTER_ID ?? CLUSTER_ID),
      addresses: given.split(',').map((address) => [address.trim()]),
      close: async () => {}
    }
  }
  const { createServiceNode } = await load()
  if (createServiceNode === undefined) {
    return { clusterId: CLUSTER_ID, addresses: [], close: async () => {} }
  }
  const options = {
    clusterId: CLUSTER_ID,
    shardCount: SHARD_COUNT,
    listen: ['/ip4/127.0.0.1/tcp/0/ws', '/ip4/127.0.0.1/tcp/0'],
    database: ':memory:'
  }
  const first = await createServiceNode(options)
  const second = await createServiceNode({ ...options, peers: first.multiaddrs.map(String) })
  const nodes = [first, second]
  return {
    clusterId: CLUSTER_ID,
    addresses: nodes.map(({ multiaddrs }) =>
      multiaddrs.map(String).filter((address) => /\/wss?\//.test(address))
    ),
    close: async () => {
      await Promise.all(nodes.map(async (node) => await node.close()))
    }
  }
}

async function load(): Promise<Partial<ServiceNodeModule>> {
  try {
    const name = 'waku-light-service-node'
    return (await import(name)) as ServiceNodeModule
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    console.log('waku-light-service-node is not built: no service nodes for the specs')
    return {}
  }
}
