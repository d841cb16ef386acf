import { generateKeyPair } from '@libp2p/crypto/keys'
import { expect } from 'chai'
import { askEcho, closeLightNodes, startLightNode, until } from './helpers/light-node.ts'
import { startOddNode, stopOddNodes } from './helpers/odd-node.ts'
import { closedPort, stopRawServers } from './helpers/raw-server.ts'
import { startScriptedNode, stopScriptedNodes } from './helpers/scripted-node.ts'

const STORE = '/vac/waku/store-query/3.0.0'
const SOON = { minRedialMs: 1, maxRedialMs: 20 }
const NEVER = { minRedialMs: 10_000_000, maxRedialMs: 10_000_000 }

describe('LightNode.state', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopRawServers()
    await stopScriptedNodes()
    await stopOddNodes()
  })

  it('tells each listener each change in order, be it that one of them closes the node', async () => {
    const service = await startScriptedNode()
    await service.libp2p.handle(STORE, () => undefined)
    const node = await startLightNode([service.address])
    const closed = Promise.withResolvers<void>()
    const told: string[] = []
    node.onStateChange(({ status }) => {
      if (status === 'ready') {
        node.close().then(closed.resolve, closed.reject)
      }
    })
    node.onStateChange(({ status }) => told.push(status))
    await closed.promise
    expect(told).to.deep.equal(['ready', 'closed'])
  })

  it('gets ready by itself where the first node does nothing of what is wanted and the second does', async () => {
    const useless = await startScriptedNode()
    const good = await startScriptedNode()
    await good.libp2p.handle(STORE, () => undefined)
    const node = await startLightNode([useless.address, good.address], SOON)
    const told: string[] = []
    node.onStateChange(({ status }) => told.push(status))
    await until(node, ({ status }) => status === 'incompatible' || status === 'ready')
    expect(told).to.deep.equal(['ready'])
  })

  it('gets ready by itself where the first node never says what it does', async () => {
    const mute = await startOddNode({ withoutIdentify: true })
    const good = await startScriptedNode()
    await good.libp2p.handle(STORE, () => undefined)
    const node = await startLightNode([mute.address, good.address], SOON)
    await until(node, ({ status }) => status === 'ready')
  })

  /** Waits for a node that is down; what is needed to start it. */
  async function waitForDown() {
    const port = await closedPort()
    const privateKey = await generateKeyPair('Ed25519')
    const peerId = privateKey.publicKey.toString()
    const node = await startLightNode([`/ip4/127.0.0.1/tcp/${port}/ws/p2p/${peerId}`], NEVER)
    await until(node, ({ nextRetryAtMs }) => nextRetryAtMs !== undefined)
    return { node, ready: node.ready('store'), peerId, port, privateKey }
  }

  it('is waited for no longer by ready() than it takes, be it that a pause is under way', async () => {
    const { node, ready, peerId, ...place } = await waitForDown()
    await askEcho(node).catch(() => undefined) // its dial is the one of ready(), which rests from now on
    const service = await startScriptedNode(place)
    await service.libp2p.handle(STORE, () => undefined)
    await askEcho(node)
    expect(await ready).to.include({ peerId })
  })

  it('is waited for anew by ready() when the node is told to reconnect while a try is under way', async () => {
    const { node, ready, peerId, ...place } = await waitForDown()
    node.reconnect()
    const service = await startScriptedNode(place)
    await service.libp2p.handle(STORE, () => undefined)
    await askEcho(node).catch(() => undefined)
    node.reconnect()
    expect(await ready).to.include({ peerId })
  })
})
