import { createHash } from 'node:crypto'
import { LightPushClient } from 'waku-light/light-push'
import { messageHash, toHex, toPubsubTopic, type WakuMessage } from 'waku-light/message'
import { createLightNode, type LightNode } from 'waku-light/node'
import { STORE_BETA4, StoreClient } from 'waku-light/store'
import { CLUSTER } from '../../service-node/test/helpers/messages.ts'
import type { Random } from '../fuzz/random.ts'
import { type Fleet, SHARD_COUNT } from './fleet.ts'
import type { Ledger } from './ledger.ts'
import type { Watch } from './watch.ts'

/** On two shards. */
export const TOPICS: readonly string[] = [
  '/chaos/1/a/proto',
  '/chaos/1/b/proto',
  '/storm/1/a/proto',
  '/gale/1/a/proto',
  '/squall/1/a/proto'
]

/** For one try at one node, in milliseconds. */
const ATTEMPT_MS = 400

/** What everything in one run works with. */
export interface World {
  readonly fleet: Fleet
  readonly ledger: Ledger
  readonly watch: Watch
}

/** A light node with its clients. */
export interface Crew {
  readonly name: string
  readonly node: LightNode
  readonly lightPush: LightPushClient
  readonly store: StoreClient
  /** The same, but one node alone is asked whether a message is stored. */
  withStoreAt(peerId: string): LightPushClient
  /** Its walks speak store 2.0.0-beta4. */
  readonly isLegacy: boolean
}

/** A light node that knows all service nodes, by their proxies. */
export async function createCrew(name: string, random: Random, fleet: Fleet): Promise<Crew> {
  const isLegacy = random.chance(0.15)
  const node = await createLightNode({
    serviceNodes: shuffled(random, fleet.addresses),
    ...(random.chance(0.7) && { clusterId: CLUSTER, shardCount: SHARD_COUNT }),
    sendAhead: random.chance(0.8),
    dialTimeoutMs: 300 + random.int(700),
    metadataTimeoutMs: 500,
    pingIntervalMs: random.pick([300, 30_000])
  })
  const store = new StoreClient(node, {
    requestTimeoutMs: ATTEMPT_MS,
    ...(isLegacy && { generations: [STORE_BETA4] })
  })
  const init = { attemptTimeoutMs: ATTEMPT_MS, minBackoffMs: 30, maxBackoffMs: 200 }
  return {
    name,
    node,
    lightPush: new LightPushClient(node, { ...init, store }),
    store,
    isLegacy,
    withStoreAt: (peerId) =>
      new LightPushClient(node, {
        ...init,
        store: { has: (hashes, options) => store.has(hashes, { ...options, peerId }) }
      })
  }
}

/** Makes the content of a message that no other has: its name is in it. */
export function makeMessage(random: Random, name: string): Omit<WakuMessage, 'timestamp'> {
  const filler = random.bytes(random.chance(0.1) ? random.int(20_000) : random.int(300))
  const text = new TextEncoder().encode(`${name} `)
  const payload = new Uint8Array(text.length + filler.length)
  payload.set(text)
  payload.set(filler, text.length)
  return {
    payload,
    contentTopic: random.pick(TOPICS),
    ...(random.chance(0.2) && { meta: random.bytes(random.int(65)) }),
    ...(random.chance(0.2) && { version: random.int(3) })
  }
}

/** Writes down a message that is about to be sent, now that its timestamp is known; returns its hash. */
export function know(ledger: Ledger, name: string, message: WakuMessage): string {
  const { contentTopic, payload, timestamp = 0n, ephemeral: isEphemeral = false } = message
  const pubsubTopic = toPubsubTopic(contentTopic, { clusterId: CLUSTER, shardCount: SHARD_COUNT })
  const hash = toHex(messageHash(pubsubTopic, message))
  const digest = createHash('sha256').update(contentTopic).update(payload).digest('hex')
  ledger.messages.set(hash, { name, contentTopic, timestamp, digest, isEphemeral })
  return hash
}

export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Waits, between one thing that is done and the next. */
export async function rest(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
