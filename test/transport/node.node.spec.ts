import { generateKeyPair } from '@libp2p/crypto/keys'
import { expect } from 'chai'
import { ClusterMismatchError } from '../../src/errors.ts'
import { createLightNode, type LightNodeOptions } from '../../src/transport/node.ts'
import { caught, countedSignal } from './helpers/caught.ts'
import { askEcho, BODY, closeLightNodes, nextChange, startLightNode } from './helpers/light-node.ts'
import { closedPort, startBlackHole, startProxy, stopRawServers } from './helpers/raw-server.ts'
import { ask, startScriptedNode, stopScriptedNodes } from './helpers/scripted-node.ts'

const ABSENT_PEER = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'
const UNKNOWN_NETWORK = { clusterId: undefined, shardCount: undefined }

const at = (port: number, peerId = ABSENT_PEER): string =>
  `/ip4/127.0.0.1/tcp/${port}/ws/p2p/${peerId}`

describe('createLightNode', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopScriptedNodes()
    await stopRawServers()
  })

  it('connects ahead of the first call, and asks', async () => {
    const service = await startScriptedNode()
    const node = await startLightNode([service.address])
    expect(await nextChange(node, true)).to.equal(service.peerId)
    const reply = await askEcho(node)
    expect(reply.bytes).to.deep.equal(BODY)
    expect(reply.peerId).to.equal(service.peerId)
    expect(service.accepted()).to.equal(1)
  })

  it('answers the metadata request of a node at once, with our cluster', async () => {
    const service = await startScriptedNode({ asks: true })
    await startLightNode([service.address])
    expect(await service.told).to.deep.equal({ clusterId: 1, shards: [] })
  })

  it('answers a node of another cluster with ours, not with its own', async () => {
    const service = await startScriptedNode({ asks: true, clusterId: 2, metadata: 'silent' })
    await startLightNode([service.address])
    expect(await service.told).to.deep.equal({ clusterId: 1, shards: [] })
  })

  it("answers with the node's own cluster while ours is not known", async () => {
    const service = await startScriptedNode({ asks: true, clusterId: 77, metadata: 'silent' })
    await startLightNode([service.address], UNKNOWN_NETWORK)
    expect(await service.told).to.deep.equal({ clusterId: 77, shards: [] })
  })

  it('states cluster 0 where that is ours', async () => {
    const service = await startScriptedNode({ asks: true, clusterId: 0 })
    const node = await startLightNode([service.address], { clusterId: 0 })
    expect(await service.told).to.deep.equal({ clusterId: 0, shards: [] })
    await askEcho(node)
    expect(service.requests).to.deep.equal([{ clusterId: 0, shards: [] }])
  })

  it('learns the network from the first node that tells, past black holes', async () => {
    const hole = await startBlackHole()
    const silent = await startScriptedNode({ metadata: 'silent' })
    const service = await startScriptedNode({ clusterId: 66, shards: [0, 1, 2] })
    const node = await startLightNode(
      [at(hole.port), silent.address, service.address],
      UNKNOWN_NETWORK
    )
    expect(await node.network()).to.deep.equal({ clusterId: 66, shardCount: 3 })
    expect(await node.network()).to.deep.equal({ clusterId: 66, shardCount: 3 })
    expect(service.requests).to.have.length(1)
  })

  it('gives a reason for each node when none tells its network', async () => {
    const refused = at(await closedPort())
    const silent = await startScriptedNode({ metadata: 'silent' })
    const missing = await startScriptedNode({ metadata: 'missing' })
    const vague = await startScriptedNode({ clusterId: 66, shards: [] })
    const node = await startLightNode(
      [refused, '/ip4/10.0.0.1/tcp/1/ws', silent.address, missing.address, vague.address],
      { ...UNKNOWN_NETWORK, metadataTimeoutMs: 400 }
    )
    const error = await caught(node.network())
    expect(error).to.include({ code: 'ERR_NO_USABLE_PEER' })
    const { failures } = error as unknown as {
      failures: { peerId: string; error: { code: string } }[]
    }
    const codes = new Map(failures.map((failure) => [failure.peerId, failure.error.code]))
    expect(Object.fromEntries(codes)).to.deep.equal({
      [ABSENT_PEER]: 'ERR_CONNECTION',
      '/ip4/10.0.0.1/tcp/1/ws': 'ERR_ADDRESS',
      [silent.peerId]: 'ERR_TIMEOUT',
      [missing.peerId]: 'ERR_UNSUPPORTED',
      [vague.peerId]: 'ERR_UNSUPPORTED'
    })
  })

  it('asks a node again that did not tell its network', async () => {
    const service = await startScriptedNode({ metadata: 'silent once' })
    const node = await startLightNode([service.address], {
      ...UNKNOWN_NETWORK,
      metadataTimeoutMs: 400
    })
    expect(await caught(node.network())).to.include({ code: 'ERR_NO_USABLE_PEER' })
    expect(await node.network()).to.deep.equal({ clusterId: 1, shardCount: 8 })
    expect(service.accepted()).to.equal(1)
  })

  it('ends network() at its deadline and on abort, though the learning goes on', async () => {
    const hole = await startBlackHole()
    const node = await startLightNode([at(hole.port)], UNKNOWN_NETWORK)
    expect(await caught(node.network({ timeoutMs: 20 }))).to.include({ code: 'ERR_TIMEOUT' })
    const counted = countedSignal()
    const reason = new Error('mine')
    const learning = node.network({ signal: counted.signal })
    counted.abort(reason)
    expect(await caught(learning)).to.equal(reason)
    expect(counted.listeners()).to.equal(0)
  })

  it('leaves a node of another cluster for good, with both values', async () => {
    for (const asks of [false, true]) {
      const service = await startScriptedNode({ clusterId: 2, asks })
      const node = await startLightNode([service.address])
      const closed = new Promise<void>((resolve) => {
        service.libp2p.addEventListener('connection:close', () => resolve(), { once: true })
      })
      for (let time = 0; time < 2; time++) {
        const error = await caught(askEcho(node))
        expect(error).to.be.instanceOf(ClusterMismatchError)
        expect(error).to.include({ clusterId: 1, remoteClusterId: 2, peerId: service.peerId })
      }
      await closed
      expect(node.connectedPeers).to.deep.equal([])
      expect(service.accepted()).to.equal(1)
    }
  })

  it('says so too when the node tells only in the middle of a request', async () => {
    const service = await startScriptedNode({
      metadata: 'missing',
      echo: async (_, connection) => {
        await ask(connection, { clusterId: 2, shards: [] })
      }
    })
    const node = await startLightNode([service.address])
    expect(await caught(askEcho(node))).to.be.instanceOf(ClusterMismatchError)
  })

  it('leaves the others when the network was learnt from one', async () => {
    const first = await startScriptedNode({ clusterId: 66, shards: [0] })
    const other = await startScriptedNode({ clusterId: 67, shards: [0] })
    const node = await startLightNode([first.address, other.address], UNKNOWN_NETWORK)
    const { clusterId } = await node.network()
    const [ours, theirs] = clusterId === 66 ? [first, other] : [other, first]
    expect(await caught(askEcho(node, { peerId: theirs.peerId }))).to.be.instanceOf(
      ClusterMismatchError
    )
    expect((await askEcho(node)).peerId).to.equal(ours.peerId)
    expect(ours.requests).to.have.length(1)
  })

  it('uses a node that lacks metadata, or does not answer it', async () => {
    const missing = await startScriptedNode({ metadata: 'missing' })
    const silent = await startScriptedNode({ metadata: 'silent' })
    const node = await startLightNode([missing.address, silent.address], { metadataTimeoutMs: 50 })
    for (const peerId of [missing.peerId, silent.peerId, silent.peerId]) {
      expect((await askEcho(node, { peerId })).peerId).to.equal(peerId)
    }
    expect(silent.requests).to.have.length(1)
  })

  it('tells what failed, within its deadline', async () => {
    const hole = await startBlackHole()
    const upgraded = await startBlackHole('websocket')
    const service = await startScriptedNode({ noEcho: true })
    const stranger = at(service.port)
    const node = await startLightNode(
      [at(await closedPort()), at(hole.port, 'QmWATWQ7fVPP2EFGu71UkfnqhYXDYH566qy47CnJDgvs8u')],
      { dialTimeoutMs: 100 }
    )
    expect(await caught(askEcho(node, { peerId: ABSENT_PEER }))).to.include({
      code: 'ERR_CONNECTION'
    })
    const timedOut = await caught(
      askEcho(node, { peerId: 'QmWATWQ7fVPP2EFGu71UkfnqhYXDYH566qy47CnJDgvs8u' })
    )
    expect(timedOut).to.include({ code: 'ERR_TIMEOUT', operation: 'dial', timeoutMs: 100 })
    const second = await startLightNode([at(upgraded.port)], { dialTimeoutMs: 100 })
    expect(await caught(askEcho(second))).to.include({ code: 'ERR_TIMEOUT', operation: 'dial' })
    const third = await startLightNode([service.address])
    expect(await caught(askEcho(third))).to.include({ code: 'ERR_UNSUPPORTED' })
    const fourth = await startLightNode([stranger])
    expect(await caught(askEcho(fourth))).to.include({ code: 'ERR_CONNECTION' })
    expect(await caught(askEcho(fourth, { peerId: 'nobody' }))).to.include({
      code: 'ERR_CONNECTION'
    })
  })

  it('says what was wrong with each address of a node, and goes to the next one', async () => {
    const service = await startScriptedNode()
    const hole = await startBlackHole()
    const node = await startLightNode(
      [at(hole.port, service.peerId), at(await closedPort(), service.peerId), service.address],
      { dialTimeoutMs: 600 }
    )
    expect((await askEcho(node)).peerId).to.equal(service.peerId)
    const refused = [at(await closedPort()), at(await closedPort())]
    const other = await startLightNode(refused)
    const error = await caught(askEcho(other))
    expect(error).to.include({ code: 'ERR_CONNECTION' })
    for (const address of refused) {
      expect(error.message).to.include(address)
    }
  })

  it('keeps the connection after a node closed a stream, sent garbage, or nothing', async () => {
    const replies: ((send: (bytes: Uint8Array) => void, end: () => void) => void)[] = [
      (send) => send(Uint8Array.of(3, ...BODY)),
      (_, end) => end(),
      (send) => send(Uint8Array.of(0xff, 0xff, 0xff, 0xff)),
      (send) => send(Uint8Array.of(0x80, 0x00)),
      () => undefined
    ]
    const codes: unknown[] = []
    const service = await startScriptedNode({
      echo: async (stream) => {
        const reply = replies.shift() ?? ((send) => send(Uint8Array.of(3, ...BODY)))
        reply(
          (bytes) => stream.send(bytes),
          () => stream.abort(new Error('no'))
        )
      }
    })
    const node = await startLightNode([service.address])
    await askEcho(node)
    for (let round = 0; round < 4; round++) {
      const signal = AbortSignal.timeout(100)
      const error = await caught(askEcho(node, { signal }))
      codes.push(error === signal.reason ? 'aborted' : (error as { code?: unknown }).code)
    }
    expect(codes).to.deep.equal([
      'ERR_CONNECTION',
      'ERR_LIMIT_EXCEEDED',
      'ERR_PROTOCOL_VIOLATION',
      'aborted'
    ])
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    expect(service.accepted()).to.equal(1)
  })

  it('takes an answer that comes with the negotiation, before the request', async () => {
    const service = await startScriptedNode({
      echo: async (stream) => {
        stream.send(Uint8Array.of(3, ...BODY))
        await stream.close()
      }
    })
    const node = await startLightNode([service.address])
    for (let round = 0; round < 20; round++) {
      expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    }
  })

  it('dials again when it is asked again, after the node was restarted', async () => {
    const privateKey = await generateKeyPair('Ed25519')
    const service = await startScriptedNode({ privateKey })
    const node = await startLightNode([service.address])
    await askEcho(node)
    const lost = nextChange(node, false)
    await service.stop()
    expect(await lost).to.equal(service.peerId)
    expect(node.connectedPeers).to.deep.equal([])
    expect(await caught(askEcho(node))).to.include({ code: 'ERR_CONNECTION' })
    await startScriptedNode({ privateKey, port: service.port })
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    expect(node.connectedPeers).to.deep.equal([service.peerId])
  })

  it('dials again at once when the node has gone away from a connection that is still open', async () => {
    const service = await startScriptedNode()
    const node = await startLightNode([service.address])
    await askEcho(node)
    // libp2p says so to the other side, and then fails to close the websocket
    for (const connection of service.libp2p.getConnections()) {
      connection.abort(new Error('gone'))
    }
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    expect(service.accepted()).to.equal(2)
  })

  it('learns the peer id of an address that names none, and holds to one connection', async () => {
    const service = await startScriptedNode({ asks: true })
    const [bare = ''] = service.address.split('/p2p/')
    const node = await startLightNode([bare])
    expect(node.servicePeers.candidates().map(({ peerId }) => peerId)).to.deep.equal([bare])
    for (const peerId of [bare, bare, service.peerId]) {
      expect((await askEcho(node, { peerId })).peerId).to.equal(service.peerId)
    }
    expect(node.servicePeers.candidates().map(({ peerId }) => peerId)).to.deep.equal([
      service.peerId
    ])
    expect(service.accepted()).to.equal(1)
  })

  it('tells each change of connected peers once, and none after the listener is gone', async () => {
    const service = await startScriptedNode()
    const node = await startLightNode([service.address])
    const changes: unknown[] = []
    const broken = node.onConnectionChange(() => {
      throw new Error('a listener that throws')
    })
    const end = node.onConnectionChange((change) => changes.push(change))
    await askEcho(node)
    expect(node.connectedPeers).to.deep.equal([service.peerId])
    const lost = nextChange(node, false)
    await Promise.all(service.libp2p.getConnections().map((connection) => connection.close()))
    await lost
    end()
    broken()
    await askEcho(node)
    expect(changes).to.deep.equal([
      { peerId: service.peerId, connected: true },
      { peerId: service.peerId, connected: false }
    ])
  })

  it('closes a connection whose link is dead', async () => {
    const service = await startScriptedNode()
    const proxy = await startProxy(service.port)
    const node = await startLightNode([at(proxy.port, service.peerId)], {
      pingIntervalMs: 50,
      pingTimeoutMs: 50
    })
    await askEcho(node)
    const lost = nextChange(node, false)
    proxy.freeze()
    expect(await lost).to.equal(service.peerId)
    await proxy.until(0)
  }).timeout(4000)

  it('opens no connection but to what is configured', async () => {
    const hidden = await startScriptedNode()
    const service = await startScriptedNode()
    await service.libp2p.dial(hidden.libp2p.getMultiaddrs())
    const node = await startLightNode([service.address])
    await askEcho(node)
    const accepted = hidden.accepted()
    expect(await caught(askEcho(node, { peerId: hidden.peerId }))).to.include({
      code: 'ERR_CONNECTION'
    })
    expect(hidden.accepted()).to.equal(accepted)
    expect(node.connectedPeers).to.deep.equal([service.peerId])
  })

  it('refuses streams of a node for anything but metadata, identify and ping', async () => {
    const service = await startScriptedNode()
    const identified = new Promise<readonly string[]>((resolve) => {
      service.libp2p.addEventListener('peer:identify', ({ detail }) => resolve(detail.protocols))
    })
    const node = await startLightNode([service.address])
    await askEcho(node)
    const [connection] = service.libp2p.getConnections()
    const refused = async (protocol: string): Promise<string> =>
      (await caught(connection?.newStream([protocol]) ?? Promise.resolve())).name
    for (const protocol of [
      '/vac/waku/store-query/3.0.0',
      '/ipfs/id/push/1.0.0',
      '/meshsub/1.1.0'
    ]) {
      expect(await refused(protocol), protocol).to.equal('UnsupportedProtocolError')
    }
    expect((await identified).toSorted()).to.deep.equal([
      '/ipfs/id/1.0.0',
      '/ipfs/ping/1.0.0',
      '/vac/waku/metadata/1.0.0'
    ])
  })

  it('tells nodes nothing of the machine it runs on', async () => {
    const service = await startScriptedNode()
    const identified = new Promise<string | undefined>((resolve) => {
      service.libp2p.addEventListener('peer:identify', ({ detail }) => resolve(detail.agentVersion))
    })
    await startLightNode([service.address])
    expect(await identified).to.equal('waku-light')
  })

  it('has a fresh peer id unless it is given a key', async () => {
    const peerIds = [await startLightNode([]), await startLightNode([])].map(({ peerId }) => peerId)
    expect(new Set(peerIds).size).to.equal(2)
    for (const type of ['Ed25519', 'secp256k1'] as const) {
      const privateKey = await generateKeyPair(type)
      const node = await startLightNode([], { privateKey })
      expect(node.peerId).to.equal(privateKey.publicKey.toString())
    }
  })

  it('names the option that is wrong', async () => {
    const cases: [string, object | undefined][] = [
      ['serviceNodes', undefined],
      ['serviceNodes', {}],
      ['serviceNodes', { serviceNodes: '/dns4/a.example/tcp/443/wss' }],
      ['pingIntervalMs', { serviceNodes: [], pingIntervalMs: 0 }],
      ['dialTimeoutMs', { serviceNodes: [], dialTimeoutMs: -1 }],
      ['metadataTimeoutMs', { serviceNodes: [], metadataTimeoutMs: Number.NaN }],
      ['maxRequestsPerPeer', { serviceNodes: [], maxRequestsPerPeer: 0 }],
      ['privateKey', { serviceNodes: [], privateKey: new Uint8Array(5) }],
      ['clusterId', { serviceNodes: [], clusterId: 1 }]
    ]
    for (const [parameter, options] of cases) {
      const error = await caught(createLightNode(options as LightNodeOptions))
      expect(error, JSON.stringify(options)).to.include({ code: 'ERR_INVALID_ARGUMENT', parameter })
    }
  })

  it('reports skipped addresses to a logger, and survives one that throws', async () => {
    const lines: unknown[] = []
    const log = (message: string, data?: object): void => {
      lines.push([message, data])
      throw new Error('a logger that throws')
    }
    const service = await startScriptedNode()
    const node = await startLightNode(
      [`/ip4/10.0.0.1/tcp/1/ws/p2p/${service.peerId}`, service.address],
      {
        logger: { debug: log, info: log, warn: log, error: log }
      }
    )
    expect(lines[0]).to.deep.equal([
      'address skipped',
      {
        peerId: service.peerId,
        reason: `/ip4/10.0.0.1/tcp/1/ws/p2p/${service.peerId}: is in a private network; set allowPrivateAddresses to allow it`
      }
    ])
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
  })
})
