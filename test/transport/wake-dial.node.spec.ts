import { expect } from 'chai'
import { caught } from './helpers/caught.ts'
import { askEcho, closeLightNodes, startLightNode } from './helpers/light-node.ts'
import { startBlackHole, stopRawServers } from './helpers/raw-server.ts'

const ABSENT_PEER = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'

describe('LightNode.reconnect', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopRawServers()
  })

  for (const suffix of ['', `/p2p/${ABSENT_PEER}`]) {
    for (const isAsked of [false, true]) {
      it(`begins a dial anew that hangs${suffix && ', to a peer id'}${isAsked ? ', though a call waits for it' : ''}`, async () => {
        // it takes part in the upgrade and says nothing more
        const hole = await startBlackHole('websocket')
        const address = `/ip4/127.0.0.1/tcp/${hole.port}/ws${suffix}`
        const node = await startLightNode([address], { dialTimeoutMs: Infinity })
        const asked = isAsked ? caught(askEcho(node)) : undefined
        await hole.until(1)
        const { accepted } = hole
        node.reconnect()
        while (accepted() < 2) {
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        await hole.until(1) // the old one is given up
        await node.close()
        if (asked !== undefined) {
          expect(await asked).to.include({ code: 'ERR_CLOSED' })
        }
      })
    }
  }
})
