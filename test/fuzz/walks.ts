import { toHex } from 'waku-light/message'
import { STORE_BETA4, STORE_QUERY_3, StoreClient, type StoredMessage } from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import { STORE_BETA2_PROTOCOL, STORE_BETA4_PROTOCOL, STORE_QUERY_3_PROTOCOL } from 'waku-light/wire'
import { Archive } from '../helpers/archive.ts'
import { messageAt } from '../helpers/collect.ts'
import { CONTENT_TOPIC, hashOf, PUBSUB_TOPIC } from '../helpers/store-peers.ts'
import { lie } from './lies.ts'
import { SCRIPT_NAMES } from './malice.ts'
import { MemoryPeers } from './memory-peers.ts'
import type { Random } from './random.ts'
import { always, settled } from './watch.ts'

const NOW = 1_700_000_000_000
const START = BigInt(NOW) * 1_000_000n
const STEP = 1_000_000n
const WITHIN = { contentTopics: [CONTENT_TOPIC], timeStart: START, timeEnd: START + 1000n * STEP }

/** Messages after which a walk is left; a hostile archive has no end. */
const MAX_MESSAGES = 60

/**
 * Reads history, looks up hashes and follows, from archives that answer what they like, how they like.
 *
 * @returns how many frames were fed
 */
export async function fuzzWalk(random: Random): Promise<number> {
  const archive = new Archive({
    maxPage: 1 + random.int(8),
    lastPage: random.pick(['absent', 'cursor'])
  })
  const hashes: Uint8Array[] = []
  for (let count = random.int(25); count > 0; count--) {
    const message = messageAt(START + BigInt(random.int(30)) * STEP, `message ${count}`)
    archive.add(message, PUBSUB_TOPIC)
    hashes.push(hashOf(message))
  }
  const reason = new Error('given up')
  const giveUp = new AbortController()
  const isHostile = random.chance(0.85)
  const isLying = random.chance(0.7)
  const previous: Uint8Array[] = []
  // A walk that goes on from a node of the oldest generation at one of another, whose order differs, gives messages twice.
  const family = random.pick([
    [STORE_QUERY_3_PROTOCOL, STORE_BETA4_PROTOCOL],
    [STORE_BETA2_PROTOCOL]
  ])
  const peers = new MemoryPeers(random, {
    protocols: Array.from({ length: 1 + random.int(3) }, () => random.pick(family)),
    answer: (protocol, bytes) => {
      const honest = archive.answer(protocol, bytes)
      const told = isLying ? lie(random, protocol, honest, previous) : honest
      previous.push(honest)
      return told
    },
    script: () => (isHostile && random.chance(0.4) ? random.pick(SCRIPT_NAMES) : 'honest'),
    onSilence: () => giveUp.abort(reason)
  })
  const generations = [STORE_QUERY_3, STORE_BETA4, STORE_BETA2]
  const client = new StoreClient(peers, {
    generations,
    now: () => NOW,
    sleep: async () => undefined
  })
  const { signal } = giveUp
  const direction = random.pick(['forward', 'backward'] as const)
  const options = { direction, pageLimit: 1 + random.int(10), signal }
  const asked = [...hashes.slice(0, random.int(6)), random.bytes(32)]
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    query: () => take(client.query(WITHIN, options)),
    pages: async () => {
      let count = 0
      for await (const { messages } of client.queryPages(WITHIN, options)) {
        check(messages)
        if ((count += messages.length) >= MAX_MESSAGES) {
          break
        }
      }
    },
    last: () => client.last(WITHIN, 5, { signal }).then(check),
    lookup: () => take(client.lookup(asked, { within: WITHIN, signal })),
    has: async () => {
      const answers = await client.has(asked, { within: WITHIN, signal })
      always(answers.length === asked.length, 'another number of answers than of hashes')
    },
    follow: () => follow(client, signal, () => giveUp.abort(reason))
  }
  try {
    const name = random.pick(Object.keys(calls))
    await settled(name, (calls[name] as () => Promise<unknown>)(), reason)
    return peers.requests.length
  } finally {
    await peers.close()
  }
}

/** Some messages, checked. */
async function take(messages: AsyncIterable<StoredMessage>): Promise<void> {
  const taken: StoredMessage[] = []
  for await (const message of messages) {
    taken.push(message)
    if (taken.length === MAX_MESSAGES) {
      break
    }
  }
  check(taken)
}

async function follow(client: StoreClient, signal: AbortSignal, end: () => void): Promise<void> {
  let rounds = 0
  const tail = client.follow(
    { contentTopics: [CONTENT_TOPIC], timeStart: START },
    {
      signal,
      intervalMs: 0.01,
      onProgress: ({ type }) => {
        if ((type === 'store:caught-up' || type === 'store:follow-failed') && ++rounds === 4) {
          end()
        }
      }
    }
  )
  await take(tail)
}

/** Whatever the archive said: each message once, under its own hash, and such as was asked for. */
function check(messages: readonly StoredMessage[]): void {
  const seen = new Set<string>()
  for (const message of messages) {
    const hash = toHex(message.messageHash)
    always(toHex(hashOf(message)) === hash, 'a hash that is not of its message')
    always(!seen.has(hash), 'a message came twice')
    always(message.contentTopic === CONTENT_TOPIC, 'a message that nobody asked for')
    seen.add(hash)
  }
}
