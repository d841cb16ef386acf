import { expect } from 'chai'
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import { createServiceNode } from 'waku-light-service-node'

const NETWORK = { clusterId: 42, shardCount: 1 }

describe('joinWrites, in the light node', () => {
  const { send } = WebSocket.prototype
  let sent = 0

  before(() => {
    WebSocket.prototype.send = function (data) {
      sent++
      send.call(this, data)
    }
  })

  after(() => {
    WebSocket.prototype.send = send
  })

  it('makes one or two messages of a push, and few of many at a time', async () => {
    const listen = ['/ip4/127.0.0.1/tcp/0/ws']
    const service = await createServiceNode({ ...NETWORK, listen, standalone: true })
    const node = await createLightNode({
      ...NETWORK,
      serviceNodes: service.multiaddrs,
      maxRequestsPerPeer: 32
    })
    try {
      const client = new LightPushClient(node)
      const push = async (): Promise<void> => {
        const { status } = await client.push({
          contentTopic: '/test/1/joined/bytes',
          payload: crypto.getRandomValues(new Uint8Array(300))
        })
        expect(status).to.equal('published')
      }
      await push() // with identify and metadata
      await push()

      sent = 0
      for (let count = 0; count < 10; count++) {
        await push()
      }
      expect(sent).to.be.within(10, 15)

      sent = 0
      await Promise.all(Array.from({ length: 32 }, push))
      expect(sent).to.be.at.most(16)
    } finally {
      await node.close()
      await service.close()
    }
  })
})
