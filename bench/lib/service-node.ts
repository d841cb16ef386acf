// A service node in a process of its own, for the benches; it tells its address to the process that made it.
import { createServiceNode } from 'waku-light-service-node'

const node = await createServiceNode({
  clusterId: 66,
  shardCount: 8,
  standalone: true,
  listen: ['/ip4/127.0.0.1/tcp/0/ws'],
  rateLimits: {
    lightPush: { perService: { count: 1_000_000, periodMs: 1_000 } },
    store: { perService: { count: 1_000_000, periodMs: 1_000 } }
  }
})
process.send?.(node.multiaddrs[0])
