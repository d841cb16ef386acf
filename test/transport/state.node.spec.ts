import { generateKeyPair } from '@libp2p/crypto/keys'
import { expect } from 'chai'
import type { NodeState } from '../../src/transport/state.ts'
import { caught, countedSignal } from './helpers/caught.ts'
import { askEcho, BODY, closeLightNodes, startLightNode, until } from './helpers/light-node.ts'
import { startOddNode, stopOddNodes } from './helpers/odd-node.ts'
import { closedPort, startBlackHole, startProxy, stopRawServers } from './helpers/raw-server.ts'
import {
  ECHO_PROTOCOL,
  type ScriptedNode,
  type ScriptedNodeInit,
  startScriptedNode,
  stopScriptedNodes
} from './helpers/scripted-node.ts'

const ABSENT_PEER = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'
const OTHER_PEER = '12D3KooWPjceQrSwdWXPyLLeABRXmuqt69Rg3sBYbU1Nft9HyQ6X'
const PUSH = '/vac/waku/lightpush/3.0.0'
const STORE = '/vac/waku/store-query/3.0.0'
const SOON = { minRedialMs: 1, maxRedialMs: 20 }

const at = (port: number, peerId = ABSENT_PEER): string =>
  `/ip4/127.0.0.1/tcp/${port}/ws/p2p/${peerId}`

/** A node that says that it speaks some protocols. */
async function startNode(
  protocols: readonly string[],
  init: ScriptedNodeInit = {}
): Promise<ScriptedNode> {
  const node = await startScriptedNode(init)
  await node.libp2p.handle([...protocols], () => undefined)
  return node
}

const isReady = ({ status }: NodeState): boolean => status === 'ready'

describe('LightNode.state', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopRawServers() // first: a node waits for links that are frozen
    await stopScriptedNodes()
  })

  it('goes from connecting over ready to closed, telling each once', async () => {
    const service = await startNode([PUSH, STORE])
    const node = await startLightNode([service.address])
    const told: NodeState[] = []
    node.onStateChange(() => {
      throw new Error('a listener that throws')
    })
    node.onStateChange((state) => told.push(state))
    expect(node.state).to.deep.equal({ status: 'connecting', services: [] })
    await until(node, isReady)
    await askEcho(node)
    await node.close()
    expect(told).to.deep.equal([
      { status: 'ready', services: ['light-push', 'store'] },
      { status: 'closed', services: [] }
    ])
    expect(node.state.status).to.equal('closed')
  })

  it('comes back by itself when the only node was away, each time', async () => {
    const privateKey = await generateKeyPair('Ed25519')
    let service = await startNode([STORE], { privateKey })
    const { port } = service
    const node = await startLightNode([service.address], SOON)
    for (let time = 0; time < 3; time++) {
      await until(node, isReady)
      const lost = until(node, ({ nextRetryAtMs, lastError }) => {
        return lastError !== undefined && nextRetryAtMs !== undefined
      })
      await service.stop()
      const { status, lastError, nextRetryAtMs = 0 } = await lost
      expect(status).to.equal('connecting')
      expect(lastError).to.include({ code: 'ERR_NO_USABLE_PEER' })
      expect(nextRetryAtMs).to.be.above(Date.now() - 1000)
      service = await startNode([STORE], { privateKey, port })
    }
    expect((await until(node, isReady)).lastError).to.equal(undefined)
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
  })

  it('goes on with the only node under another peer id, where the address names none', async () => {
    const before = await startNode([STORE])
    const [bare = ''] = before.address.split('/p2p/')
    const node = await startLightNode([bare], SOON)
    await until(node, isReady)
    const lost = until(node, ({ status }) => status !== 'ready')
    await before.stop()
    await lost
    const after = await startNode([PUSH], { port: before.port })
    expect((await until(node, isReady)).services).to.deep.equal(['light-push'])
    expect((await askEcho(node)).peerId).to.equal(after.peerId)
  })

  it('does not take another peer for the one that is named', async () => {
    const stranger = await startNode([STORE])
    const node = await startLightNode([at(stranger.port)], SOON)
    const { lastError } = await until(node, (state) => state.lastError !== undefined)
    expect(lastError).to.include({ code: 'ERR_NO_USABLE_PEER' })
    expect(node.connectedPeers).to.deep.equal([])
  })

  it('takes the end of an idle connection as routine: no error, and a new one', async () => {
    const service = await startNode([STORE])
    const node = await startLightNode([service.address], SOON)
    await until(node, isReady)
    const told: NodeState[] = []
    const end = node.onStateChange((state) => told.push(state))
    const back = until(node, ({ status }) => status !== 'ready').then(() => until(node, isReady))
    await Promise.all(service.libp2p.getConnections().map((connection) => connection.close()))
    await back
    end()
    expect(told.map(({ lastError }) => lastError)).to.deep.equal(told.map(() => undefined))
    expect(service.accepted()).to.equal(2)
  })

  it('notices a dead link and uses the other node', async () => {
    const [first, second] = [await startNode([STORE]), await startNode([STORE])]
    const proxy = await startProxy(first.port)
    const node = await startLightNode([at(proxy.port, first.peerId), second.address], {
      ...SOON,
      pingIntervalMs: 50,
      pingTimeoutMs: 100
    })
    await until(node, isReady)
    expect(node.connectedPeers).to.deep.equal([first.peerId])
    proxy.freeze()
    await until(node, () => node.connectedPeers.includes(second.peerId))
    await proxy.until(0)
    expect((await askEcho(node)).peerId).to.equal(second.peerId)
  })

  it('asks a link that does not answer a request long before it would be asked by itself', async () => {
    const [first, second] = [await startNode([STORE]), await startNode([STORE])]
    const proxy = await startProxy(first.port)
    const node = await startLightNode([at(proxy.port, first.peerId), second.address], {
      ...SOON,
      pingIntervalMs: 1_000_000,
      pingTimeoutMs: 100
    })
    await until(node, isReady)
    proxy.freeze()
    const error = await caught(askEcho(node, { peerId: first.peerId }))
    expect(error).to.include({ code: 'ERR_TIMEOUT', operation: 'ping' })
    await until(node, () => node.connectedPeers.includes(second.peerId))
  })

  it('checks the link at once when told to', async () => {
    const service = await startNode([STORE])
    const proxy = await startProxy(service.port)
    const node = await startLightNode([at(proxy.port, service.peerId)], {
      pingIntervalMs: Infinity,
      pingTimeoutMs: 100
    })
    await until(node, isReady)
    proxy.freeze()
    const lost = until(node, ({ status }) => status !== 'ready')
    node.reconnect()
    await lost
  })

  it('dials at once when told to, in a pause', async () => {
    const port = await closedPort()
    const privateKey = await generateKeyPair('Ed25519')
    const peerId = privateKey.publicKey.toString()
    const node = await startLightNode([at(port, peerId)], {
      minRedialMs: 10_000_000,
      maxRedialMs: 10_000_000
    })
    await until(node, ({ nextRetryAtMs }) => nextRetryAtMs !== undefined)
    await startNode([STORE], { privateKey, port })
    node.reconnect()
    await until(node, isReady)
  })

  it('is held up by no black hole', async () => {
    const holes = [await startBlackHole(), await startBlackHole('websocket')]
    const service = await startNode([STORE])
    const node = await startLightNode([...holes.map(({ port }) => at(port)), service.address], {
      dialTimeoutMs: 60_000
    })
    await until(node, isReady)
    // the losers are given up
    await Promise.all(holes.map((hole) => hole.until(0)))
  })

  it('is incompatible where no node can ever do, with the reason for each, and dials no more', async () => {
    const other = await startNode([STORE], { clusterId: 2 })
    const node = await startLightNode(['/ip4/10.0.0.1/tcp/1/ws', other.address], SOON)
    const { lastError, services } = await until(node, ({ status }) => status === 'incompatible')
    expect(services).to.deep.equal([])
    expect(lastError?.message).to.match(/private network.*cluster 2/)
    const accepted = other.accepted()
    node.reconnect()
    expect(await caught(node.ready('store'))).to.include({ code: 'ERR_NO_USABLE_PEER' })
    expect(other.accepted()).to.equal(accepted)
    const lonely = await startLightNode([])
    expect(lonely.state.status).to.equal('incompatible')
  })

  it('is incompatible where a node does nothing of what is wanted', async () => {
    const service = await startNode([])
    const node = await startLightNode([service.address])
    await until(node, ({ status }) => status === 'incompatible')
  })

  it('says at once that it is offline no more, be it that a dial hangs', async () => {
    const hole = await startBlackHole()
    const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
    const own = { onLine: false }
    Object.defineProperty(globalThis, 'navigator', { value: own, configurable: true })
    try {
      const node = await startLightNode([at(hole.port)], { dialTimeoutMs: 60_000 })
      await hole.until(1)
      const told: string[] = []
      node.onStateChange(({ status }) => told.push(status))
      own.onLine = true
      node.reconnect()
      expect(told).to.deep.equal(['connecting'])
    } finally {
      Object.defineProperty(globalThis, 'navigator', navigator as PropertyDescriptor)
    }
  })

  it('is offline where the platform says so', async () => {
    const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
    Object.defineProperty(globalThis, 'navigator', { value: { onLine: false }, configurable: true })
    try {
      const node = await startLightNode([at(await closedPort())], SOON)
      expect(node.state.status).to.equal('offline')
      await until(node, ({ status, lastError }) => status === 'offline' && lastError !== undefined)
    } finally {
      Object.defineProperty(globalThis, 'navigator', navigator as PropertyDescriptor)
    }
  })
})

describe('ServicePeers.reach', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopRawServers()
    await stopScriptedNodes()
  })

  it('waits while there is no network at all, and ends with its signal', async () => {
    const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
    Object.defineProperty(globalThis, 'navigator', { value: { onLine: false }, configurable: true })
    try {
      const port = await closedPort()
      const privateKey = await generateKeyPair('Ed25519')
      const peerId = privateKey.publicKey.toString()
      const node = await startLightNode([at(port, peerId)], SOON)
      const counted = countedSignal()
      const reason = new Error('mine')
      const aborted = caught(Promise.resolve(node.servicePeers.reach?.(counted.signal)))
      const reached = Promise.resolve(node.servicePeers.reach?.(new AbortController().signal))
      let isReached = false
      reached.then(() => {
        isReached = true
      }, expect.fail)
      for (let tries = 0; tries < 3; tries++) {
        await until(node, ({ nextRetryAtMs }) => nextRetryAtMs === undefined)
        await until(node, ({ nextRetryAtMs }) => nextRetryAtMs !== undefined)
      }
      expect(isReached).to.equal(false)
      counted.abort(reason)
      expect(await aborted).to.equal(reason)
      expect(counted.listeners()).to.equal(0)
      await startNode([STORE], { privateKey, port })
      await reached
      expect(node.connectedPeers).to.deep.equal([peerId])
    } finally {
      Object.defineProperty(globalThis, 'navigator', navigator as PropertyDescriptor)
    }
  })

  it('does not wait where no node can be reached, though there is a network', async () => {
    const node = await startLightNode([at(await closedPort()), at(await closedPort(), OTHER_PEER)])
    await node.servicePeers.reach?.(new AbortController().signal)
    expect(node.connectedPeers).to.deep.equal([])
  })
})

describe('LightNode.ready', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopRawServers() // first: a node waits for links that are frozen
    await stopScriptedNodes()
    await stopOddNodes()
  })

  it('resolves with a node that does it, past those that do not', async () => {
    const hole = await startBlackHole()
    const pushes = await startNode([PUSH])
    const stores = await startNode([STORE])
    const node = await startLightNode([at(hole.port), pushes.address, stores.address])
    expect(await node.ready('light-push')).to.include({ peerId: pushes.peerId })
    expect(await node.ready('store')).to.include({ peerId: stores.peerId })
    expect(await node.ready('store')).to.include({ peerId: stores.peerId })
    expect(stores.accepted()).to.equal(1)
  })

  it('waits for a node that comes later', async () => {
    const port = await closedPort()
    const privateKey = await generateKeyPair('Ed25519')
    const node = await startLightNode([at(port, privateKey.publicKey.toString())], SOON)
    const ready = node.ready('store')
    await until(node, ({ nextRetryAtMs }) => nextRetryAtMs !== undefined)
    const service = await startNode([STORE], { privateKey, port })
    expect(await ready).to.include({ peerId: service.peerId })
  })

  it('names what was missing at each node at its deadline', async () => {
    const hole = await startBlackHole()
    const pushes = await startNode([PUSH])
    const refusing = at(await closedPort())
    const node = await startLightNode([pushes.address, refusing])
    const holes = await startLightNode([`/ip4/127.0.0.1/tcp/${hole.port}/ws`, pushes.address])
    const error = await caught(node.ready('store', { timeoutMs: 600 }))
    expect(error).to.include({ code: 'ERR_NO_USABLE_PEER' })
    expect(error.message).to.include(`${pushes.peerId}: the node does not offer store`)
    expect(error.message).to.match(new RegExp(`${ABSENT_PEER}: .* did not open`))
    const other = await caught(holes.ready('store', { timeoutMs: 600 }))
    expect(other.message).to.match(/ws: ready did not finish within 600 ms/)
    expect(other.message).to.include(`${pushes.peerId}: the node does not offer store`)
  })

  it('waits no longer for a node that is gone before it has said what it does', async () => {
    const mute = await startOddNode({ withoutIdentify: true, echoes: [ECHO_PROTOCOL] })
    const node = await startLightNode([mute.address], { minRedialMs: 60_000, maxRedialMs: 60_000 })
    const ready = caught(node.ready('store', { timeoutMs: 1_500 }))
    await askEcho(node)
    await mute.closeConnections()
    expect((await ready).message).to.include('the node does not offer store')
  })

  it('ends with the reason of the signal, on close, and for what is no service', async () => {
    const hole = await startBlackHole()
    const node = await startLightNode([at(hole.port)])
    const counted = countedSignal()
    const reason = new Error('mine')
    const ready = node.ready('store', { signal: counted.signal })
    counted.abort(reason)
    expect(await caught(ready)).to.equal(reason)
    expect(counted.listeners()).to.equal(0)
    const later = caught(node.ready('store'))
    expect(await caught(node.ready('relay' as 'store'))).to.include({
      code: 'ERR_INVALID_ARGUMENT'
    })
    await node.close()
    expect(await later).to.include({ code: 'ERR_CLOSED' })
    expect(await caught(node.ready('store'))).to.include({ code: 'ERR_CLOSED' })
  })
})
