import { expect } from 'chai'
import { LightPushClient } from '../../src/light-push/index.ts'
import { exchange } from '../../src/transport/exchange.ts'
import { caught } from './helpers/caught.ts'
import { askEcho, BODY, closeLightNodes, startLightNode } from './helpers/light-node.ts'
import { ECHO_PROTOCOL, startScriptedNode, stopScriptedNodes } from './helpers/scripted-node.ts'

const PUSH = '/vac/waku/lightpush/3.0.0'

describe('ExchangeRequest.onUnread', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopScriptedNodes()
  })

  it('does not come where onWrite did not, or refused', async () => {
    const service = await startScriptedNode()
    const node = await startLightNode([service.address])
    await askEcho(node)
    const [connection] = node.streamHost.getConnections()
    const { signal } = new AbortController()
    const error = new Error('mine')
    const refuse = (): never => {
      throw error
    }
    const request = { protocols: [ECHO_PROTOCOL], encode: () => BODY, maxResponseBytes: 100 }
    for (const given of [{ onWrite: refuse }, { encode: refuse }]) {
      let unread = 0
      const watched = { ...request, ...given, onUnread: () => unread++ }
      expect(await caught(exchange(connection as never, watched, signal))).to.equal(error)
      expect(unread).to.equal(0)
    }
  })

  it('leaves a push right about what was written, whenever it is aborted', async () => {
    const service = await startScriptedNode()
    await service.libp2p.handle(PUSH, () => undefined)
    for (let turns = 8; turns < 24; turns++) {
      const node = await startLightNode([service.address])
      await askEcho(node)
      const controller = new AbortController()
      const reason = new Error('mine')
      const message = { contentTopic: '/app/1/topic/proto', payload: BODY }
      const pushed = new LightPushClient(node).push(message, { signal: controller.signal }).then(
        ({ status }) => status,
        (error: unknown) => error
      )
      for (let count = 0; count < turns; count++) {
        await Promise.resolve()
      }
      controller.abort(reason)
      expect(await pushed).to.be.oneOf(['unknown', reason])
      await node.close()
    }
  })
})
