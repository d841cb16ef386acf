import { expect } from 'chai'
import type { ServiceNode, ServiceNodeOptions } from 'waku-light-service-node'
import { TOPIC } from './helpers/messages.ts'
import { pushMany } from './helpers/push-many.ts'
import { Resources } from './helpers/resources.ts'
import { startStorePeer } from './helpers/store-peer.ts'
import { waitFor } from './helpers/wait-for.ts'

const HOUR_MS = 3_600_000

describe('resume of a service node, where an uninvited peer stays', () => {
  const resources = new Resources()
  afterEach(() => resources.release())
  let behindMs = 0
  const now = (): bigint => BigInt(Date.now() - behindMs) * 1_000_000n
  const start = (options: ServiceNodeOptions = {}): Promise<ServiceNode> =>
    resources.node({ now, standalone: true, ...options })

  const pushTo = async (node: ServiceNode, count: number): Promise<string[]> =>
    await pushMany(resources, node, now(), count)

  it('resumes from when it lost those that it was told to connect to', async () => {
    behindMs = 0
    const [first, second] = [await start(), await start()]
    const ends: object[] = []
    const tails: object[] = []
    const logger = {
      debug: (data: object) =>
        void ((data as { stage?: string }).stage === 'tail' && tails.push(data)),
      info: (data: object, text: string) => void (text === 'resumed' && ends.push(data)),
      warn: () => {},
      error: () => {}
    }
    const node = await start({
      resume: { markIntervalMs: 2, windowMs: 6 * HOUR_MS },
      logger,
      peers: [first.multiaddrs[0] ?? '']
    })
    expect(await node.resumed).to.include({ status: 'done', added: 0 })
    const uninvited = await startStorePeer(resources, () => ({}))
    await uninvited.dial(node)
    await waitFor('it to be joined', () => node.relayPeerCount(TOPIC) === 2)
    await first.close()
    await waitFor('the peer to be lost', () => node.relayPeerCount(TOPIC) === 1)
    behindMs = -0.25 * HOUR_MS
    const marks = tails.length
    const missed = await pushTo(second, 3)
    behindMs = -0.4 * HOUR_MS
    expect(tails.length - marks, 'the mark moved').to.equal(0)
    await node.connect(second.multiaddrs[0] ?? '')
    await waitFor('the end of it', () => ends.length === 2)
    expect(node.messageCount()).to.equal(missed.length)
  })
})
