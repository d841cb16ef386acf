import { createMemoryArchive, type Archive as LocalArchive } from 'waku-light/archive'
import {
  ConnectionError,
  InvalidMessageError,
  TimeoutError,
  UnsupportedError
} from 'waku-light/errors'
import { toHex, toPubsubTopic } from 'waku-light/message'
import type { ResumeComponents, ResumeInit, ResumeStore } from 'waku-light/resume'
import { StoreClient } from 'waku-light/store'
import { decodeStoreQueryRequest, STORE_QUERY_3_PROTOCOL } from 'waku-light/wire'
import { Archive, inHashOrder, type Stored } from '../helpers/archive.ts'
import { collect, messageAt } from '../helpers/collect.ts'
import { FakePeers, NETWORK } from '../helpers/fake-peers.ts'

export const MS = 1_000_000n
export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const START_MS = 1_700_000_000_000

/** What is asked for, and what is not. */
export const TOPIC = '/app/22/a/proto'
export const OTHER_TOPIC = '/app/27/a/proto'

/** What a request may meet instead of an answer. */
export type Fault = 'broken' | 'silent' | 'garbage' | undefined

/** A message, and when each node has it. */
interface Entry {
  readonly stored: Stored
  readonly arrivesMs: readonly number[]
}

/** Store nodes that get messages sooner or later, a clock, and a local archive that outlives whoever uses it. */
export class World {
  nowMs = START_MS
  /** Of each request, in turn. */
  faults: Fault[] = []
  /** Asked before each answer; what it throws is what comes instead. */
  onRequest: (peerId: string, kind: 'page' | 'hashes') => void = () => undefined
  /** Called after each answer. */
  onAnswer: () => void = () => undefined
  /** Whether nodes tell hashes without content. */
  tellsHashes = true
  readonly archive: LocalArchive = createMemoryArchive()
  readonly peers: FakePeers
  readonly client: StoreClient
  /** Criteria of each question for hashes, with the node. */
  readonly hashQueries: { peerId: string | undefined; timeStart: unknown; timeEnd: unknown }[] = []
  readonly #entries: Entry[] = []
  readonly #nodes: Archive[]

  constructor(nodeCount = 1, maxPage = 3) {
    this.#nodes = Array.from({ length: nodeCount }, () => new Archive({ maxPage }))
    this.peers = new FakePeers(
      this.#nodes.map((_, index) => ({
        peerId: `peer-${index}`,
        protocols: [STORE_QUERY_3_PROTOCOL],
        answer: ({ protocol, bytes }) => {
          const { includeData, messageHashes } = decodeStoreQueryRequest(bytes, 1000)
          const kind = includeData || messageHashes.length > 0 ? 'page' : 'hashes'
          return this.#node(index, kind).answer(protocol, bytes)
        }
      }))
    )
    this.client = new StoreClient(this.peers, { now: () => this.nowMs })
  }

  /**
   * A message is sent.
   *
   * @param ms - its time, from now
   * @param delaysMs - after how long from now each node has it
   */
  send(ms: number, text: string, topic = TOPIC, delaysMs: readonly number[] = []): Stored {
    const message = messageAt(BigInt(this.nowMs + ms) * MS, text, topic)
    // The model's own archive does not keep what the nodes do not have yet.
    const stored = new Archive().add(message, toPubsubTopic(topic, NETWORK))
    const arrivesMs = this.#nodes.map((_, index) => this.nowMs + (delaysMs[index] ?? 0))
    this.#entries.push({ stored, arrivesMs })
    return stored
  }

  /** Everything that was ever sent to the topic, each once, in order. */
  sent(topic: string | undefined = TOPIC): Stored[] {
    const all = this.#entries
      .map(({ stored }) => stored)
      .filter(({ message }) => topic === undefined || message.contentTopic === topic)
    return [...new Map(all.map((stored) => [stored.hash, stored])).values()].sort(inHashOrder)
  }

  /** What resume is built over. */
  components(archive: ResumeComponents['archive'] = this.archive): ResumeComponents {
    return { archive, store: this.store(), node: { servicePeers: this.peers } }
  }

  /** Options that make everything follow from the world. */
  init(init: Partial<ResumeInit> = {}): ResumeInit {
    return { contentTopics: [TOPIC], now: () => this.nowMs, random: () => 0, ...init }
  }

  store(): ResumeStore {
    const { client } = this
    return {
      queryPages: (criteria, options) => client.queryPages(criteria, options),
      follow: (criteria, options) => client.follow(criteria, options),
      lookup: (hashes, options) => client.lookup(hashes, options),
      queryHashes: (criteria, options) => this.#hashes(criteria, options)
    }
  }

  /** Texts of the local archive, in its order. */
  async texts(): Promise<string[]> {
    const messages = await collect(this.archive.walk())
    return messages.map(({ payload }) => new TextDecoder().decode(payload))
  }

  async hashes(): Promise<string[]> {
    return (await collect(this.archive.walkKeys())).map(({ messageHash }) => toHex(messageHash))
  }

  /** Which pages of messages the nodes were asked for. */
  queries(): { peerId: string; contentTopics: readonly string[]; timeStart?: bigint }[] {
    return this.peers.requests
      .map(({ bytes, peerId }) => ({ peerId, ...decodeStoreQueryRequest(bytes, 1000) }))
      .filter(({ messageHashes, includeData }) => includeData && messageHashes.length === 0)
  }

  #hashes(
    ...[criteria, options]: Parameters<NonNullable<ResumeStore['queryHashes']>>
  ): AsyncIterable<{ messageHash: Uint8Array }> {
    const { timeStart, timeEnd } = criteria
    this.hashQueries.push({ peerId: options.peerId, timeStart, timeEnd })
    if (!this.tellsHashes) {
      throw new UnsupportedError('no hashes here')
    }
    return this.client.queryHashes(criteria, options)
  }

  /** A node as it is now, if it answers. */
  #node(index: number, kind: 'page' | 'hashes'): Archive {
    this.onRequest(`peer-${index}`, kind)
    switch (this.faults.shift()) {
      case 'broken':
        throw new ConnectionError('the stream broke')
      case 'silent':
        throw new TimeoutError('store query', 1)
      case 'garbage':
        throw new InvalidMessageError('garbage')
      default:
    }
    const node = this.#nodes[index] as Archive
    for (const { stored, arrivesMs } of this.#entries) {
      if ((arrivesMs[index] ?? 0) <= this.nowMs) {
        node.add(stored.message, stored.pubsubTopic)
      }
    }
    queueMicrotask(() => this.onAnswer())
    return node
  }
}

/** What a page that is closed throws. */
export class Crash extends Error {}

/** An archive whose user is gone from a certain call on. */
export function crashing(
  archive: LocalArchive,
  calls: number,
  isStored: boolean
): { archive: ResumeComponents['archive']; isCrashed: () => boolean } {
  let left = calls
  const guard = async <T>(run: () => Promise<T>): Promise<T> => {
    left--
    if (left < 0 || (left === 0 && !isStored)) {
      throw new Crash()
    }
    const result = await run()
    if (left === 0) {
      throw new Crash()
    }
    return result
  }
  return {
    isCrashed: () => left <= 0,
    archive: {
      putMany: (messages, options) => guard(() => archive.putMany(messages, options)),
      has: (hashes, options) => guard(() => archive.has(hashes, options)),
      getMark: (key, options) => guard(() => archive.getMark(key, options)),
      walkKeys: (criteria, options) => archive.walkKeys(criteria, options)
    }
  }
}
