import { expect } from 'chai'
import { createSocket } from '../../src/transport/socket.ts'
import { caught, withCountedTimers } from './helpers/caught.ts'
import { askEcho, BODY, closeLightNodes, nextChange, startLightNode } from './helpers/light-node.ts'
import { startBlackHole, startProxy, stopRawServers } from './helpers/raw-server.ts'
import { startScriptedNode, stopScriptedNodes } from './helpers/scripted-node.ts'

const PEER_ID = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'

describe('createSocket', () => {
  afterEach(stopRawServers)

  async function opened(): Promise<ReturnType<typeof createSocket> & { gone(): Promise<void> }> {
    const hole = await startBlackHole('websocket')
    const made = createSocket(`ws://127.0.0.1:${hole.port}`)
    await new Promise((resolve) => made.socket.addEventListener('open', resolve, { once: true }))
    return { ...made, gone: () => hole.until(0) }
  }

  it('ends at once when a connection is aborted', async () => {
    await withCountedTimers(async (pending) => {
      const { socket, closed, gone } = await opened()
      const before = pending()
      socket.close(1006)
      expect(pending()).to.equal(before)
      await Promise.all([closed, gone()])
    })
  })

  it('gives the peer a while to take part in a close, once', async () => {
    await withCountedTimers(async (pending) => {
      const { socket, closed, gone } = await opened()
      const before = pending()
      socket.close()
      socket.close()
      expect(pending()).to.equal(before + 1)
      await Promise.all([closed, gone()])
      expect(pending()).to.be.at.most(before)
    })
  })
})

describe('closingWebSockets', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopScriptedNodes()
    await stopRawServers()
  })

  for (const mode of ['tcp', 'websocket'] as const) {
    it(`closes the socket of a dial that is aborted while the peer is silent over ${mode}`, async () => {
      const hole = await startBlackHole(mode)
      const address = `/ip4/127.0.0.1/tcp/${hole.port}/ws/p2p/${PEER_ID}`
      const node = await startLightNode([address], { dialTimeoutMs: 200 })
      await hole.until(1)
      const reason = new Error('mine')
      const controller = new AbortController()
      const asked = askEcho(node, { signal: controller.signal })
      controller.abort(reason)
      expect(await caught(asked)).to.equal(reason)
      // the dial that was started ahead goes on until its own deadline
      expect(hole.open()).to.equal(1)
      await hole.until(0)
      // Node's client may open another socket after that, which it closes at once
      await hole.until(0)

      const again = new AbortController()
      const asking = askEcho(node, { signal: again.signal })
      await hole.until(1)
      again.abort(reason)
      expect(await caught(asking)).to.equal(reason)
      await hole.until(0)
    })
  }

  it('closes the socket when another peer answers than the one that was dialed', async () => {
    const service = await startScriptedNode()
    const proxy = await startProxy(service.port)
    const node = await startLightNode([`/ip4/127.0.0.1/tcp/${proxy.port}/ws/p2p/${PEER_ID}`])
    expect(await caught(askEcho(node))).to.include({ code: 'ERR_CONNECTION' })
    await proxy.until(0)
    expect(node.connectedPeers).to.deep.equal([])
  })

  it('closes the socket of a connection that is aborted', async () => {
    const service = await startScriptedNode({ clusterId: 2 })
    const proxy = await startProxy(service.port)
    const node = await startLightNode([`/ip4/127.0.0.1/tcp/${proxy.port}/ws/p2p/${service.peerId}`])
    expect(await caught(askEcho(node))).to.include({ code: 'ERR_CLUSTER_MISMATCH' })
    await proxy.until(0)
  })

  it('closes the socket of an aborted connection though nothing comes back', async () => {
    const service = await startScriptedNode()
    const proxy = await startProxy(service.port)
    const node = await startLightNode(
      [`/ip4/127.0.0.1/tcp/${proxy.port}/ws/p2p/${service.peerId}`],
      {
        pingIntervalMs: 50
      }
    )
    await askEcho(node)
    proxy.freeze()
    await nextChange(node, false)
    await proxy.until(0)
  })

  it('says why a socket did not open', async () => {
    const hole = await startBlackHole()
    await hole.stop()
    const node = await startLightNode([`/ip4/127.0.0.1/tcp/${hole.port}/ws`])
    const error = await caught(askEcho(node))
    expect(error).to.include({ code: 'ERR_CONNECTION' })
    expect(error.message).to.include(`ws://127.0.0.1:${hole.port}/`)
  })

  it('works with another WebSocket in the place of that of Node', async () => {
    const original = globalThis.WebSocket
    const made: unknown[][] = []
    class Picky extends original {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        made.push(args)
        if (args[1] !== undefined && !Array.isArray(args[1])) {
          throw new SyntaxError('no such protocol')
        }
        super(...args)
      }
    }
    globalThis.WebSocket = Picky
    try {
      const service = await startScriptedNode()
      const node = await startLightNode([service.address])
      expect((await askEcho(node)).bytes).to.deep.equal(BODY)
      await node.close()
      expect(made.map(({ length }) => length)).to.deep.equal([2, 1])
    } finally {
      globalThis.WebSocket = original
    }
  })
})
