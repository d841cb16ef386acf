import { toHex } from 'waku-light/message'
import {
  createOutbox,
  isFinished,
  memoryStorage,
  type Outbox,
  type OutboxEntry,
  type OutboxStorage
} from 'waku-light/outbox'
import type { Random } from '../fuzz/random.ts'
import { type Crew, know, makeMessage, rest, type World } from './crew.ts'

/** For how long a finished outbox is waited for, in milliseconds. */
const FINISH_MS = 6_000

/** What {@link Outbox.close} takes at the most, in milliseconds. */
const CLOSE_MS = 3_000

/** An outbox over clients in the storm; sometimes it is closed, and another goes on with its storage. */
export class ChaosOutbox {
  readonly #world: World
  readonly #crew: Crew
  readonly #random: Random
  readonly #storage: OutboxStorage = memoryStorage()
  readonly #restamp: boolean
  /** By entry: every hash under which it may have been sent. */
  readonly #hashes = new Map<string, Set<string>>()
  readonly #contents = new Map<string, ReturnType<typeof makeMessage>>()
  #outbox: Outbox | undefined

  constructor(world: World, crew: Crew, random: Random) {
    this.#world = world
    this.#crew = crew
    this.#random = random
    this.#restamp = random.chance(0.2)
  }

  /** Takes in some messages, over time. */
  async run(name: string): Promise<void> {
    const random = this.#random
    const count = 2 + random.int(6)
    const reopenAt = random.chance(0.4) ? random.int(count) : -1
    let outbox = await this.#open()
    for (let index = 0; index < count; index++) {
      const id = `${name} entry ${index}`
      const content = makeMessage(random, id)
      this.#contents.set(id, content)
      const confirm = random.pick(['published', 'stored'] as const)
      await this.#world.watch.settled(id, 1_000, outbox.enqueue(content, { id, confirm }))
      await rest(random.int(150))
      if (index === reopenAt) {
        await this.#world.watch.settled(`${name}: closing`, CLOSE_MS, outbox.close())
        outbox = await this.#open()
      }
    }
  }

  /** Once there are no more faults: waits until nothing is left to do, and writes down what became of the entries. */
  async finish(): Promise<void> {
    const outbox = this.#outbox
    if (outbox === undefined) {
      return
    }
    const done = Promise.withResolvers<void>()
    const check = (): void => {
      if (outbox.list().every((entry) => this.#isAtEnd(entry))) {
        done.resolve()
      }
    }
    const stop = outbox.onChange(check)
    const timer = setTimeout(done.resolve, FINISH_MS)
    outbox.kick()
    check()
    await done.promise
    clearTimeout(timer)
    stop()
    await this.#world.watch.settled('an outbox: closing', CLOSE_MS, outbox.close())
    for (const entry of await this.#storage.entries()) {
      this.#note(entry)
      const { id, state } = entry
      this.#world.ledger.entries.push({
        name: id,
        state,
        isRestamped: this.#restamp,
        hashes: [...(this.#hashes.get(id) ?? [])],
        sent: entry.sent.map(({ messageHash }) => toHex(messageHash))
      })
      if (!this.#isAtEnd(entry)) {
        this.#world.watch.trouble(`${id}: is ${state} still, ${FINISH_MS} ms after the last fault`)
      }
    }
  }

  /**
   * One store node is asked at a time. One that was down when a message was relayed lacks it, and is asked again and again:
   * where nodes were restarted, what is published may wait longer than anybody does here, and what is behind it with
   * `restamp` too.
   */
  #isAtEnd(entry: OutboxEntry): boolean {
    const mayWait = entry.state === 'published' || (entry.state === 'queued' && this.#restamp)
    return isFinished(entry) || (mayWait && this.#world.ledger.hasRestarts)
  }

  async #open(): Promise<Outbox> {
    const { lightPush, store } = this.#crew
    const outbox = await createOutbox(
      { lightPush, store },
      {
        storage: this.#storage,
        restamp: this.#restamp,
        minBackoffMs: 50,
        maxBackoffMs: 500,
        locks: null,
        createChannel: null
      }
    )
    outbox.onChange(({ entry }) => this.#note(entry))
    this.#outbox = outbox
    return outbox
  }

  /** What is sealed may leave from then on. */
  #note({ id, sent }: OutboxEntry): void {
    const content = this.#contents.get(id)
    for (const { messageHash, timestamp } of content === undefined ? [] : sent) {
      const hash = toHex(messageHash)
      const known = know(this.#world.ledger, id, { ...content, timestamp } as never)
      if (known !== hash) {
        this.#world.watch.trouble(`${id}: has another hash than its content`)
      }
      this.#hashes.set(id, (this.#hashes.get(id) ?? new Set()).add(hash))
    }
  }
}
