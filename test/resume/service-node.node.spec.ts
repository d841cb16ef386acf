import { expect } from 'chai'
import { createMemoryArchive } from 'waku-light/archive'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode, type LightNode } from 'waku-light/node'
import { createResume, type ResumeDone, type ResumeStore } from 'waku-light/resume'
import { fillGaps, StoreClient, type StoreProgress } from 'waku-light/store'
import { createServiceNode, type ServiceNode } from 'waku-light-service-node'
import { collect } from '../helpers/collect.ts'

const NETWORK = { clusterId: 66, shardCount: 8 }
const TOPIC = '/app/1/resume/bytes'
const MINUTE_MS = 60_000
const COUNT = 150
const OPENED_MS = 1_700_000_000_000
const PAYLOAD_BYTES = 300

/** What came in answers. */
interface Seen {
  messages: number
  hashes: number
  bytes: number
}

describe('Resume.run over service nodes', function () {
  this.timeout(30_000)
  let nowMs = OPENED_MS
  let nodes: ServiceNode[] = []
  let light: LightNode
  let others: LightNode[] = []

  before(async () => {
    const now = (): bigint => BigInt(nowMs) * 1_000_000n
    nodes = await Promise.all(
      [0, 1].map(() => createServiceNode({ ...NETWORK, standalone: true, now }))
    )
    const addresses = nodes.map(({ multiaddrs }) => multiaddrs.filter((one) => one.includes('/ws')))
    const create = (serviceNodes: readonly string[]): Promise<LightNode> =>
      createLightNode({ ...NETWORK, serviceNodes, allowPrivateAddresses: true })
    light = await create(addresses.flat())
    others = await Promise.all(addresses.map(create))
    // Spread over the hour before the page was opened; the first node lacks every tenth.
    for (let index = 0; index < COUNT; index++) {
      nowMs = OPENED_MS - 60 * MINUTE_MS + index * 20_000
      await push(index, index % 10 === 3 ? [1] : [0, 1])
    }
    nowMs = OPENED_MS
  })

  after(async () => {
    await Promise.all([light, ...others].map((node) => node.close()))
    await Promise.all(nodes.map((node) => node.close()))
  })

  async function push(index: number, at: readonly number[]): Promise<void> {
    const payload = new Uint8Array(PAYLOAD_BYTES).fill(index)
    const message = { contentTopic: TOPIC, payload, timestamp: BigInt(nowMs) * 1_000_000n }
    for (const node of at) {
      const client = new LightPushClient(others[node] as LightNode)
      expect(await client.push(message)).to.include({ status: 'published' })
    }
  }

  /** A store client that takes note of what its answers hold. */
  function noting(seen: Seen, hasHashes = true): ResumeStore {
    const client = new StoreClient(light)
    const note =
      (kind: 'messages' | 'hashes', inner?: (event: StoreProgress) => void) =>
      (event: StoreProgress): void => {
        if (event.type === 'store:page') {
          seen[kind] += event.detail.count
          seen.bytes += event.detail.bytes
        }
        inner?.(event)
      }
    return {
      follow: (criteria, options) => client.follow(criteria, options),
      queryPages: (criteria, options) =>
        client.queryPages(criteria, {
          ...options,
          onProgress: note('messages', options.onProgress)
        }),
      lookup: (hashes, options) =>
        client.lookup(hashes, { ...options, onProgress: note('messages', options.onProgress) }),
      ...(hasHashes
        ? {
            queryHashes: (criteria, options) =>
              client.queryHashes(criteria, {
                ...options,
                onProgress: note('hashes', options.onProgress)
              })
          }
        : undefined)
    }
  }

  const archive = createMemoryArchive()

  /** Resumes from the first node. */
  async function run(hasHashes = true): Promise<Seen & ResumeDone> {
    const seen: Seen = { messages: 0, hashes: 0, bytes: 0 }
    const peers = nodes.slice(0, 1).map(({ peerId }) => ({ peerId }))
    const resume = createResume(
      {
        archive,
        store: noting(seen, hasHashes),
        node: { servicePeers: { candidates: () => peers } }
      },
      { contentTopics: [TOPIC], now: () => nowMs }
    )
    const result = await resume.run()
    if (result.status !== 'done') {
      throw new Error(result.status, { cause: 'error' in result ? result.error : undefined })
    }
    return { ...seen, ...result }
  }

  it('asks for the last 65 minutes by hash, a fraction of what they are', async () => {
    const first = await run()
    expect(first).to.include({ added: COUNT - COUNT / 10, hashes: 0 })
    nowMs += MINUTE_MS
    const byHash = await run()
    // The newest 20 s are asked for in full.
    expect(byHash.hashes).to.equal(COUNT - COUNT / 10 - byHash.messages)
    expect(byHash.messages).to.be.at.most(1)
    expect(byHash).to.include({ added: 0, missing: 0 })
    nowMs += MINUTE_MS
    const inFull = await run(false)
    expect(inFull).to.include({ added: 0, hashes: 0 })
    expect(inFull.messages).to.equal(COUNT - COUNT / 10)
    expect(byHash.bytes).to.be.below(inFull.bytes / 7)
  })

  it('fetches what a node got since, and nothing else', async () => {
    const openedMs = nowMs
    nowMs = OPENED_MS - 60 * MINUTE_MS + 3 * 20_000
    await push(3, [0])
    nowMs = openedMs + MINUTE_MS
    expect(await run()).to.include({ added: 1, fetched: 1, messages: 1, missing: 0 })
    const payloads = (await collect(archive.walk())).map(({ payload }) => payload)
    expect(payloads).to.deep.include(new Uint8Array(PAYLOAD_BYTES).fill(3))
  })

  it('asks several nodes at once, and tells which one lacked what', async () => {
    const all = createMemoryArchive()
    const fresh = await createResume(
      { archive: all, store: new StoreClient(light), node: light },
      { contentTopics: [TOPIC], now: () => nowMs, walker: fillGaps('all') }
    ).run()
    expect(fresh).to.include({ status: 'done', added: COUNT, completeness: 'complete' })
    const told = 'sources' in fresh ? fresh.sources : undefined
    const lackedBy = (node: ServiceNode | undefined): unknown =>
      told?.find(({ peerId }) => peerId === node?.peerId)
    expect(lackedBy(nodes[0])).to.include({ state: 'complete', lackedCount: COUNT / 10 - 1 })
    expect(lackedBy(nodes[1])).to.include({ state: 'complete', lackedCount: 0 })
    await all.close()
  })
})
