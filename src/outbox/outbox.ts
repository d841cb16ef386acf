import { ClosedError, InvalidArgumentError } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import { Pauses } from '../lib/pauses.ts'
import { distinctTimes } from '../lib/time.ts'
import { Turnstile } from '../lib/turnstile.ts'
import { onWake } from '../lib/wake.ts'
import { assertRoom, type Draft, type EnqueueOptions, toDraft } from './admission.ts'
import type { OutboxComponents } from './components.ts'
import type { OutboxChange, OutboxEntry, OutboxMessage } from './entry.ts'
import { type OutboxChannel, type OutboxInit, type OutboxSettings, toSettings } from './init.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { recover } from './recovery.ts'
import { EntryView } from './view.ts'

/** How long {@link Outbox.close} waits for what is under way, in milliseconds. */
const CLOSE_MS = 3_000

/** Publishes what it is given, whatever happens to the network or the page meanwhile. */
export interface Outbox {
  /**
   * Takes in a message to publish. It is sent after those of its content topic that came before.
   *
   * @param message - copied; its timestamp is set when it is sent
   * @returns its entry, once that survives a crash
   * @throws {@link InvalidArgumentError}, also for another message under an id that is taken; {@link MessageTooLargeError}
   * @throws {@link LimitExceededError} if the outbox is full
   * @throws {@link StorageFullError}, {@link StorageError}, {@link ClosedError}, or the signal's own reason
   */
  enqueue(message: OutboxMessage, options?: EnqueueOptions): Promise<OutboxEntry>
  /** What is known of an entry; undefined if it is not, or no longer, remembered. */
  get(id: string): OutboxEntry | undefined
  /** What is known of all entries, in order. */
  list(): OutboxEntry[]
  /** The content of an entry; undefined once it is published or stored. */
  message(id: string): Promise<OutboxMessage | undefined>
  /** Tells a listener of each change, here or in another tab; returns a function that ends this. */
  onChange(listener: (change: OutboxChange) => void): () => void
  /** Tries at once what waits for its next try. `online` and a page that becomes visible do the same. */
  kick(): void
  /**
   * Stops; what is not finished goes on in another tab, or when the outbox is created again. Takes three seconds at the
   * most, and may be called again.
   */
  close(): Promise<void>
}

/**
 * Creates an outbox, and begins to send what is in its storage as soon as no other tab does. Close it when done.
 *
 * @throws {@link InvalidArgumentError} for options that are wrong or do not go together
 * @throws {@link StorageError} if the storage cannot be read
 *
 * @example
 * ```ts
 * const outbox = await createOutbox(
 *   { lightPush: new LightPushClient(node), store: new StoreClient(node), node },
 *   { storage: indexedDbStorage('my-chat-outbox'), confirm: 'stored' }
 * )
 * outbox.onChange(({ entry }) => console.log(entry.id, entry.state))
 * const { id } = await outbox.enqueue({ contentTopic: '/chat/1/lobby/proto', payload })
 * ```
 */
export async function createOutbox(
  components: OutboxComponents,
  init: OutboxInit
): Promise<Outbox> {
  if (typeof components?.lightPush?.push !== 'function') {
    throw new InvalidArgumentError('components.lightPush', 'must be a light push client')
  }
  const outbox = new DurableOutbox(components, toSettings(init, components))
  try {
    await outbox.open()
  } catch (error) {
    await outbox.close()
    throw error
  }
  return outbox
}

class DurableOutbox implements Outbox {
  readonly #components: OutboxComponents
  readonly #settings: OutboxSettings
  readonly #view = new EntryView()
  readonly #pauses: Pauses
  readonly #closing = new AbortController()
  /** Aborted at the end of {@link close}: from then on nothing is written. */
  readonly #ended = new AbortController()
  /** Set while this tab is the one that sends. */
  #lanes: Lanes | undefined
  #channel: OutboxChannel | undefined
  #leading: Promise<void> = Promise.resolve()
  #closed: Promise<void> | undefined

  constructor(components: OutboxComponents, settings: OutboxSettings) {
    this.#components = components
    this.#settings = settings
    this.#pauses = new Pauses(settings)
  }

  async open(): Promise<void> {
    const { storage, createChannel } = this.#settings
    this.#channel = createChannel?.(`waku-light/outbox/${storage.scope}`)
    if (this.#channel !== undefined) {
      this.#channel.onmessage = this.#onTold
    }
    for (const entry of await storage.entries()) {
      this.#view.set(entry)
    }
    // The tab that sends does not know of what a tab took in that crashed before it could tell.
    const pending = this.#view.pending()
    if (pending.length > 0) {
      this.#tell(pending.map(({ id }) => id))
    }
    const { signal } = this.#closing
    onWake(() => this.kick(), signal)
    const end = this.#components.node?.onStateChange(({ status }) => {
      if (status === 'ready') {
        this.kick()
      }
    })
    signal.addEventListener('abort', () => end?.())
    this.#leading = this.#lead(signal)
  }

  async enqueue(given: OutboxMessage, options: EnqueueOptions = {}): Promise<OutboxEntry> {
    this.#closing.signal.throwIfAborted()
    const draft = toDraft(given, options, this.#settings, this.#components)
    const known = this.#view.get(draft.entry.id) ?? (await this.#add(draft, options.signal))
    if (known.fingerprint !== draft.entry.fingerprint) {
      throw new InvalidArgumentError('id', 'is that of another message')
    }
    return known
  }

  get(id: string): OutboxEntry | undefined {
    return this.#view.get(id)
  }

  list(): OutboxEntry[] {
    return this.#view.list()
  }

  async message(id: string): Promise<OutboxMessage | undefined> {
    return await withSignals([this.#closing.signal], () => this.#settings.storage.message(id))
  }

  onChange(listener: (change: OutboxChange) => void): () => void {
    return this.#view.listeners.add(listener)
  }

  kick(): void {
    this.#pauses.wake()
    this.#tell([]) // the tab that sends may be in the background
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close()
    await this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort(new ClosedError('the outbox'))
    const { storage, sleep } = this.#settings
    const ending = this.#leading.then(() => storage.close())
    await Promise.race([ending, sleep(CLOSE_MS, this.#ended.signal)]).catch(() => {})
    this.#ended.abort()
    this.#channel?.close()
    this.#channel = undefined
    this.#view.listeners.clear()
  }

  /** Waits until no other tab sends, then sends until this one is closed. */
  async #lead(signal: AbortSignal): Promise<void> {
    const { storage } = this.#settings
    let { locks } = this.#settings
    for (let failures = 0; !signal.aborted; failures++) {
      const over = new AbortController()
      const lost = AbortSignal.any([over.signal, this.#ended.signal])
      try {
        const session = (): Promise<void> => this.#session(signal, lost)
        await (locks === null
          ? session()
          : locks.request(`waku-light/outbox/${storage.scope}`, { signal }, session))
      } catch (error) {
        // Closed, or the lock was stolen, or the storage cannot be read: another tab may have more luck.
        if ((error as Partial<Error> | undefined)?.name === 'SecurityError') {
          locks = null // a frame with an origin of its own: there are no locks, and nobody to share a storage with
        }
      }
      over.abort()
      await this.#pauses
        .wait(this.#pauses.backoffMs(failures), this.#pauses.waking, signal)
        .catch(() => {})
    }
  }

  async #session(closing: AbortSignal, lost: AbortSignal): Promise<void> {
    const session = {
      components: this.#components,
      settings: this.#settings,
      view: this.#view,
      pauses: this.#pauses,
      turnstile: new Turnstile(this.#settings.maxConcurrent, Infinity),
      tell: this.#tell,
      signal: AbortSignal.any([closing, lost]),
      lost,
      stamp: distinctTimes(this.#settings.now)
    }
    try {
      await withSignals([lost], async () => {
        await recover(session)
        lost.throwIfAborted() // the next session may be under way
        const lanes = createLanes(session)
        this.#lanes = lanes
        await lanes.idle()
      })
    } finally {
      this.#lanes = undefined
    }
  }

  async #add({ entry, message }: Draft, signal: AbortSignal | undefined): Promise<OutboxEntry> {
    assertRoom(this.#view, this.#settings, entry)
    this.#view.arriving.add(entry)
    try {
      return await withSignals([this.#closing.signal, signal], async () => {
        const added = await this.#settings.storage.add(entry, message)
        this.#view.arriving.delete(entry) // listeners may enqueue, and it counts once
        this.#take(added)
        this.#tell([added.id])
        return added
      })
    } finally {
      this.#view.arriving.delete(entry)
    }
  }

  /** Tells other tabs which entries changed; none is a kick. */
  readonly #tell = (ids: readonly string[]): void => this.#channel?.postMessage(ids)

  /** As {@link #tell} says it in another tab. */
  readonly #onTold = ({ data }: MessageEvent<unknown>): void => {
    if (!Array.isArray(data) || this.#closing.signal.aborted) {
      return
    }
    if (data.length === 0) {
      this.#pauses.wake()
    }
    for (const id of data) {
      this.#refresh(String(id)).catch(() => {}) // what cannot be read now is read by the tab that sends
    }
  }

  async #refresh(id: string): Promise<void> {
    const entry = await this.#settings.storage.entry(id)
    if (entry !== undefined) {
      this.#take(entry)
    } else if (this.#lanes === undefined) {
      this.#view.delete(id)
    }
  }

  /** The tab that sends knows better of what it has, and takes in what is new. */
  #take(entry: OutboxEntry): void {
    if (this.#lanes === undefined || this.#view.get(entry.id) === undefined) {
      this.#view.set(entry)
      this.#lanes?.next(entry.contentTopic)
    }
  }
}
