// Fills the archive of a service node, in a process of its own: `fill-archive.ts FILE COUNT CONTENT_TOPIC`. One message a second,
// the last one now, none of them older than a node keeps.

import { toPubsubTopic } from 'waku-light/message'
import { encodeWakuMessage } from 'waku-light/wire'
import { Archive } from '../../service-node/src/archive/archive.ts'
import { toArchivedMessage } from '../../service-node/src/archive/archived-message.ts'

const PAYLOAD_BYTES = 300
const SPACING_NS = 1_000_000_000n
const BATCH = 10_000

const [file = '', count = '0', contentTopic = ''] = process.argv.slice(2)
const pubsubTopic = toPubsubTopic(contentTopic, { clusterId: 66, shardCount: 8 })
const end = BigInt(Date.now()) * 1_000_000n
const archive = new Archive({
  file,
  retention: { maxAgeMs: Number.MAX_SAFE_INTEGER / 1e6, maxCount: Number(count) },
  now: () => end
})
for (let done = 0; done < Number(count); done += BATCH) {
  const length = Math.min(BATCH, Number(count) - done)
  await archive.insertAll(
    Array.from({ length }, (_, index) => {
      const message = {
        contentTopic,
        payload: crypto.getRandomValues(new Uint8Array(PAYLOAD_BYTES)),
        timestamp: end - BigInt(Number(count) - done - index) * SPACING_NS
      }
      return toArchivedMessage(pubsubTopic, message, encodeWakuMessage(message), end)
    })
  )
}
archive.close()
