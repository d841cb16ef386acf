// A room: its messages, the way to send, the way back through history, and the state of the connection. No DOM in here.
//
// What is read goes into the archive first, and from there to the screen: catching up and reading along fill it (catch-up.ts),
// and so does scrolling back behind what it has.
import type { Archive } from 'waku-light/archive'
import type { LightPushClient, PushResult } from 'waku-light/light-push'
import { fromHex, fromMilliseconds, messageHash, toHex, toPubsubTopic } from 'waku-light/message'
import type { LightNode } from 'waku-light/node'
import type { Resume } from 'waku-light/resume'
import type { StoreClient, StoredMessage } from 'waku-light/store'
import { CatchUp } from './catch-up.ts'
import { History } from './history.ts'
import {
  type CatchUpState,
  type ConnectionState,
  type Delivery,
  decodeContent,
  type Entry,
  encodeContent,
  type HistoryState
} from './model.ts'
import { describeError, describePush } from './words.ts'

export type RoomEvent =
  | { readonly type: 'entries'; readonly arrived: readonly Entry[] }
  | { readonly type: 'history' }
  /** Of the connection, or of catching up. */
  | { readonly type: 'status' }

export interface RoomInit {
  readonly node: Pick<
    LightNode,
    'network' | 'state' | 'connectedPeers' | 'onStateChange' | 'reconnect'
  >
  readonly store: StoreClient
  readonly lightPush: LightPushClient
  readonly archive: Archive
  /** Of this room's content topic, into the archive. */
  readonly resume: Resume
  readonly contentTopic: string
  readonly nick: string
  /** Hashes of what was sent from here in earlier sessions. */
  readonly ownHashes: Iterable<string>
  /** Told each hash before its message is sent. */
  readonly onOwnHash: (hash: string) => void
  readonly onEvent: (event: RoomEvent) => void
}

interface Outgoing {
  readonly contentTopic: string
  readonly payload: Uint8Array<ArrayBuffer>
  readonly timestamp: bigint
}

const PUSH_TIMEOUT_MS = 20_000

export class Room {
  readonly #init: RoomInit
  readonly #closing = new AbortController()
  readonly #own: Set<string>
  readonly #byHash = new Map<string, Entry>()
  /** What has to be sent again with identical bytes, by the entry's key. */
  readonly #outgoing = new Map<string, Outgoing>()
  readonly #catchUp: CatchUp
  readonly #pages: History
  readonly #stopWatching: () => void
  #entries: Entry[] = []
  #connection: ConnectionState = { state: 'connecting' }
  #history: HistoryState = { state: 'idle' }
  /** What reached the archive before there was anything to show it with. */
  #early: StoredMessage[] = []
  #lastTime = 0n
  #nextKey = 0

  constructor(init: RoomInit) {
    this.#init = init
    this.#own = new Set(init.ownHashes)
    this.#catchUp = new CatchUp(init.resume, this.#closing.signal, () =>
      this.#emit({ type: 'status' })
    )
    this.#pages = new History(init, this.#closing.signal)
    this.#stopWatching = init.node.onStateChange(() => this.#onNodeState())
  }

  /** Oldest first. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  get connection(): ConnectionState {
    return this.#connection
  }

  get history(): HistoryState {
    return this.#history
  }

  get catchUp(): CatchUpState {
    return this.#catchUp.state
  }

  /** Shows what the archive has, catches up, then reads along until the room is closed. */
  async open(): Promise<void> {
    const { signal } = this.#closing
    this.#onNodeState()
    this.#init.archive.subscribe((messages) => this.#onAdded(messages), { signal })
    await Promise.all([this.loadOlder(), this.#catchUp.follow()])
  }

  /** One page further back: from the archive, and where that has no more, from a service node. */
  async loadOlder(): Promise<void> {
    if (this.#history.state === 'loading' || this.#history.state === 'complete') {
      return
    }
    this.#setHistory({ state: 'loading' })
    const { signal } = this.#closing
    try {
      const { messages, hasMore } = await this.#pages.before(this.#oldestStored())
      this.#show(messages, [])
      await this.#init.archive.putMany(messages, { signal })
      this.#setHistory({ state: hasMore ? 'idle' : 'complete' })
    } catch (error) {
      if (!signal.aborted) {
        this.#setHistory({ state: 'failed', reason: describeError(error) })
      }
    }
    this.#showNewer(this.#early.splice(0), [])
  }

  /** Shows the message at once, then what becomes of it. */
  async send(text: string): Promise<void> {
    const content = { nick: this.#init.nick, text }
    const payload = encodeContent(content)
    // strictly later than the one before, so that what is typed fast stays in order
    const now = fromMilliseconds(Date.now())
    this.#lastTime = now > this.#lastTime ? now : this.#lastTime + 1n
    const entry: Entry = {
      key: `sent-${this.#nextKey++}`,
      time: this.#lastTime,
      content,
      sizeBytes: payload.length,
      own: true,
      stored: false
    }
    this.#outgoing.set(entry.key, {
      contentTopic: this.#init.contentTopic,
      payload,
      timestamp: entry.time
    })
    this.#insert(entry)
    await this.#push(entry)
  }

  /** Only a message of which nothing can have left is made anew; any other is repeated, bit by bit. */
  async sendAgain(entry: Entry): Promise<void> {
    if (entry.delivery?.state === 'failed' && entry.content !== undefined) {
      this.#remove(entry)
      await this.send(entry.content.text)
    } else if (entry.delivery?.state === 'unknown') {
      await this.#push(entry)
    }
  }

  /** Asks a service node whether it has the message. */
  async check(entry: Entry): Promise<void> {
    if (entry.hash === undefined || entry.delivery?.state !== 'unknown') {
      return
    }
    const { delivery } = entry
    const checking: Delivery = { ...delivery, checking: true }
    this.#setDelivery(entry, checking)
    let { reason } = delivery
    try {
      const { signal } = this.#closing
      const [isFound] = await this.#init.store.has([fromHex(entry.hash)], { signal })
      if (isFound) {
        entry.stored = true
      } else {
        reason = 'the service node does not have it (yet)'
      }
    } catch (error) {
      reason = `it could not be checked: ${describeError(error)}`
    }
    if (entry.delivery === checking) {
      entry.delivery = { ...delivery, reason }
    } // else it was sent again meanwhile
    this.#emit({ type: 'entries', arrived: [] })
  }

  /** Tries to connect now, instead of at the end of a pause. */
  reconnect(): void {
    this.#init.node.reconnect()
  }

  /** Asks again for what was said meanwhile and could not be had. */
  async retryCatchUp(): Promise<void> {
    await this.#catchUp.retry()
  }

  close(): void {
    this.#closing.abort()
    this.#stopWatching()
  }

  async #push(entry: Entry): Promise<void> {
    const message = this.#outgoing.get(entry.key)
    if (message === undefined) {
      return
    }
    this.#setDelivery(entry, { state: 'sending' })
    const { node, lightPush, onOwnHash } = this.#init
    const { signal } = this.#closing
    try {
      // The hash is needed before the push is over: reading along may meet the message first.
      const network = await node.network({ signal, timeoutMs: PUSH_TIMEOUT_MS })
      const pubsubTopic = toPubsubTopic(message.contentTopic, network)
      const hash = toHex(messageHash(pubsubTopic, message))
      entry.hash = hash
      this.#byHash.set(hash, entry)
      this.#own.add(hash)
      onOwnHash(hash)
      this.#settle(entry, await lightPush.push(message, { signal, timeoutMs: PUSH_TIMEOUT_MS }))
    } catch (error) {
      if (!signal.aborted) {
        this.#setDelivery(entry, { state: 'failed', reason: describeError(error) })
      }
    }
  }

  #settle(entry: Entry, result: PushResult): void {
    const { status, relayPeerCount } = result
    if (status === 'published') {
      this.#setDelivery(entry, { state: status, relayPeerCount })
      return
    }
    const isStranded = result.attempts.some(({ reason }) => reason === 'not-relayed')
    this.#setDelivery(entry, { state: status, reason: describePush(result), isStranded })
    this.reconnect() // whatever ended the push shows in the connection, too
  }

  #onNodeState(): void {
    const { state, connectedPeers } = this.#init.node
    const { status, lastError, nextRetryAtMs: retryAtMs } = state
    const reason = lastError && describeError(lastError)
    if (status === 'ready') {
      this.#setConnection({ state: 'connected', nodeCount: connectedPeers.length })
    } else if (status === 'incompatible') {
      this.#setConnection({ state: 'stopped', reason: reason ?? 'no service node can be used' })
    } else if (status !== 'closed' && (this.#connection.state !== 'connecting' || reason)) {
      this.#setConnection({ state: 'reconnecting', reason, retryAtMs })
    }
  }

  #onAdded(added: readonly StoredMessage[]): void {
    const messages = added.filter(({ contentTopic }) => contentTopic === this.#init.contentTopic)
    const others = messages.filter(({ messageHash: hash }) => !this.#own.has(toHex(hash)))
    const fresh = others.filter(({ timestamp = 0n }) => !this.#catchUp.note(timestamp))
    if (this.#history.state === 'loading' && this.#oldestStored() === undefined) {
      this.#early.push(...messages)
    } else {
      this.#showNewer(messages, fresh)
    }
  }

  /** Leaves out what has older history after it that is not shown yet: scrolling back brings it. */
  #showNewer(messages: readonly StoredMessage[], fresh: readonly StoredMessage[]): void {
    const oldest = this.#oldestStored()
    const shown = messages.filter(
      ({ timestamp = 0n }) =>
        this.#history.state === 'complete' || oldest === undefined || timestamp >= oldest.time
    )
    this.#show(shown, fresh)
  }

  #oldestStored(): Entry | undefined {
    return this.#entries.find(({ stored }) => stored)
  }

  /**
   * Puts messages of a service node's archive in their places; those that are known already are now known to be stored.
   *
   * @param fresh - those of them that have just been said
   */
  #show(messages: readonly StoredMessage[], fresh: readonly StoredMessage[]): void {
    const arrived: Entry[] = []
    for (const message of messages) {
      const hash = toHex(message.messageHash)
      const known = this.#byHash.get(hash)
      if (known !== undefined) {
        known.stored = true
        continue
      }
      const entry: Entry = {
        key: hash,
        hash,
        time: message.timestamp ?? 0n,
        content: decodeContent(message.payload),
        sizeBytes: message.payload.length,
        own: this.#own.has(hash),
        stored: true
      }
      this.#byHash.set(hash, entry)
      this.#place(entry)
      if (fresh.includes(message)) {
        arrived.push(entry)
      }
    }
    if (messages.length > 0) {
      this.#emit({ type: 'entries', arrived })
    }
  }

  #insert(entry: Entry): void {
    this.#place(entry)
    this.#emit({ type: 'entries', arrived: [] })
  }

  #place(entry: Entry): void {
    const before = this.#entries.findLastIndex((other) => isBefore(other, entry))
    this.#entries.splice(before + 1, 0, entry)
  }

  #remove(entry: Entry): void {
    this.#entries = this.#entries.filter((other) => other !== entry)
    this.#outgoing.delete(entry.key)
    if (entry.hash !== undefined) {
      this.#byHash.delete(entry.hash)
    }
  }

  #setDelivery(entry: Entry, delivery: Delivery): void {
    entry.delivery = delivery
    this.#emit({ type: 'entries', arrived: [] })
  }

  #setHistory(history: HistoryState): void {
    this.#history = history
    this.#emit({ type: 'history' })
  }

  #setConnection(connection: ConnectionState): void {
    const before = JSON.stringify(this.#connection)
    if (before === JSON.stringify(connection)) {
      return
    }
    this.#connection = connection
    this.#emit({ type: 'status' })
    if (connection.state === 'connected') {
      this.#retryAll().catch(reportError)
    }
  }

  /** What could not be read while the service node was away can be read now. */
  async #retryAll(): Promise<void> {
    await Promise.all([
      this.#history.state === 'failed' && this.loadOlder(),
      this.catchUp.state === 'failed' && this.#catchUp.retry()
    ])
  }

  #emit(event: RoomEvent): void {
    if (!this.#closing.signal.aborted) {
      this.#init.onEvent(event)
    }
  }
}

/** The order of the store protocol: by time, then by hash. */
function isBefore(a: Entry, b: Entry): boolean {
  return a.time === b.time ? (a.hash ?? '') < (b.hash ?? '') : a.time < b.time
}
