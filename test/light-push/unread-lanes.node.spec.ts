import { expect } from 'chai'
import { LightPushClient } from '../../src/light-push/index.ts'
import type { ServicePeers } from '../../src/transport/service-peers.ts'
import { askEcho, BODY, closeLightNodes, startLightNode } from '../transport/helpers/light-node.ts'
import { startScriptedNode, stopScriptedNodes } from '../transport/helpers/scripted-node.ts'

const PUSH = '/vac/waku/lightpush/3.0.0'

describe('LightPushClient', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopScriptedNodes()
  })

  it('never says that nothing was written where something was, whenever it is aborted', async () => {
    const services = [await startScriptedNode(), await startScriptedNode()]
    for (const { libp2p } of services) {
      await libp2p.handle(PUSH, () => undefined)
    }
    for (let turns = 8; turns < 24; turns++) {
      const node = await startLightNode(services.map(({ address }) => address))
      for (const { peerId } of services) {
        await askEcho(node, { peerId })
      }
      let wasWritten = false
      // one of two nodes gets its request at once, the other one in its time
      const servicePeers: ServicePeers = {
        network: (signal) => node.servicePeers.network(signal),
        candidates: (protocols) => node.servicePeers.candidates(protocols),
        request: async (peer, request, signal) => {
          if (!wasWritten) {
            wasWritten = true
            request.encode(PUSH)
            request.onWrite?.()
            return await new Promise((_, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason as Error))
            })
          }
          return await node.servicePeers.request(peer, request, signal)
        }
      }
      const controller = new AbortController()
      const pushed = new LightPushClient({ servicePeers }).push(
        { contentTopic: '/app/1/topic/proto', payload: BODY },
        { signal: controller.signal, redundancy: 2 }
      )
      const told = pushed.then(
        ({ status }) => status,
        () => 'nothing was written'
      )
      for (let count = 0; count < turns; count++) {
        await Promise.resolve()
      }
      const isWritten = wasWritten
      controller.abort(new Error('mine'))
      expect(await told).to.equal(isWritten ? 'unknown' : 'nothing was written')
      await node.close()
    }
  })
})
