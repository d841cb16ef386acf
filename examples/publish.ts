// npx tsx examples/publish.ts MULTIADDR [TEXT]
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'

const [address = '/dns4/node.example/tcp/443/wss/p2p/16Uiu2HA...', text = 'hello'] =
  process.argv.slice(2)

const node = await createLightNode({ serviceNodes: [address] })
const lightPush = new LightPushClient(node)

const sent = await lightPush.push({
  contentTopic: '/chat/1/lobby/proto',
  payload: new TextEncoder().encode(text)
})
// { status: 'published' | 'unknown' | 'failed', messageHash, relayPeerCount, attempts: [...] }
console.log(sent)

await node.close()
