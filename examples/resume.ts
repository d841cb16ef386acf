// npx tsx examples/resume.ts MULTIADDR
import { createMemoryArchive } from 'waku-light/archive'
import { createLightNode } from 'waku-light/node'
import { createResume } from 'waku-light/resume'
import { StoreClient } from 'waku-light/store'

const [address = '/dns4/node.example/tcp/443/wss/p2p/16Uiu2HA...'] = process.argv.slice(2)

const node = await createLightNode({ serviceNodes: [address] })

// in a page: createIndexedDbArchive('my-chat'), and `name: 'my-chat'` below, since tabs share it
const archive = createMemoryArchive()
archive.subscribe((messages) => {
  for (const { timestamp, payload } of messages) {
    console.log(timestamp, new TextDecoder().decode(payload))
  }
})

const resume = createResume(
  { archive, store: new StoreClient(node), node },
  { contentTopics: ['/chat/1/lobby/proto'] }
)

// once: what was said since the last time
const result = await resume.run({
  onProgress: ({ type, detail }) => console.log(type, detail)
})
if (result.status === 'failed') {
  console.log('not everything is here:', result.error.message)
}

// an absence that was longer than the window is told, and fetched where that is wanted
for (const gap of await resume.gaps()) {
  await resume.fillGap(gap)
}

// for as long as the app runs: catches up, then follows; again after each outage
await resume
  .follow({ signal: AbortSignal.timeout(60_000) })
  .catch((error: unknown) => console.log('ended:', error))

await node.close()
