import { expect } from 'chai'
import { messageHash, toHex, type WakuMessage } from 'waku-light/message'
import { createLightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'
import type { StoreQueryRequest } from 'waku-light/wire'
import type { Logger, ServiceNode, ServiceNodeOptions } from 'waku-light-service-node'
import { parseCommand } from '../src/cli/cli-options.ts'
import { CLUSTER, makeMessage, TOPIC } from './helpers/messages.ts'
import { metric } from './helpers/metric.ts'
import { pushMany } from './helpers/push-many.ts'
import { Resources } from './helpers/resources.ts'
import { query } from './helpers/store.ts'
import { startStorePeer, toEntry } from './helpers/store-peer.ts'
import { waitFor } from './helpers/wait-for.ts'

const HOUR_MS = 3_600_000
const HOUR = BigInt(HOUR_MS) * 1_000_000n

describe('resume', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  /** How far behind the machine's clock those of the nodes are. */
  let behindMs = 0
  beforeEach(() => {
    behindMs = 0
  })
  const now = (): bigint => BigInt(Date.now() - behindMs) * 1_000_000n

  const start = (options: ServiceNodeOptions = {}): Promise<ServiceNode> =>
    resources.node({ now, standalone: true, ...options })

  /** A file whose node was last online so many hours ago, and had one message by then. */
  async function fileOf(hoursAgo: number): Promise<string> {
    const databaseFile = `${resources.directory()}/archive.db`
    behindMs = hoursAgo * HOUR_MS
    const [node, peer] = [await start({ databaseFile }), await start()]
    await pushTo(node, 1)
    await node.connect(peer.multiaddrs[0] ?? '')
    expect(await node.resumed).to.include({ status: 'done' })
    await node.close()
    await peer.close()
    behindMs = 0
    return databaseFile
  }

  /** Pushes messages of the time at which the clocks stand; returns their hashes. */
  const pushTo = async (node: ServiceNode, count: number): Promise<string[]> =>
    await pushMany(resources, node, now(), count)

  /** A node that holds messages of several times, of so many hours ago each. */
  async function nodeWith(counts: [hoursAgo: number, count: number][]) {
    const node = await start()
    const hashes: string[] = []
    for (const [hoursAgo, count] of counts) {
      behindMs = hoursAgo * HOUR_MS
      hashes.push(...(await pushTo(node, count)))
    }
    behindMs = 0
    return { node, hashes, address: node.multiaddrs[0] ?? '' }
  }

  it('has what was relayed while the node was down, gives it out, and relays none of it', async () => {
    const databaseFile = await fileOf(4)
    const { node, hashes, address } = await nodeWith([
      [3, 150],
      [1, 101]
    ])
    const peers = ['/ip4/127.0.0.1/tcp/1'] // c is none of them
    const b = await start({ databaseFile, peers, admin: { port: 0 } })
    const c = await start({ peers: [b.multiaddrs[0] ?? ''] })
    await waitFor('the nodes to be joined', () => b.relayPeerCount(TOPIC) === 1)
    await b.connect(address)
    const resumed = await b.resumed
    expect(resumed).to.deep.include({ status: 'done', added: 251, completeness: 'complete' })
    expect(resumed).to.not.have.property('gap')
    expect(b.messageCount()).to.equal(252)
    const light = await createLightNode({
      clusterId: CLUSTER,
      shardCount: 1,
      serviceNodes: b.multiaddrs.filter((each) => each.includes('/ws/'))
    })
    resources.add(() => light.close())
    const read: string[] = []
    for await (const message of new StoreClient(light).query({ timeStart: now() - 4n * HOUR })) {
      read.push(toHex(message.messageHash))
    }
    expect(read.slice(-251)).to.deep.equal(hashes)
    expect(await metric(b, 'waku_resume_received_total')).to.equal(251)
    expect(await metric(b, 'waku_resume_total\\{outcome="done"\\}')).to.equal(1)
    expect(await metric(b, 'waku_relay_received_total')).to.equal(0)
    expect(await metric(b, 'waku_relay_published_total')).to.equal(0)
    expect([c.messageCount(), node.messageCount()]).to.deep.equal([0, 251])
  })

  it('asks again for next to nothing when it is started once more', async () => {
    const databaseFile = await fileOf(2)
    const { address } = await nodeWith([[1, 30]])
    for (const added of [30, 0]) {
      const node = await start({ databaseFile, peers: [address] })
      const resumed = await node.resumed
      expect(resumed).to.include({ status: 'done', added })
      expect(resumed).to.have.property('fetched', added)
      expect(node.messageCount()).to.equal(31)
      await node.close()
    }
  })

  it('goes no further back than the window, and tells what it left out', async () => {
    const databaseFile = await fileOf(9)
    const { address } = await nodeWith([
      [7, 5],
      [5, 4],
      [2, 3]
    ])
    const lines: [object, string][] = []
    const logger = toLogger((level, data, text) => level === 'info' && lines.push([data, text]))
    const node = await start({ databaseFile, peers: [address], logger })
    const resumed = await node.resumed
    expect(resumed).to.include({ status: 'done', added: 7 })
    if (resumed.status !== 'done' || resumed.gap === undefined) {
      throw new Error('no gap')
    }
    expect(Number((resumed.gap.to - resumed.gap.from) / HOUR)).to.be.within(2, 3)
    expect(resumed.gap.to).to.equal(resumed.resumedFrom)
    const [data] = lines.find(([, text]) => text === 'resumed') ?? []
    expect(data).to.include({ added: 7 })
    expect(data).to.have.property('gap')
    await node.close()
    const short = await start({ databaseFile, peers: [address], resume: { windowMs: HOUR_MS } })
    expect(await short.resumed).to.include({ status: 'done', added: 0 })
  })

  it('asks for nothing that its retention would delete', async () => {
    const databaseFile = await fileOf(5)
    const { address } = await nodeWith([
      [4, 5],
      [1, 3]
    ])
    const retention = { maxAgeMs: 2 * HOUR_MS }
    const node = await start({ databaseFile, peers: [address], retention })
    expect(await node.resumed).to.include({ status: 'done', added: 3 })
  })

  it('can be switched off, is off without a file, and then asks nobody', async () => {
    const databaseFile = await fileOf(2)
    const peer = await startStorePeer(resources, () => ({}))
    for (const options of [{ databaseFile, resume: false }, {}]) {
      const node = await start(options)
      expect(await node.resumed).to.deep.equal({ status: 'off' })
      await peer.dial(node)
      await waitFor('the nodes to be joined', () => node.relayPeerCount(TOPIC) === 1)
      await pushTo(node, 1)
    }
    expect(peer.requests).to.deep.equal([])
    const wrong = await start({ resume: { windowMs: 0 } }).catch((error: unknown) => error)
    expect(wrong).to.include({ code: 'ERR_INVALID_ARGUMENT', parameter: 'resume.windowMs' })
  })

  it('turns to another peer when one hangs', async () => {
    const databaseFile = await fileOf(2)
    const { hashes, node: honest } = await nodeWith([[1, 12]])
    const hanging = await startStorePeer(resources, () => undefined)
    const node = await start({ databaseFile, requestTimeoutMs: 200, admin: { port: 0 } })
    await hanging.dial(node)
    await waitFor('it to be asked', () => hanging.requests.length > 0)
    await honest.connect(node.multiaddrs[0] ?? '')
    expect(await node.resumed).to.include({ status: 'done', added: hashes.length })
  })

  it('goes on where it was when it was closed in the midst of it, at another peer', async () => {
    const databaseFile = await fileOf(3)
    const messages = toMessages(5, now() - 2n * HOUR)
    const first = await startStorePeer(resources, ({ paginationCursor }) =>
      paginationCursor === undefined
        ? { messages: messages.map((each) => toEntry(each)), paginationCursor: hashOf(messages[4]) }
        : undefined
    )
    const before = await start({ databaseFile })
    await first.dial(before)
    await waitFor('the second page to be asked for', () => first.requests.length === 2)
    await before.close()
    expect(await before.resumed).to.include({ status: 'ended' })
    expect(before.messageCount()).to.equal(6)
    const second = await startStorePeer(resources, () => ({}))
    const after = await start({ databaseFile })
    await second.dial(after)
    expect(await after.resumed).to.include({ status: 'done', added: 0 })
    // first what was left of the way that was broken off, then the rest
    expect(second.requests.map(({ timeStart }) => timeStart)[0]).to.equal(messages[4]?.timestamp)
  })

  it('stores nothing of a peer that lies', async () => {
    const databaseFile = await fileOf(3)
    const time = now() - 2n * HOUR
    const good = makeMessage({ timestamp: time + 9n })
    const [wrong, ephemeral, large, foreign, old] = [
      makeMessage({ timestamp: time }),
      makeMessage({ timestamp: time + 1n, ephemeral: true }),
      makeMessage({ timestamp: time + 2n, payload: new Uint8Array(2_000) }),
      makeMessage({ timestamp: time + 3n }),
      makeMessage({ timestamp: time - 40n * HOUR })
    ]
    const liar = await startStorePeer(resources, () => ({
      messages: [
        toEntry(old),
        toEntry(wrong, TOPIC, new Uint8Array(32)),
        toEntry(ephemeral),
        toEntry(large),
        toEntry(foreign, '/waku/2/rs/42/2'),
        toEntry(good)
      ]
    }))
    const node = await start({ databaseFile, shards: [0, 1], maxMessageBytes: 1_000 })
    await liar.dial(node)
    expect(await node.resumed).to.include({ status: 'done', added: 1 })
    const client = await resources.client()
    const { hashes } = await query(client, node.multiaddrs[0])
    expect(hashes)
      .to.have.lengthOf(2)
      .and.to.include(toHex(messageHash(TOPIC, good)))
  })

  it('is no endless source for a peer that never comes to an end', async () => {
    const databaseFile = await fileOf(3)
    let time = now() - 2n * HOUR
    const liar = await startStorePeer(resources, () => {
      const messages = toMessages(10, time)
      time += 10n
      return {
        messages: messages.map((message) => toEntry(message)),
        paginationCursor: hashOf(messages.at(-1))
      }
    })
    const node = await start({ databaseFile, retention: { maxCount: 50 } })
    await liar.dial(node)
    const resumed = await node.resumed
    expect(resumed).to.have.nested.property('reason.code', 'ERR_LIMIT_EXCEEDED')
    expect(liar.requests.length).to.be.within(6, 7)
    expect(node.messageCount()).to.equal(50)
  })

  it('turns to another peer when one goes on for too long', async () => {
    const databaseFile = await fileOf(3)
    const { hashes, node: honest } = await nodeWith([[1, 12]])
    let time = now() - 2n * HOUR
    const slow = await startStorePeer(resources, () => {
      const [message] = toMessages(1, time++)
      return { messages: message ? [toEntry(message)] : [], paginationCursor: hashOf(message) }
    })
    const node = await start({ databaseFile, requestTimeoutMs: 100 })
    await slow.dial(node)
    await waitFor('it to be asked', () => slow.requests.length > 0)
    await honest.connect(node.multiaddrs[0] ?? '')
    expect(await node.resumed).to.include({ status: 'done' })
    expect(node.messageCount()).to.be.at.least(1 + slow.requests.length - 1 + hashes.length)
  })

  it('takes the word of those peers only that it was told to connect to', async () => {
    const databaseFile = await fileOf(2)
    const { hashes, address } = await nodeWith([[1, 4]])
    const uninvited = await startStorePeer(resources, () => ({}))
    const node = await start({ databaseFile, peers: ['/ip4/127.0.0.1/tcp/1'] })
    await uninvited.dial(node)
    await waitFor('it to be joined', () => node.relayPeerCount(TOPIC) === 1)
    await node.connect(address)
    expect(await node.resumed).to.include({ status: 'done', added: hashes.length })
    expect(uninvited.requests).to.deep.equal([])
  })

  it('resumes again after all peers were lost, from when it lost them', async () => {
    const [first, second] = [await start(), await nodeWith([])]
    const resume = { markIntervalMs: 2, windowMs: HOUR_MS / 3 }
    const ends: object[] = []
    const logger = toLogger((_level, data, text) => text === 'resumed' && ends.push(data))
    const node = await start({ resume, logger, peers: [first.multiaddrs[0] ?? ''] })
    expect(await node.resumed).to.include({ status: 'done', added: 0 })
    await first.close()
    await waitFor('the peer to be lost', () => node.relayPeerCount(TOPIC) === 0)
    // some time passes, as the clocks have it
    behindMs = -0.25 * HOUR_MS
    const missed = await pushTo(second.node, 3)
    behindMs = -0.4 * HOUR_MS
    missed.push(...(await pushTo(second.node, 30)))
    await node.connect(second.address)
    await waitFor('the end of it', () => ends.length === 2)
    expect(node.messageCount()).to.equal(missed.length)
    // it noted no time at which nobody relayed to it
    expect(ends[1]).to.include({ added: missed.length }).and.to.have.property('gap')
  })

  it('keeps until when it was online while it is', async () => {
    const databaseFile = await fileOf(3)
    behindMs = 2 * HOUR_MS
    const noted = Promise.withResolvers<void>()
    const logger = toLogger((_level, data, text) => {
      if (text === 'resuming' && (data as { stage?: string }).stage === 'tail' && behindMs === 0) {
        noted.resolve()
      }
    })
    const resume = { markIntervalMs: 5 }
    const peer = await start()
    const before = await start({ databaseFile, resume, logger, peers: [peer.multiaddrs[0] ?? ''] })
    expect(await before.resumed).to.include({ status: 'done' })
    behindMs = 0
    const onlineAt = now()
    await noted.promise
    await before.close()
    const asked = await startStorePeer(resources, () => ({}))
    const after = await start({ databaseFile })
    await asked.dial(after)
    expect(await after.resumed).to.include({ status: 'done' })
    const [request] = asked.requests as [StoreQueryRequest]
    expect(request.timeStart).to.equal((await resumedFrom(after)) ?? 0n)
    expect(Number((request.timeStart ?? 0n) - onlineAt) / 1e9).to.be.within(-21, 60)
  })

  it('ends when the node is closed before there is a peer', async () => {
    const node = await start({ databaseFile: await fileOf(1) })
    await node.close()
    expect(await node.resumed)
      .to.include({ status: 'ended' })
      .and.to.have.nested.property('reason.code', 'ERR_CLOSED')
  })

  it('waits for room when the disk is full, and then goes on', async () => {
    const databaseFile = await fileOf(3)
    const { address } = await nodeWith([[1, 150]])
    const failed = Promise.withResolvers<void>()
    const logger = toLogger((level) => level === 'warn' && failed.resolve())
    const node = await start({ databaseFile, logger })
    node.limitArchivePages(1)
    await node.connect(address)
    await failed.promise
    expect(node.messageCount()).to.equal(1)
    node.limitArchivePages(1_000_000)
    expect(await node.resumed).to.include({ status: 'done' })
    expect(node.messageCount()).to.equal(151)
  })

  it('has an option on the command line', () => {
    const optionOf = (...args: string[]) => {
      const command = parseCommand(args)
      return command.kind === 'run' ? command.options.resume : undefined
    }
    expect(optionOf()).to.equal(undefined)
    expect(optionOf('--resume-hours', '0')).to.equal(false)
    expect(optionOf('--resume-hours', '2')).to.deep.equal({ windowMs: 2 * HOUR_MS })
  })
})

async function resumedFrom(node: ServiceNode): Promise<bigint | undefined> {
  const resumed = await node.resumed
  return resumed.status === 'done' ? resumed.resumedFrom : undefined
}

function toMessages(count: number, time: bigint): WakuMessage[] {
  return Array.from({ length: count }, (_, index) =>
    makeMessage({ timestamp: time + BigInt(index) })
  )
}

function hashOf(message: WakuMessage | undefined): Uint8Array<ArrayBuffer> | undefined {
  return message && messageHash(TOPIC, message)
}

function toLogger(log: (level: keyof Logger, data: object, text: string) => unknown): Logger {
  const at = (level: keyof Logger) => (data: object, text: string) => {
    log(level, data, text)
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
