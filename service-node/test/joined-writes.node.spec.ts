import { noise } from '@chainsafe/libp2p-noise'
import { mplex } from '@libp2p/mplex'
import { webSockets } from '@libp2p/websockets'
import { expect } from 'chai'
import { createLibp2p } from 'libp2p'
import { createServicePeers, joinWrites } from 'waku-light'
import { LightPushClient } from 'waku-light/light-push'
import { toHex } from 'waku-light/message'
import { StoreClient } from 'waku-light/store'
import { createServiceNode } from 'waku-light-service-node'

const NETWORK = { clusterId: 42, shardCount: 1 }
const CONTENT_TOPIC = '/test/1/joined/bytes'

describe('joinWrites, with mplex', () => {
  it('loses nothing of what it writes, small or large, many at a time', async () => {
    const listen = ['/ip4/127.0.0.1/tcp/0/ws']
    const node = await createServiceNode({ ...NETWORK, listen, standalone: true })
    const libp2p = await createLibp2p({
      transports: [webSockets()],
      connectionEncrypters: [joinWrites(noise())],
      streamMuxers: [mplex()],
      connectionGater: { denyDialMultiaddr: () => false }
    })
    const servicePeers = await createServicePeers(libp2p, {
      ...NETWORK,
      serviceNodes: node.multiaddrs
    })
    try {
      const lightPush = new LightPushClient({ servicePeers })
      const pushes = Array.from({ length: 32 }, async (_, index) => {
        const payload = crypto.getRandomValues(new Uint8Array(index % 2 === 0 ? 10 : 60_000))
        const result = await lightPush.push({ contentTopic: CONTENT_TOPIC, payload })
        expect(result).to.include({ status: 'published' })
        return toHex(result.messageHash ?? new Uint8Array())
      })
      const pushed = await Promise.all(pushes)
      const found: string[] = []
      const store = new StoreClient({ servicePeers })
      for await (const message of store.query({ contentTopics: [CONTENT_TOPIC] })) {
        found.push(toHex(message.messageHash))
      }
      expect(found.sort()).to.deep.equal(pushed.sort())
    } finally {
      await servicePeers.close()
      await libp2p.stop()
      await node.close()
    }
  })
})
