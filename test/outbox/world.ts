import { ConnectionError, StorageError } from 'waku-light/errors'
import { messageHash, toHex, toPubsubTopic, type WakuMessage } from 'waku-light/message'
import type {
  Outbox,
  OutboxChannel,
  OutboxComponents,
  OutboxInit,
  OutboxLightPush,
  OutboxLocks,
  OutboxMessage,
  OutboxStorage
} from 'waku-light/outbox'
import { createOutbox, memoryStorage } from 'waku-light/outbox'
import { NETWORK } from '../helpers/fake-peers.ts'

/** What becomes of one push. */
export const PUSHES = [
  'accepted',
  /** It arrives, and the answer does not. */
  'answer-lost',
  /** Written, but it never arrives, and there is no answer. */
  'request-lost',
  /** 505: the node has it, and so does its store. */
  'not-relayed',
  'not-sent',
  'rate-limited',
  'refused'
] as const
export type Push = (typeof PUSHES)[number]

/** What becomes of one look-up. `missed`: no, although it may be there; only within 20 s, later ones are answered. */
export const LOOKUPS = ['answered', 'missed', 'failed'] as const
export type Lookup = (typeof LOOKUPS)[number]

export const START = 1_700_000_000_000

function never<T>(): Promise<T> {
  return new Promise(() => {})
}

/** Lets everything happen that needs no time. */
export async function flush(turns = 80): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await Promise.resolve()
  }
}

/** Time that passes only where a test says so. */
class Clock {
  nowMs = START
  /** Of what needs no time: more for what is made of many steps. */
  turns = 80
  readonly timers = new Set<{ readonly at: number; readonly fire: () => void }>()

  /** Calls something later; returns a function that prevents it. */
  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.nowMs + ms, fire }
    this.timers.add(timer)
    return () => this.timers.delete(timer)
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const cancel = this.after(ms, resolve)
      signal?.addEventListener('abort', () => {
        cancel()
        reject(signal.reason as Error)
      })
    })
  }

  async pass(ms: number): Promise<void> {
    const end = this.nowMs + ms
    for (;;) {
      await flush(this.turns)
      const next = [...this.timers].sort((a, b) => a.at - b.at)[0]
      if (next === undefined || next.at > end) {
        break
      }
      this.timers.delete(next)
      this.nowMs = Math.max(this.nowMs, next.at)
      next.fire()
    }
    this.nowMs = end
  }
}

/** A page, or a process, that may crash between any two steps. */
export class Tab {
  isDead = false
  steps = 0
  crashAt: number
  readonly onCrash: (() => void)[] = []

  constructor(crashAt = Number.POSITIVE_INFINITY) {
    this.crashAt = crashAt
  }

  crash(): void {
    if (!this.isDead) {
      this.isDead = true
      for (const run of this.onCrash) {
        run()
      }
    }
  }

  /** A point at which it may crash; what comes after it then does not happen. */
  async step(): Promise<void> {
    this.steps++
    if (this.steps === this.crashAt) {
      this.crash()
    }
    if (this.isDead) {
      await never()
    }
  }
}

interface Waiting {
  readonly tab: Tab
  readonly run: () => void
}

/** A message that reached a node. */
export interface Departure {
  readonly text: string
  readonly topic: string
  readonly hash: string
  readonly bytes: string
  readonly atMs: number
}

/** Storage, network and other tabs: all that outlives a page. */
export class World {
  readonly clock = new Clock()
  readonly storage = memoryStorage()
  /** What becomes of pushes and look-ups, in order; then all goes well. */
  pushes: Push[] = []
  lookups: Lookup[] = []
  /** How long a push takes. */
  pushMs = 50
  random: () => number = () => 0.5
  /** Everything that left, in order. */
  readonly departures: Departure[] = []
  readonly archive = new Set<string>()
  pushCount = 0
  lookupCount = 0
  pushesUnderWay = 0
  mostUnderWay = 0
  readonly #queue: Waiting[] = []
  #holder: Waiting | undefined
  readonly #channels = new Set<FakeChannel>()

  /** Opens an outbox in a tab. */
  open(
    tab = new Tab(),
    init: Partial<OutboxInit> = {},
    components = this.components(tab)
  ): Promise<Outbox> {
    return createOutbox(components, { ...this.init(tab), ...init })
  }

  init(tab = new Tab()): OutboxInit {
    return {
      storage: this.storageOf(tab),
      now: () => this.clock.nowMs,
      random: () => this.random(),
      sleep: async (ms, signal) => {
        await this.clock.sleep(ms, signal)
        await tab.step()
      },
      locks: this.locksOf(tab),
      createChannel: () => this.channelOf(tab)
    }
  }

  components(tab = new Tab()): OutboxComponents & { lightPush: OutboxLightPush } {
    return {
      lightPush: { push: (message, options) => this.#push(tab, message as WakuMessage, options) },
      store: {
        has: async (hashes, { signal }) => {
          await tab.step()
          this.lookupCount++
          const outcome = this.lookups.shift() ?? 'answered'
          await this.clock.sleep(20, signal)
          await tab.step()
          if (outcome === 'failed') {
            throw new ConnectionError('no store node')
          }
          return hashes.map((hash) => {
            const departure = this.departures.find((other) => other.hash === toHex(hash))
            const isEarly = departure !== undefined && this.clock.nowMs - departure.atMs < 20_000
            return this.archive.has(toHex(hash)) && !(outcome === 'missed' && isEarly)
          })
        }
      }
    }
  }

  async #push(
    tab: Tab,
    message: WakuMessage,
    options: Parameters<OutboxLightPush['push']>[1]
  ): ReturnType<OutboxLightPush['push']> {
    const outcome = this.pushes.shift() ?? 'accepted'
    this.pushCount++
    this.pushesUnderWay++
    this.mostUnderWay = Math.max(this.mostUnderWay, this.pushesUnderWay)
    try {
      await tab.step()
      const pubsubTopic = options.pubsubTopic ?? toPubsubTopic(message.contentTopic, NETWORK)
      const proof = await options.proof?.(message, pubsubTopic)
      await tab.step()
      await this.clock.sleep(this.pushMs, options.signal)
      options.signal?.throwIfAborted()
      if (outcome === 'accepted' || outcome === 'answer-lost' || outcome === 'not-relayed') {
        const hash = toHex(messageHash(pubsubTopic, message))
        this.departures.push({
          text: new TextDecoder().decode(message.payload),
          topic: message.contentTopic,
          hash,
          bytes: `${hash} ${toHex(proof ?? new Uint8Array())} ${message.version ?? 0}`,
          atMs: this.clock.nowMs
        })
        if (Math.abs(this.clock.nowMs - Number((message.timestamp ?? 0n) / 1_000_000n)) < 20_000) {
          this.archive.add(hash)
        }
      }
      await tab.step()
    } finally {
      this.pushesUnderWay--
    }
    const attempt = ATTEMPTS[outcome]
    return { status: attempt.status, attempts: [attempt] }
  }

  /** Each operation of a storage is two steps: before it, and after it. */
  storageOf(tab: Tab): OutboxStorage {
    const { storage } = this
    const through = async <T>(run: () => Promise<T>): Promise<T> => {
      await tab.step()
      const result = await run()
      await tab.step()
      return result
    }
    return {
      scope: storage.scope,
      add: (entry, message) => through(() => storage.add(entry, message)),
      put: (entry, dropContent) => through(() => storage.put(entry, dropContent)),
      entries: () => through(() => storage.entries()),
      entry: (id) => through(() => storage.entry(id)),
      message: (id) => through(() => storage.message(id)),
      remove: (ids) => through(() => storage.remove(ids)),
      close: () => storage.close()
    }
  }

  /** One lock, as the platform's: the next one gets it when the holder ends or crashes. */
  locksOf(tab: Tab): OutboxLocks {
    return {
      request: (_name, { signal }, callback) =>
        new Promise((resolve, reject) => {
          const waiting: Waiting = {
            tab,
            run: () => {
              const release = (): void => {
                if (this.#holder === waiting) {
                  this.#holder = undefined
                  this.#grant()
                }
              }
              tab.onCrash.push(release)
              callback().then(resolve, reject).finally(release)
            }
          }
          signal.addEventListener('abort', () => {
            const place = this.#queue.indexOf(waiting)
            if (place !== -1) {
              this.#queue.splice(place, 1)
              reject(signal.reason as Error)
            }
          })
          this.#queue.push(waiting)
          this.#grant()
        })
    }
  }

  get isLocked(): boolean {
    return this.#holder !== undefined
  }

  get openChannels(): number {
    return [...this.#channels].filter(({ tab }) => !tab.isDead).length
  }

  #grant(): void {
    while (this.#holder === undefined && this.#queue.length > 0) {
      const next = this.#queue.shift()
      if (next !== undefined && !next.tab.isDead) {
        this.#holder = next
        next.run()
      }
    }
  }

  channelOf(tab: Tab): OutboxChannel {
    const channel: FakeChannel = {
      tab,
      onmessage: null,
      postMessage: (data) => {
        for (const other of this.#channels) {
          if (other !== channel && !tab.isDead) {
            Promise.resolve()
              .then(() => {
                if (!other.tab.isDead) {
                  other.onmessage?.({ data } as MessageEvent)
                }
              })
              .catch(() => {})
          }
        }
      },
      close: () => this.#channels.delete(channel)
    }
    this.#channels.add(channel)
    return channel
  }
}

interface FakeChannel extends OutboxChannel {
  readonly tab: Tab
}

const ATTEMPTS = {
  accepted: { status: 'published', reason: 'accepted', statusCode: 200 },
  'answer-lost': { status: 'unknown', reason: 'no-answer' },
  'request-lost': { status: 'unknown', reason: 'no-answer' },
  'not-relayed': { status: 'unknown', reason: 'not-relayed', statusCode: 505 },
  'not-sent': { status: 'failed', reason: 'not-sent' },
  'rate-limited': { status: 'failed', reason: 'rate-limited', statusCode: 429 },
  refused: { status: 'failed', reason: 'refused', statusCode: 420, statusDesc: 'validator failed' }
} as const

export const TOPICS = ['/app/1/a/proto', '/app/1/b/proto', '/app/1/c/proto'] as const

export function text(content: string, topic: string = TOPICS[0]): OutboxMessage {
  return { contentTopic: topic, payload: new TextEncoder().encode(content) }
}

/** A storage whose writes can be made to fail. */
export function breakable(storage: OutboxStorage): {
  readonly storage: OutboxStorage
  readonly broken: { add: boolean; put: boolean }
} {
  const broken = { add: false, put: false }
  const through = async <T>(operation: 'add' | 'put', run: () => Promise<T>): Promise<T> => {
    if (broken[operation]) {
      throw new StorageError('failed', 'broken')
    }
    return await run()
  }
  const breaking: OutboxStorage = {
    ...storage,
    add: (entry, message) => through('add', () => storage.add(entry, message)),
    put: (entry, dropContent) => through('put', () => storage.put(entry, dropContent))
  }
  return { storage: breaking, broken }
}

/** The states that an outbox tells of an entry, in order. */
export function statesOf(outbox: Outbox): Map<string, string[]> {
  const states = new Map<string, string[]>()
  outbox.onChange(({ entry }) => {
    states.set(entry.id, [...(states.get(entry.id) ?? []), entry.state])
  })
  return states
}
