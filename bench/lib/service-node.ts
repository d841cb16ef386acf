// A service node in a process of its own, for the benches: `service-node.ts [DATABASE_FILE]`. It tells its address to the
// process that made it, and the processor time it has used so far, in microseconds, whenever that asks. To be run without a
// loader of TypeScript, so that the node is the one that was built.
import { createServiceNode } from 'waku-light-service-node'

const node = await createServiceNode({
  clusterId: 66,
  shardCount: 8,
  standalone: true,
  databaseFile: process.argv[2],
  listen: ['/ip4/127.0.0.1/tcp/0/ws'],
  rateLimits: {
    lightPush: { perService: { count: 1_000_000, periodMs: 1_000 } },
    store: { perService: { count: 1_000_000, periodMs: 1_000 } }
  }
})
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.send?.(node.multiaddrs[0])
