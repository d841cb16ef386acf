// npx tsx examples/history.ts MULTIADDR
import { createLightNode } from 'waku-light/node'
import { StoreClient } from 'waku-light/store'

const [address = '/dns4/node.example/tcp/443/wss/p2p/16Uiu2HA...'] = process.argv.slice(2)

const node = await createLightNode({ serviceNodes: [address] })
const store = new StoreClient(node)

const contentTopics = ['/chat/1/lobby/proto']
const yesterday = new Date(Date.now() - 24 * 3_600_000)

// oldest first
for await (const message of store.query({ contentTopics, timeStart: yesterday })) {
  console.log(message.timestamp, new TextDecoder().decode(message.payload))
}

// newest page first; `position` is plain text from which another day's walk can go on
for await (const page of store.queryPages(
  { contentTopics },
  { direction: 'backward', pageLimit: 20 }
)) {
  console.log(page.messages.length, page.completeness, page.position)
}

await node.close()
