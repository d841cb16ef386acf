// Fills the archives of several service nodes with one history, in a process of its own:
// `fill-gappy-archives.ts COUNT CONTENT_TOPIC END_MS FILE...`. The messages are spread over the hour before the end; each archive
// lacks one of a hundred, another one each.
import { toPubsubTopic } from 'waku-light/message'
import { encodeWakuMessage } from 'waku-light/wire'
import { Archive } from '../../service-node/src/archive/archive.ts'
import { toArchivedMessage } from '../../service-node/src/archive/archived-message.ts'

const PAYLOAD_BYTES = 300
const HOUR_NS = 3_600_000_000_000n
/** The newest 30 seconds stay empty, so that what may have healed is all of it. */
const NEWEST_NS = 30_000_000_000n
const BATCH = 10_000

const [counted = '', contentTopic = '', endMs = '', ...files] = process.argv.slice(2)
const count = Number(counted)
const pubsubTopic = toPubsubTopic(contentTopic, { clusterId: 66, shardCount: 8 })
const end = BigInt(endMs) * 1_000_000n - NEWEST_NS
const spacing = (HOUR_NS - NEWEST_NS) / BigInt(count)
const archives = files.map(
  (file) =>
    new Archive({
      file,
      retention: { maxAgeMs: Number.MAX_SAFE_INTEGER / 1e6, maxCount: count },
      now: () => end
    })
)
for (let done = 0; done < count; done += BATCH) {
  const batch = Array.from({ length: Math.min(BATCH, count - done) }, (_, index) => {
    const message = {
      contentTopic,
      payload: crypto.getRandomValues(new Uint8Array(PAYLOAD_BYTES)),
      timestamp: end - BigInt(count - done - index) * spacing
    }
    return toArchivedMessage(pubsubTopic, message, encodeWakuMessage(message), end)
  })
  for (const [node, archive] of archives.entries()) {
    await archive.insertAll(batch.filter((_, index) => (done + index) % 100 !== node))
  }
}
for (const archive of archives) {
  archive.close()
}
