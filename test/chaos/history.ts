import { fromMilliseconds, toPubsubTopic } from 'waku-light/message'
import { encodeWakuMessage } from 'waku-light/wire'
import { CLUSTER } from '../../service-node/test/helpers/messages.ts'
import { push } from '../../service-node/test/helpers/push.ts'
import { waitFor } from '../../service-node/test/helpers/wait-for.ts'
import type { Random } from '../fuzz/random.ts'
import { know, makeMessage, type World } from './crew.ts'
import { SHARD_COUNT } from './fleet.ts'

/** How far back history goes: what is older than 20 s is not kept. */
const HISTORY_MS = 9_000

/** Times are multiples of this, so that many messages share one. */
const STEP_MS = 150

/** How many are pushed at once. */
const LANES = 40

/**
 * Fills all archives, without faults, before anything else.
 *
 * @returns a time before all that there is, in nanoseconds
 */
export async function makeHistory({ fleet, ledger }: World, random: Random): Promise<bigint> {
  const count = 40 + random.int(120)
  const startMs = Date.now() - HISTORY_MS
  const addresses = fleet.directAddresses
  const messages = Array.from({ length: count }, (_, index) => {
    const atMs = startMs + STEP_MS * random.int(HISTORY_MS / STEP_MS)
    const name = `history ${index}`
    const message = { ...makeMessage(random, name), timestamp: fromMilliseconds(atMs) }
    know(ledger, name, message)
    return { message, address: random.pick(addresses) }
  })
  const lane = async (): Promise<void> => {
    for (let next = messages.pop(); next !== undefined; next = messages.pop()) {
      const { contentTopic } = next.message
      const network = { clusterId: CLUSTER, shardCount: SHARD_COUNT }
      const bytes = encodeWakuMessage(next.message)
      const pubsubTopic = toPubsubTopic(contentTopic, network)
      const { statusCode } = await push(fleet.reader, next.address, bytes, pubsubTopic)
      if (statusCode !== 200) {
        throw new Error(`a message of history is answered with ${statusCode}`)
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  await waitFor('history in all archives', () =>
    fleet.members.every(({ node }) => node?.messageCount() === count)
  )
  await fleet.held()
  return fromMilliseconds(startMs) - 1n
}
