import { expect } from 'chai'
import { TOPIC } from './helpers/messages.ts'
import { Resources } from './helpers/resources.ts'
import { startStorePeer } from './helpers/store-peer.ts'
import { waitFor } from './helpers/wait-for.ts'

const HOUR_MS = 3_600_000

describe('resume of a service node, of its own shards', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  it('asks by hash for what relay may have lost, and for its own shard only', async () => {
    let aheadMs = 0
    const now = (): bigint => BigInt(Date.now() + aheadMs) * 1_000_000n
    let tails = 0
    const log = (): void => undefined
    const logger = {
      debug: (data: object) => {
        tails += (data as { stage?: string }).stage === 'tail' ? 1 : 0
      },
      info: log,
      warn: log,
      error: log
    }
    const peer = await startStorePeer(resources, () => ({}))
    const node = await resources.node({ now, logger, resume: { markIntervalMs: 2 } })
    await peer.dial(node)
    expect(await node.resumed).to.include({ status: 'done' })
    aheadMs = 0.2 * HOUR_MS
    await waitFor('the mark to move', () => tails > 0)
    aheadMs = 0.7 * HOUR_MS
    const byHash = () => peer.requests.filter(({ includeData }) => !includeData)
    await waitFor('it to be asked', () => peer.requests.length >= 3)
    expect(byHash()).to.have.length(1)
    expect(peer.requests.map(({ pubsubTopic }) => pubsubTopic)).to.deep.equal(
      peer.requests.map(() => TOPIC)
    )
  })
})
