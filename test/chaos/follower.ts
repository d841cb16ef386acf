import type { StoredMessage } from 'waku-light/store'
import type { Random } from '../fuzz/random.ts'
import { common } from './check.ts'
import type { Crew, World } from './crew.ts'
import { noteDelivered } from './walks.ts'

/** For how long a tail is waited for that still lacks something, in milliseconds: its pauses grow in the storm. */
const CATCH_UP_MS = 3_000

/** A tail that is followed all the time. */
export class Follower {
  readonly #world: World
  readonly #name: string
  readonly #timeStart: bigint
  readonly #giveUp = new AbortController()
  readonly #delivered: string[] = []
  readonly #running: Promise<void>
  #onMessage: () => void = () => undefined

  /** @param timeStart - before all that there is */
  constructor(world: World, crew: Crew, random: Random, timeStart: bigint) {
    this.#world = world
    this.#name = `${crew.name} follows`
    this.#timeStart = timeStart
    const tail = crew.store.follow(
      { timeStart },
      {
        signal: this.#giveUp.signal,
        timeoutMs: 500,
        intervalMs: 150 + random.int(300),
        pageLimit: 10 + random.int(90)
      }
    )
    this.#running = this.#follow(tail)
  }

  /** Once there are no more faults: waits until everything has come, ends, and writes down what has. */
  async finish(): Promise<void> {
    const held = await this.#world.fleet.held()
    const awaited = [...common(held)]
    const done = Promise.withResolvers<boolean>()
    const check = (): void => {
      const delivered = new Set(this.#delivered)
      if (awaited.every((hash) => delivered.has(hash))) {
        done.resolve(true)
      }
    }
    this.#onMessage = check
    const timer = setTimeout(() => done.resolve(false), CATCH_UP_MS)
    check()
    const isCaughtUp = await done.promise
    clearTimeout(timer)
    this.#giveUp.abort(new Error('followed enough'))
    await this.#world.watch.settled(this.#name, 500, this.#running, this.#giveUp.signal)
    this.#world.ledger.counts.add(`tails: ${isCaughtUp ? 'caught up' : 'behind'}`)
    this.#world.ledger.walks.push({
      name: this.#name,
      timeStart: this.#timeStart,
      isForward: true,
      delivered: this.#delivered,
      // a pause after failures may be longer than anybody waits here
      end: isCaughtUp ? 'complete' : 'left',
      held,
      givenBy: [],
      resumed: 0
    })
  }

  async #follow(tail: AsyncIterable<StoredMessage>): Promise<void> {
    for await (const message of tail) {
      noteDelivered(this.#world, this.#name, message, this.#delivered)
      this.#onMessage()
    }
  }
}
