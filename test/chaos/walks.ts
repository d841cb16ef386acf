import { hasErrorCode } from 'waku-light/errors'
import { messageHash, toHex } from 'waku-light/message'
import type { MessagePage, StoredMessage } from 'waku-light/store'
import type { Random } from '../fuzz/random.ts'
import type { Crew, World } from './crew.ts'
import type { WalkEnd, WalkRecord } from './ledger.ts'
import { textOf } from './watch.ts'
import { type Criteria, toChosenCriteria, toWay, type Way, wholeSources } from './ways.ts'

/** How often a walk is gone on with. */
const MAX_SEGMENTS = 5

/** Pages that a walk may take, message by message: no more than messages. */
const MAX_PAGES = 30

/** Walks through history once, and goes on where it threw; writes down what came. */
export async function walkOnce(
  world: World,
  crew: Crew,
  random: Random,
  name: string
): Promise<void> {
  const criteria = toChosenCriteria(random, world.ledger)
  const held = await world.fleet.held()
  const walk = new ChaosWalk(world, crew, random, name, criteria)
  world.ledger.walks.push({ ...criteria, ...(await walk.run()), held })
}

/** Takes note of what came: its hash, made anew. */
export function noteDelivered(
  { watch }: World,
  name: string,
  message: StoredMessage,
  delivered: string[]
): void {
  const hash = toHex(messageHash(message.pubsubTopic, message))
  if (hash !== toHex(message.messageHash)) {
    watch.trouble(`${name}: delivers a message whose hash is not that of its content`)
  }
  delivered.push(hash)
}

class ChaosWalk {
  readonly #world: World
  readonly #crew: Crew
  readonly #random: Random
  readonly #name: string
  readonly #criteria: Criteria
  readonly #isForward: boolean
  readonly #delivered: string[] = []
  /** Undefined among them: one that is not known. */
  readonly #peers = new Set<string | undefined>()
  readonly #ways: Way[] = []
  #givenBy: readonly string[] = []
  #position: string | undefined

  constructor(world: World, crew: Crew, random: Random, name: string, criteria: Criteria) {
    this.#world = world
    this.#crew = crew
    this.#random = random
    this.#criteria = criteria
    this.#isForward = random.chance(0.6)
    this.#name = `${name} ${this.#isForward ? 'forward' : 'backward'}`
  }

  async run(): Promise<Omit<WalkRecord, 'held'>> {
    let end: WalkEnd = 'left'
    let resumed = 0
    for (;;) {
      const way = toWay(this.#random, this.#crew.isLegacy)
      this.#ways.push(way)
      end = this.#random.chance(0.25) ? await this.#messages(way) : await this.#pages(way)
      const isOver = end === 'complete' || end === 'unverifiable' || this.#position === undefined
      if (isOver || this.#ways.length === MAX_SEGMENTS || this.#random.chance(0.15)) {
        break
      }
      resumed++
    }
    const isMerged = this.#ways.some((way) => way.isMerged)
    const [only] = this.#peers
    const isOfOne = this.#peers.size === 1 && only !== undefined
    return {
      name: `${this.#name} by ${this.#ways.map((way) => way.name).join(', ')}`,
      isForward: this.#isForward,
      order: isMerged ? 'time' : this.#crew.isLegacy ? 'digest' : 'hash',
      delivered: this.#delivered,
      end,
      givenBy: isMerged ? this.#givenBy : isOfOne ? [only] : [],
      resumed
    }
  }

  /** Page by page; sometimes it is left, or aborted, and gone on with after the last page. */
  async #pages(way: Way): Promise<WalkEnd> {
    const name = `${this.#name} by ${way.name}`
    const { limitMs, giveUp, options } = this.#options(way)
    const { signal } = giveUp
    const leaveAt = this.#random.chance(0.15) ? this.#random.int(3) : -1
    const abortAt = this.#random.chance(0.1) ? this.#random.int(4) : -1
    const isWhole = this.#position === undefined
    const pages = this.#crew.store.queryPages(this.#criteria, options)
    try {
      for (let count = 0; ; count++) {
        const pulled = pages.next()
        if (count === abortAt) {
          giveUp.abort(new Error('given up'))
        }
        const outcome = await this.#world.watch.settled(name, limitMs, pulled, signal)
        if (outcome.is !== 'value') {
          return this.#toEnd(outcome.is === 'error' ? outcome.error : undefined, signal)
        }
        if (outcome.value.done === true) {
          this.#world.watch.trouble(`${name}: ended without a last page`)
          return 'left'
        }
        const page = outcome.value.value
        this.#take(page)
        if (page.completeness !== 'more') {
          this.#givenBy = isWhole ? wholeSources(page) : []
          return page.completeness
        }
        if (count === leaveAt) {
          return 'left'
        }
      }
    } finally {
      await this.#world.watch.settled(`${name}: leaving`, limitMs, pages.return(undefined))
    }
  }

  /** Message by message. */
  async #messages(way: Way): Promise<WalkEnd> {
    const name = `${this.#name} by ${way.name}`
    const { limitMs, giveUp, options } = this.#options(way)
    this.#peers.add(undefined)
    const collect = async (): Promise<void> => {
      for await (const message of this.#crew.store.query(this.#criteria, options)) {
        noteDelivered(this.#world, name, message, this.#delivered)
      }
    }
    const outcome = await this.#world.watch.settled(name, limitMs * MAX_PAGES, collect())
    if (outcome.is === 'value') {
      return this.#crew.isLegacy ? 'unverifiable' : 'complete'
    }
    return this.#toEnd(outcome.is === 'error' ? outcome.error : undefined, giveUp.signal)
  }

  #options(way: Way) {
    const timeoutMs = 300 + this.#random.int(1_200)
    const giveUp = new AbortController()
    const { peerIds } = this.#world.fleet
    const isAtOne = this.#random.chance(0.2) && !way.isMerged
    const options = {
      timeoutMs,
      signal: giveUp.signal,
      direction: this.#isForward ? ('forward' as const) : ('backward' as const),
      pageLimit: 2 + this.#random.int(24),
      position: this.#position,
      ...(way.walker !== undefined && { walker: way.walker }),
      ...(isAtOne && { peerId: this.#random.pick(peerIds) })
    }
    // Where one node after the other fails among several, each has its own deadline.
    return { limitMs: way.isMerged ? timeoutMs * (1 + peerIds.length) : timeoutMs, giveUp, options }
  }

  #take({ messages, position, peerId }: MessagePage): void {
    for (const message of this.#isForward ? messages : [...messages].reverse()) {
      noteDelivered(this.#world, this.#name, message, this.#delivered)
    }
    this.#position = position
    this.#peers.add(peerId)
  }

  #toEnd(error: unknown, signal: AbortSignal): WalkEnd {
    if (hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY')) {
      this.#position = error.position
      return 'threw'
    }
    if (!signal.aborted && error !== undefined) {
      this.#world.watch.trouble(`${this.#name}: ends without a position: ${textOf(error)}`)
    }
    return signal.aborted ? 'aborted' : 'left'
  }
}
