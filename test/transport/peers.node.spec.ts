import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import type { Libp2p, Stream } from '@libp2p/interface'
import { webSockets } from '@libp2p/websockets'
import { expect } from 'chai'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import { createServicePeers, LightPushClient, StoreClient } from 'waku-light'
import { RemoteStatusError } from 'waku-light/errors'
import { caught, countedSignal } from './helpers/caught.ts'
import { askEcho, BODY, closeLightNodes, startLightNode } from './helpers/light-node.ts'
import { closedPort, stopRawServers } from './helpers/raw-server.ts'
import {
  ECHO_PROTOCOL,
  echo,
  startScriptedNode,
  stopScriptedNodes
} from './helpers/scripted-node.ts'

const PEER_ID = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'

describe('createServicePeers', () => {
  const own = new Set<Libp2p>()
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => {
    warnings.push(warning)
  }

  before(() => process.on('warning', onWarning))
  after(() => {
    process.off('warning', onWarning)
    expect(warnings).to.deep.equal([])
  })

  afterEach(async () => {
    await closeLightNodes()
    await Promise.all(Array.from(own, async (libp2p) => await libp2p.stop()))
    own.clear()
    await stopScriptedNodes()
    await stopRawServers()
  })

  async function startLibp2p(services: Libp2pOptions['services'] = {}): Promise<Libp2p> {
    const libp2p = await createLibp2p({
      services,
      transports: [webSockets()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      connectionGater: { denyDialMultiaddr: () => false }
    })
    own.add(libp2p)
    return libp2p
  }

  it('works over a libp2p of the caller, which it leaves running', async () => {
    const service = await startScriptedNode({ asks: true })
    const libp2p = await startLibp2p()
    const servicePeers = await createServicePeers(libp2p, { serviceNodes: [service.address] })
    expect(service.accepted()).to.equal(0)
    const { signal } = new AbortController()
    expect(await servicePeers.network(signal)).to.deep.equal({ clusterId: 1, shardCount: 8 })
    expect((await askEcho({ servicePeers })).bytes).to.deep.equal(BODY)
    expect(await service.told).to.deep.equal({ clusterId: 1, shards: [] })
    await servicePeers.close()
    await servicePeers.close()
    expect(await caught(askEcho({ servicePeers }))).to.include({ code: 'ERR_CLOSED' })
    expect(await caught(servicePeers.network(signal))).to.include({ code: 'ERR_CLOSED' })
    expect(libp2p.status).to.equal('started')
    expect(libp2p.getConnections()).to.have.length(1)
    expect(libp2p.getProtocols()).to.deep.equal([])
    expect(new StoreClient({ servicePeers })).to.be.instanceOf(StoreClient)
    expect(new LightPushClient({ servicePeers })).to.be.instanceOf(LightPushClient)
  })

  it('settles a thousand requests at once, no more than its limit of them at a time', async () => {
    let running = 0
    let most = 0
    const service = await startScriptedNode({
      echo: async (stream) => {
        most = Math.max(most, ++running)
        // a request that comes in one piece is answered in the turn in which it comes
        await new Promise((resolve) => setTimeout(resolve, 1))
        await echo(stream)
        running--
      }
    })
    const node = await startLightNode([service.address])
    const counted = countedSignal()
    const bodies = Array.from({ length: 1000 }, (_, index) =>
      Uint8Array.of(index >> 8, index & 0xff)
    )
    const replies = await Promise.all(
      bodies.map((body) => askEcho(node, { encode: () => body, signal: counted.signal }))
    )
    expect(replies.map(({ bytes }) => bytes)).to.deep.equal(bodies)
    expect(most).to.be.within(16, 32)
    expect(counted.listeners()).to.equal(0)
    expect(service.accepted()).to.equal(1)
    expect(service.requests).to.have.length(1)
  })

  it('lets the next request in when one is aborted, running or waiting', async () => {
    const released = Promise.withResolvers<void>()
    const service = await startScriptedNode({
      echo: async (stream) => {
        await released.promise
        await echo(stream)
      }
    })
    const node = await startLightNode([service.address], { maxRequestsPerPeer: 1 })
    const [running, waiting] = [new AbortController(), new AbortController()]
    const reason = new Error('mine')
    const first = Promise.withResolvers<void>()
    const one = askEcho(node, { signal: running.signal, onWrite: () => first.resolve() })
    const two = askEcho(node, { signal: waiting.signal, onWrite: () => expect.fail('it was sent') })
    const reached = Promise.withResolvers<void>()
    const three = askEcho(node, { onWrite: () => reached.resolve() })
    await first.promise
    waiting.abort(reason)
    expect(await caught(two)).to.equal(reason)
    running.abort(reason)
    expect(await caught(one)).to.equal(reason)
    await reached.promise
    released.resolve()
    expect((await three).bytes).to.deep.equal(BODY)
  })

  it('ranks nodes by what they were lately, for each service apart', async () => {
    const skipped = '/ip4/1.2.3.4/tcp/1'
    const dead = `/ip4/127.0.0.1/tcp/${await closedPort()}/ws/p2p/${PEER_ID}`
    let behave: (stream: Stream) => unknown = (stream) => stream.abort(new Error('no'))
    const flaky = await startScriptedNode({
      echo: async (stream) => {
        await behave(stream)
      }
    })
    const good = await startScriptedNode()
    const libp2p = await startLibp2p()
    const servicePeers = await createServicePeers(libp2p, {
      serviceNodes: [skipped, dead, flaky.address, good.address],
      clusterId: 1,
      shardCount: 8
    })
    const echoes = [ECHO_PROTOCOL]
    const order = (protocols?: string[]): string[] =>
      servicePeers.candidates(protocols).map(({ peerId }) => peerId)
    expect(order(echoes)).to.deep.equal([PEER_ID, flaky.peerId, good.peerId, skipped])
    await askEcho({ servicePeers }, { peerId: good.peerId })
    expect(order(echoes)).to.deep.equal([good.peerId, PEER_ID, flaky.peerId, skipped])
    for (const peerId of order(echoes)) {
      await askEcho({ servicePeers }, { peerId }).catch(() => undefined)
    }
    // connected, and failed; not to be reached, and failed
    expect(order(echoes)).to.deep.equal([good.peerId, flaky.peerId, PEER_ID, skipped])
    expect(order(['/other/1'])).to.deep.equal([flaky.peerId, good.peerId, PEER_ID, skipped])

    const refused = (statusCode: number): RemoteStatusError =>
      new RemoteStatusError({ statusCode, statusDesc: '', requestId: '', peerId: good.peerId })
    servicePeers.note?.(good, echoes, refused(429))
    expect(order(echoes)).to.deep.equal([flaky.peerId, PEER_ID, good.peerId, skipped])
    expect(order(['/other/1'])[1]).to.equal(good.peerId)
    servicePeers.note?.(good, echoes)
    servicePeers.note?.(flaky, echoes)
    servicePeers.note?.(good, echoes, refused(503))
    expect(order(echoes)).to.deep.equal([flaky.peerId, good.peerId, PEER_ID, skipped])
    servicePeers.note?.(good, echoes)
    servicePeers.note?.(flaky, echoes) // last: what is known fades with every millisecond
    const aborting = new AbortController()
    behave = () => aborting.abort()
    await caught(askEcho({ servicePeers }, { peerId: flaky.peerId, signal: aborting.signal }))
    expect(order(echoes)[0]).to.equal(flaky.peerId)
  })

  it('puts nodes behind that are known to lack a service, and such as could not be reached for another', async () => {
    const dead = `/ip4/127.0.0.1/tcp/${await closedPort()}/ws/p2p/${PEER_ID}`
    const lacking = await startScriptedNode({ noEcho: true })
    const other = await startScriptedNode()
    const servicePeers = await createServicePeers(await startLibp2p({ identify: identify() }), {
      serviceNodes: [lacking.address, dead, other.address],
      clusterId: 1,
      shardCount: 8
    })
    const order = (protocols: string[]): string[] =>
      servicePeers.candidates(protocols).map(({ peerId }) => peerId)
    await new Promise<void>((resolve) => {
      servicePeers.onChange(() => servicePeers.services !== undefined && resolve())
      askEcho({ servicePeers }, { peerId: lacking.peerId }).catch(() => undefined)
    })
    expect(order([ECHO_PROTOCOL])).to.deep.equal([PEER_ID, other.peerId, lacking.peerId])
    const ping = '/ipfs/ping/1.0.0'
    expect(order([ping])).to.deep.equal([lacking.peerId, PEER_ID, other.peerId])
    await caught(askEcho({ servicePeers }, { peerId: PEER_ID, protocols: [ping] }))
    expect(order([ECHO_PROTOCOL])).to.deep.equal([other.peerId, PEER_ID, lacking.peerId])
  })

  it('holds no failed dial against a node that was reached since', async () => {
    const port = await closedPort()
    const privateKey = await generateKeyPair('Ed25519')
    const peerId = privateKey.publicKey.toString()
    const untried = `/ip4/127.0.0.1/tcp/${await closedPort()}/ws/p2p/${PEER_ID}`
    const libp2p = await startLibp2p()
    const servicePeers = await createServicePeers(libp2p, {
      serviceNodes: [`/ip4/127.0.0.1/tcp/${port}/ws/p2p/${peerId}`, untried],
      clusterId: 1,
      shardCount: 8
    })
    const first = (): string | undefined => servicePeers.candidates(['/other/1'])[0]?.peerId
    await caught(askEcho({ servicePeers }, { peerId }))
    expect(first()).to.equal(PEER_ID)
    await startScriptedNode({ privateKey, port })
    await askEcho({ servicePeers }, { peerId })
    await Promise.all(libp2p.getConnections().map((connection) => connection.close()))
    expect(first()).to.equal(peerId)
    const others = await createServicePeers(await startLibp2p(), {
      serviceNodes: [untried, `/ip4/127.0.0.1/tcp/${port}/ws/p2p/${peerId}`],
      clusterId: 1,
      shardCount: 8
    })
    await askEcho({ servicePeers: others }, { peerId })
    expect(others.candidates(['/other/1'])[0]?.peerId).to.equal(peerId)
    await Promise.all([...own].flatMap((one) => one.getConnections().map((open) => open.close())))
    expect(others.candidates(['/other/1'])[0]?.peerId).to.equal(PEER_ID)
  })

  it('holds nothing against a node while there is no network at all', async () => {
    const dead = `/ip4/127.0.0.1/tcp/${await closedPort()}/ws/p2p/${PEER_ID}`
    const good = await startScriptedNode()
    const libp2p = await startLibp2p()
    const servicePeers = await createServicePeers(libp2p, {
      serviceNodes: [dead, good.address],
      clusterId: 1,
      shardCount: 8
    })
    const first = (): string | undefined => servicePeers.candidates([ECHO_PROTOCOL])[0]?.peerId
    const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
    Object.defineProperty(globalThis, 'navigator', { value: { onLine: false }, configurable: true })
    try {
      await caught(askEcho({ servicePeers }, { peerId: PEER_ID }))
      expect(first()).to.equal(PEER_ID)
    } finally {
      Object.defineProperty(globalThis, 'navigator', navigator as PropertyDescriptor)
    }
    await caught(askEcho({ servicePeers }, { peerId: PEER_ID }))
    expect(first()).to.equal(good.peerId)
  })

  it('has a queue for each node and service, whose length shows', async () => {
    const held: (() => void)[] = []
    const service = await startScriptedNode({
      echo: async (stream) => {
        await new Promise<void>((resolve) => {
          held.push(resolve)
        })
        await echo(stream)
      }
    })
    const other = '/waku-light/test/other/1.0.0'
    await service.libp2p.handle(other, echo)
    const node = await startLightNode([service.address], { maxRequestsPerPeer: 2 })
    const { peerId } = service
    const echoes = Array.from({ length: 5 }, () => askEcho(node))
    while (held.length < 2) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(node.queues).to.deep.equal([{ peerId, service: ECHO_PROTOCOL, running: 2, waiting: 3 }])
    expect((await askEcho(node, { protocols: [other] })).protocol).to.equal(other)
    for (let index = 0; index < 5; index++) {
      while (held.length <= index) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      held[index]?.()
    }
    await Promise.all(echoes)
    expect(node.queues).to.deep.equal([])
  })

  it('shows no credentials in errors and log lines', async () => {
    const lines: string[] = []
    const log = (message: string, data?: object): void => {
      lines.push(message, JSON.stringify(data))
    }
    const servicePeers = await createServicePeers(await startLibp2p(), {
      serviceNodes: [
        'wss://user:secret@a.example/?key=secret',
        '/dns4/u:secret@b.example/tcp/1/ws'
      ],
      logger: { debug: log, info: log, warn: log, error: log }
    })
    const error = await caught(servicePeers.network(new AbortController().signal))
    expect(error).to.include({ code: 'ERR_NO_USABLE_PEER' })
    const { failures } = error as unknown as { failures: { peerId: string; error: Error }[] }
    expect(failures).to.have.length(2)
    const told = [
      error.message,
      ...failures.flatMap((failure) => [failure.peerId, String(failure.error)]),
      ...servicePeers.candidates().map(({ peerId }) => peerId),
      ...lines
    ].join('\n')
    expect(told).to.include('a.example')
    expect(told).not.to.include('secret')
  })
})
