// npx tsx examples/outbox.ts MULTIADDR [TEXT]
// In a page, `indexedDbStorage('my-chat-outbox')` in place of `memoryStorage()` survives a reload.
import { LightPushClient } from 'waku-light/light-push'
import { createLightNode } from 'waku-light/node'
import { createOutbox, isFinished, memoryStorage } from 'waku-light/outbox'
import { StoreClient } from 'waku-light/store'

const [address = '/dns4/node.example/tcp/443/wss/p2p/16Uiu2HA...', text = 'hello'] =
  process.argv.slice(2)

const node = await createLightNode({ serviceNodes: [address] })
const outbox = await createOutbox(
  { lightPush: new LightPushClient(node), store: new StoreClient(node), node },
  { storage: memoryStorage(), confirm: 'stored' }
)

const done = Promise.withResolvers<void>()
outbox.onChange(({ entry, previousState }) => {
  // queued, sending, published, stored
  console.log(entry.id, previousState, '->', entry.state, entry.reason ?? '')
  if (isFinished(entry)) done.resolve()
})

await outbox.enqueue({
  contentTopic: '/chat/1/lobby/proto',
  payload: new TextEncoder().encode(text)
})
await done.promise

await outbox.close()
await node.close()
