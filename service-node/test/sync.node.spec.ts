import { expect } from 'chai'
import { createMemoryArchive } from 'waku-light/archive'
import { messageHash } from 'waku-light/message'
import { createLightNode, type LightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'
import { createSync, type Sync, type SyncInit, type SyncProgress } from 'waku-light/sync'
import type { ServiceNode, ServiceNodeOptions } from 'waku-light-service-node'
import { Archive } from '../src/archive/archive.ts'
import { toArchivedMessage } from '../src/archive/archived-message.ts'
import { parseCommand, UsageError } from '../src/cli/cli-options.ts'
import { DEFAULT_OPTIONS } from '../src/options.ts'
import { CLUSTER, encodeMessage, makeMessage, TOPIC } from './helpers/messages.ts'
import { metric } from './helpers/metric.ts'
import { push } from './helpers/push.ts'
import { Resources } from './helpers/resources.ts'
import { waitFor } from './helpers/wait-for.ts'

const MINUTE = 60_000_000_000n

/** Messages that no other call makes, some minutes old, as an archive takes them. */
function makeStored(count: number, minutesAgo = 10n) {
  const start = BigInt(Date.now()) * 1_000_000n - minutesAgo * MINUTE
  return Array.from({ length: count }, (_, index) => {
    const message = makeMessage({ timestamp: start + BigInt(index) * 1_000_000n })
    return { ...message, pubsubTopic: TOPIC, messageHash: messageHash(TOPIC, message) }
  })
}

const ARCHIVE = { retention: DEFAULT_OPTIONS.retention, now: () => 0n }

describe('sync', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  /** A node whose clock says that the messages that are pushed to it are fresh. */
  async function nodeWith(
    messages: ReturnType<typeof makeStored>,
    options: ServiceNodeOptions = {}
  ): Promise<ServiceNode> {
    let now: bigint | undefined = messages[0]?.timestamp
    const node = await resources.node({
      standalone: true,
      sync: { intervalMs: 3_600_000 },
      now: () => now ?? BigInt(Date.now()) * 1_000_000n,
      ...options
    })
    const client = await resources.client()
    for (const message of messages) {
      now = message.timestamp
      const { statusCode } = await push(client, node.multiaddrs[0], encodeMessage(message))
      expect(statusCode).to.equal(200)
    }
    await client.stop()
    now = undefined
    return node
  }

  async function lightNode(...nodes: ServiceNode[]): Promise<LightNode> {
    const light = await createLightNode({
      clusterId: CLUSTER,
      shardCount: 1,
      serviceNodes: nodes.map(
        ({ multiaddrs }) => multiaddrs.find((address) => address.includes('/ws')) ?? ''
      )
    })
    resources.add(() => light.close())
    return light
  }

  async function sync(node: LightNode, init: SyncInit, withStore = true): Promise<Sync> {
    const components = withStore ? { node, store: new StoreClient(node) } : { node }
    const running = await createSync(components, { locks: null, automatic: false, ...init })
    resources.add(() => running.close())
    return running
  }

  it('heals a light node and a service node, both ways, in one session', async () => {
    const [shared, theirs, ours] = [makeStored(30), makeStored(5, 9n), makeStored(4, 8n)]
    const node = await nodeWith([...shared, ...theirs])
    const light = await lightNode(node)
    const archive = createMemoryArchive()
    await archive.putMany([...shared, ...ours])
    const running = await sync(light, { archive })
    expect(running.indexSize).to.equal(34)
    const result = await running.syncNow()
    expect(result).to.deep.include({
      peerId: node.peerId,
      role: 'initiator',
      outcome: 'reconciled',
      received: 5,
      sent: 4,
      missing: 0,
      unsent: 0
    })
    await waitFor('the node to have all', () => node.messageCount() === 39)
    expect(await archive.count()).to.equal(39)
    expect(running.indexSize).to.equal(39)
    const again = await running.syncNow({ peer: node.peerId })
    expect(again).to.deep.include({ outcome: 'in-sync', rounds: 1, received: 0, sent: 0 })
    expect(again.sentBytes).to.be.lessThan(100)
  })

  it('syncs at once after connecting', async () => {
    const node = await nodeWith(makeStored(3))
    const light = await lightNode(node)
    const archive = createMemoryArchive()
    await sync(light, { archive, automatic: true, intervalMs: 3_600_000 })
    await waitFor('the messages', async () => (await archive.count()) === 3)
  })

  it('leads to another node where one does not sync', async () => {
    const messages = makeStored(3)
    const [plain, syncing] = [await resources.node(), await nodeWith(messages)]
    const light = await lightNode(plain, syncing)
    const archive = createMemoryArchive()
    const running = await sync(light, { archive })
    const { peerId, received } = await running.syncNow()
    expect({ peerId, received }).to.deep.equal({ peerId: syncing.peerId, received: 3 })
  })

  it('gets by a store query what cannot be transferred', async () => {
    // the wrapper of a transfer makes it too large
    const [large] = makeStored(1)
    const payload = new Uint8Array(153_560)
    const message = { ...large!, payload }
    const stored = { ...message, messageHash: messageHash(TOPIC, message) }
    const node = await nodeWith([stored], { maxMessageBytes: 200_000 })
    const light = await lightNode(node)
    const archive = createMemoryArchive()
    const running = await sync(light, { archive, sleep: async () => undefined })
    const result = await running.syncNow()
    expect(result).to.deep.include({ outcome: 'reconciled', received: 1, missing: 0 })
  })

  it('tells what a session without a store client could not get', async () => {
    const [large] = makeStored(1)
    const message = { ...large!, payload: new Uint8Array(153_560) }
    const stored = { ...message, messageHash: messageHash(TOPIC, message) }
    const node = await nodeWith([stored], { maxMessageBytes: 200_000 })
    const light = await lightNode(node)
    const archive = createMemoryArchive()
    const running = await sync(light, { archive, sleep: async () => undefined }, false)
    expect(await running.syncNow()).to.deep.include({ outcome: 'partial', missing: 1 })
  })

  it('heals two service nodes that lost sight of each other', async () => {
    const [shared, first, second] = [makeStored(10), makeStored(20, 9n), makeStored(30, 8n)]
    const a = await nodeWith([...shared, ...first], { admin: { port: 0 } })
    const b = await nodeWith([...shared, ...second])
    expect([a.messageCount(), b.messageCount()]).to.deep.equal([30, 40])
    await a.connect(b.multiaddrs[0] ?? '')
    await waitFor('both to have all', () => a.messageCount() === 60 && b.messageCount() === 60)
    await waitFor('the metrics', async () => {
      const labels = '\\{role="initiator",outcome="reconciled"\\}'
      return (await metric(a, `waku_sync_sessions_total${labels}`)) === 1
    })
    expect(await metric(a, 'waku_sync_received_total')).to.equal(30)
  })

  it('heals two service nodes of what cannot be transferred', async () => {
    const [large] = makeStored(1)
    const message = { ...large!, payload: new Uint8Array(153_560) }
    const stored = { ...message, messageHash: messageHash(TOPIC, message) }
    const limit = { maxMessageBytes: 200_000 }
    const [a, b] = [await nodeWith([stored], limit), await nodeWith(makeStored(1, 8n), limit)]
    await a.connect(b.multiaddrs[0] ?? '')
    await waitFor('both to have both', () => a.messageCount() === 2 && b.messageCount() === 2)
  })

  it('fills the index from the database when it starts', async () => {
    const databaseFile = `${resources.directory()}/archive.db`
    const messages = makeStored(2_500)
    const before = await nodeWith(messages.slice(0, 5), { databaseFile })
    await before.close()
    const after = await resources.node({ databaseFile, sync: true })
    const light = await lightNode(after)
    const archive = createMemoryArchive()
    const running = await sync(light, { archive })
    expect(await running.syncNow()).to.deep.include({ outcome: 'reconciled', received: 5 })
  })

  it('tells topics that nobody shares from being in sync', async () => {
    const node = await nodeWith(makeStored(3))
    const light = await lightNode(node)
    const archive = createMemoryArchive()
    const running = await sync(light, { archive, pubsubTopics: ['/waku/2/rs/42/7'] })
    expect(await running.syncNow()).to.deep.include({ outcome: 'mismatch', received: 0, rounds: 1 })
  })

  it('syncs a window of the caller, beyond what the index holds', async () => {
    const node = await nodeWith(makeStored(3, 200n))
    const light = await lightNode(node)
    const archive = createMemoryArchive()
    const running = await sync(light, { archive })
    expect(await running.syncNow()).to.deep.include({ outcome: 'in-sync' })
    const from = new Date(Date.now() - 5 * 3_600_000)
    const progress: SyncProgress['type'][] = []
    const result = await running.syncNow({ from, onProgress: ({ type }) => progress.push(type) })
    expect(result).to.deep.include({ outcome: 'reconciled', received: 3 })
    expect(progress).to.include.members(['sync:start', 'sync:round', 'sync:received', 'sync:end'])
  })

  it('answers a light node that serves, and asks it', async () => {
    const [theirs, ours] = [makeStored(3), makeStored(4, 9n)]
    const node = await nodeWith(theirs, { sync: { intervalMs: 20 } })
    const light = await lightNode(node)
    const archive = createMemoryArchive()
    await archive.putMany(ours)
    const running = await sync(light, { archive, serve: true })
    const answered = Promise.withResolvers<void>()
    running.onEvent(({ type, detail }) => {
      if (type === 'sync:end' && detail.role === 'responder' && detail.sent === 4) {
        answered.resolve()
      }
    })
    // what a peer serves is told once a connection: begin another one, in case this one was earlier
    const store = new StoreClient(light)
    await store.has([ours[0]?.messageHash ?? new Uint8Array(32)])
    await Promise.all(light.streamHost.getConnections().map((connection) => connection.close()))
    await store.has([ours[0]?.messageHash ?? new Uint8Array(32)])
    await answered.promise
    await waitFor('both to have all', async () => {
      return node.messageCount() === 7 && (await archive.count()) === 7
    })
  })

  it('heals two nodes again after they were restarted, from what their databases hold', async () => {
    const directory = resources.directory()
    const files = [`${directory}/a.db`, `${directory}/b.db`]
    for (const [index, databaseFile] of files.entries()) {
      const before = await nodeWith(makeStored(20 + index, 9n), { databaseFile })
      await before.close()
    }
    const [a, b] = [
      await resources.node({ databaseFile: files[0], sync: true }),
      await resources.node({ databaseFile: files[1], sync: true })
    ]
    await b.connect(a.multiaddrs[0] ?? '')
    await waitFor('both to have all', () => a.messageCount() === 41 && b.messageCount() === 41)
  })

  it('moves a thousand messages each way', async () => {
    const [theirs, ours] = [makeStored(1_000), makeStored(1_000, 20n)]
    const databaseFile = `${resources.directory()}/archive.db`
    const archive = new Archive({ file: databaseFile, ...ARCHIVE })
    await Promise.all(
      theirs.map((message) =>
        archive.insert(toArchivedMessage(TOPIC, message, encodeMessage(message), 0n))
      )
    )
    archive.close()
    const node = await resources.node({ databaseFile, sync: true })
    const local = createMemoryArchive()
    await local.putMany(ours)
    const running = await sync(await lightNode(node), { archive: local })
    const result = await running.syncNow()
    expect(result).to.deep.include({ outcome: 'reconciled', received: 1_000, sent: 1_000 })
    await waitFor('the node to have all', () => node.messageCount() === 2_000)
  })

  it('is off unless asked for, and checks what it is asked', async () => {
    const node = await resources.node()
    const light = await lightNode(node)
    const running = await sync(light, { archive: createMemoryArchive() })
    const error = await running.syncNow().catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'ERR_NO_USABLE_PEER')
    expect(error).to.have.nested.property('failures[0].error.code', 'ERR_UNSUPPORTED')
    const wrong = await resources
      .node({ sync: { intervalMs: 0 } })
      .catch((caught: unknown) => caught)
    expect(wrong).to.include({ code: 'ERR_INVALID_ARGUMENT', parameter: 'sync.intervalMs' })
  })

  it('has options on the command line', () => {
    expect(parseCommand(['--sync']))
      .to.have.nested.property('options.sync')
      .that.deep.equals({})
    expect(parseCommand(['--sync', '--sync-interval', '60', '--sync-range', '7200']))
      .to.have.nested.property('options.sync')
      .that.deep.equals({ intervalMs: 60_000, rangeMs: 7_200_000 })
    expect(parseCommand([])).to.have.nested.property('options.sync', undefined)
    expect(() => parseCommand(['--sync-range', '7200'])).to.throw(UsageError)
  })
})
