import { expect } from 'chai'
import type { ServiceNode, ServiceNodeOptions } from 'waku-light-service-node'
import { TOPIC } from './helpers/messages.ts'
import { Resources } from './helpers/resources.ts'
import { waitFor } from './helpers/wait-for.ts'

describe('resume of a service node', () => {
  const resources = new Resources()
  afterEach(() => resources.release())
  const start = (options: ServiceNodeOptions = {}): Promise<ServiceNode> =>
    resources.node({ standalone: true, ...options })

  it('asks a peer that was connected before it was told to connect to it', async () => {
    const databaseFile = `${resources.directory()}/archive.db`
    const peer = await start()
    const node = await start({ databaseFile, peers: ['/ip4/127.0.0.1/tcp/1'] })
    await peer.connect(node.multiaddrs[0] ?? '')
    await waitFor('the nodes to be joined', () => node.relayPeerCount(TOPIC) === 1)
    await node.connect(peer.multiaddrs[0] ?? '')
    expect(await node.resumed).to.include({ status: 'done' })
  })
})
