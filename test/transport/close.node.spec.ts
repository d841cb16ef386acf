import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { NODE_DEFAULTS } from '../../src/transport/node.ts'
import { caught } from './helpers/caught.ts'
import { askEcho, closeLightNodes, startLightNode } from './helpers/light-node.ts'
import { startBlackHole, startProxy, stopRawServers } from './helpers/raw-server.ts'
import { startScriptedNode, stopScriptedNodes } from './helpers/scripted-node.ts'

const PEER_ID = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'
const BOUND_MS = NODE_DEFAULTS.closeTimeoutMs + 1500

async function elapsedMs(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

describe('LightNode.close', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopScriptedNodes()
    await stopRawServers()
  })

  it('rejects calls under way and later ones with ClosedError', async () => {
    const service = await startScriptedNode({ echo: () => undefined })
    const hole = await startBlackHole()
    const node = await startLightNode([
      service.address,
      `/ip4/127.0.0.1/tcp/${hole.port}/ws/p2p/${PEER_ID}`
    ])
    const written = Promise.withResolvers<void>()
    const calls = [
      askEcho(node, { peerId: service.peerId, onWrite: () => written.resolve() }),
      askEcho(node, { peerId: PEER_ID })
    ]
    const outcomes = Promise.all(calls.map(caught))
    await written.promise
    await hole.until(1)
    await Promise.all([node.close(), node.close()])
    const later = [await caught(askEcho(node)), await caught(node.network())]
    for (const error of [...later, ...(await outcomes)]) {
      expect(error).to.include({ code: 'ERR_CLOSED' })
    }
    await node.close()
    await hole.until(0)
  })

  it('rejects a learning under way with ClosedError', async () => {
    const hole = await startBlackHole()
    const silent = await startScriptedNode({ metadata: 'silent' })
    const node = await startLightNode(
      [`/ip4/127.0.0.1/tcp/${hole.port}/ws/p2p/${PEER_ID}`, silent.address],
      { clusterId: undefined, shardCount: undefined }
    )
    const learning = node.network()
    const outcome = caught(learning)
    await hole.until(1)
    await node.close()
    expect(await outcome).to.include({ code: 'ERR_CLOSED' })
    await hole.until(0)
  })

  it('closes a connection in good order, and tells listeners once', async () => {
    const service = await startScriptedNode()
    const proxy = await startProxy(service.port)
    const node = await startLightNode([`/ip4/127.0.0.1/tcp/${proxy.port}/ws/p2p/${service.peerId}`])
    await askEcho(node)
    const changes: unknown[] = []
    node.onConnectionChange((change) => changes.push(change))
    expect(await elapsedMs(() => node.close())).to.be.lessThan(500)
    expect(changes).to.deep.equal([{ peerId: service.peerId, connected: false }])
    expect(node.connectedPeers).to.deep.equal([])
    await proxy.until(0)
  })

  it('is bounded though the peer does not take part', async () => {
    const service = await startScriptedNode()
    const proxy = await startProxy(service.port)
    const node = await startLightNode([`/ip4/127.0.0.1/tcp/${proxy.port}/ws/p2p/${service.peerId}`])
    await askEcho(node)
    proxy.freeze()
    expect(await elapsedMs(() => node.close())).to.be.lessThan(BOUND_MS)
    // the socket is gone by now; that it is takes some turns to get to the other side
    for (let turn = 0; turn < 50 && proxy.open() > 0; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(proxy.open()).to.equal(0)
  })

  it('is bounded while a dial hangs, at any stage', async () => {
    for (const mode of ['tcp', 'websocket'] as const) {
      const hole = await startBlackHole(mode)
      const node = await startLightNode([`/ip4/127.0.0.1/tcp/${hole.port}/ws/p2p/${PEER_ID}`])
      await hole.until(1)
      expect(await elapsedMs(() => node.close())).to.be.lessThan(BOUND_MS)
      await hole.until(0)
    }
  })

  it('lets a process end that was in the middle of things', async () => {
    const service = await startScriptedNode({ echo: () => undefined })
    const proxy = await startProxy(service.port)
    const hole = await startBlackHole('websocket')
    const child = fork(
      new URL('./helpers/closing-process.ts', import.meta.url),
      [
        `/ip4/127.0.0.1/tcp/${proxy.port}/ws/p2p/${service.peerId}`,
        `/ip4/127.0.0.1/tcp/${hole.port}/ws/p2p/${PEER_ID}`
      ],
      { execArgv: ['--import', 'tsx'] }
    )
    const ended = once(child, 'exit')
    const connected = once(child, 'message')
    expect((await connected)[0]).to.equal('asking')
    proxy.freeze()
    child.send('close')
    child.disconnect()
    expect(await ended).to.deep.equal([0, null])
  })
})
