// A room: its messages, the way to send, the way back through history, and the state of the connection. No DOM in here.
import { hasErrorCode } from 'waku-light/errors'
import type { LightPushClient, PushResult } from 'waku-light/light-push'
import { fromHex, fromMilliseconds, messageHash, toHex, toPubsubTopic } from 'waku-light/message'
import type { LightNode } from 'waku-light/node'
import type { FollowProgress, StoreClient, StoredMessage } from 'waku-light/store'
import {
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
  | { readonly type: 'connection' }

export interface RoomInit {
  readonly node: LightNode
  readonly store: StoreClient
  readonly lightPush: LightPushClient
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

const PAGE_LIMIT = 20
const FOLLOW_INTERVAL_MS = 1_500
// Nodes archive what is within 20 s of their clock, so the clocks of two people may be 40 s apart.
const OVERLAP_MS = 60_000
const SETTLING_MS = 10 * 60_000
const PUSH_TIMEOUT_MS = 20_000

export class Room {
  readonly #init: RoomInit
  readonly #closing = new AbortController()
  readonly #own: Set<string>
  readonly #byHash = new Map<string, Entry>()
  /** What has to be sent again with identical bytes, by the entry's key. */
  readonly #outgoing = new Map<string, Outgoing>()
  readonly #stopWatching: () => void
  #entries: Entry[] = []
  #connection: ConnectionState = { state: 'connecting' }
  #history: HistoryState = { state: 'idle' }
  /** From where the walk back goes on; plain text. */
  #position: string | undefined
  #following: AbortController | undefined
  #lastTime = 0n
  #nextKey = 0

  constructor(init: RoomInit) {
    this.#init = init
    this.#own = new Set(init.ownHashes)
    this.#stopWatching = init.node.onConnectionChange(() => this.#onConnectionChange())
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

  /** Reads the newest page, then reads along until the room is closed. */
  async open(): Promise<void> {
    await this.loadOlder()
    while (!this.#closing.signal.aborted) {
      await this.#follow()
    }
  }

  /** One page further back. */
  async loadOlder(): Promise<void> {
    if (this.#history.state === 'loading' || this.#history.state === 'complete') {
      return
    }
    this.#setHistory({ state: 'loading' })
    const { store, contentTopic } = this.#init
    try {
      const pages = store.queryPages(
        { contentTopics: [contentTopic] },
        {
          direction: 'backward',
          pageLimit: PAGE_LIMIT,
          position: this.#position,
          signal: this.#closing.signal
        }
      )
      let hasMore = false
      for await (const page of pages) {
        this.#position = page.position
        hasMore = page.completeness === 'more'
        this.#take(page.messages, false)
        if (page.messages.length > 0) {
          break
        }
      }
      this.#setHistory({ state: hasMore ? 'idle' : 'complete' })
    } catch (error) {
      if (hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY')) {
        this.#position = error.position
      }
      if (!this.#closing.signal.aborted) {
        this.#setHistory({ state: 'failed', reason: describeError(error) })
      }
    }
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
    this.#setDelivery(entry, { ...delivery, checking: true })
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
    this.#setDelivery(entry, { ...delivery, reason })
  }

  /** Asks now, instead of at the end of a pause. */
  kick(): void {
    if (this.#connection.state !== 'connected') {
      this.#setConnection({ state: 'reconnecting' })
    }
    this.#following?.abort()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#stopWatching()
    await this.#init.node.close()
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
    this.kick() // whatever ended the push shows in the connection, too
  }

  async #follow(): Promise<void> {
    const following = new AbortController()
    this.#following = following
    const signal = AbortSignal.any([this.#closing.signal, following.signal])
    try {
      const tail = this.#init.store.follow(
        { contentTopics: [this.#init.contentTopic], timeStart: this.#followFrom() },
        {
          signal,
          intervalMs: FOLLOW_INTERVAL_MS,
          overlapMs: OVERLAP_MS,
          onProgress: (event) => this.#onFollowProgress(event)
        }
      )
      for await (const message of tail) {
        this.#take([message], true)
      }
    } catch (error) {
      if (!signal.aborted) {
        this.#setConnection({ state: 'stopped', reason: describeError(error) })
        await aborted(signal)
      }
    }
  }

  /**
   * Back behind the newest message that is known, but not into what the walk back has yet to bring. With nothing known, far
   * enough back for clocks that differ.
   */
  #followFrom(): bigint {
    const stored = this.#entries.filter((entry) => entry.stored)
    const [oldest, newest] = [stored[0], stored.at(-1)]
    if (oldest === undefined || newest === undefined) {
      return fromMilliseconds(Date.now() - SETTLING_MS)
    }
    const overlapping = newest.time - fromMilliseconds(OVERLAP_MS)
    return overlapping > oldest.time ? overlapping : oldest.time
  }

  #onFollowProgress(event: FollowProgress): void {
    if (event.type === 'store:caught-up') {
      const nodeCount = this.#init.node.connectedPeers.length
      this.#setConnection({ state: 'connected', nodeCount: Math.max(nodeCount, 1) })
    } else if (event.type === 'store:follow-failed') {
      const { error, retryInMs } = event.detail
      const retryAtMs = Date.now() + retryInMs
      this.#setConnection({ state: 'reconnecting', reason: describeError(error), retryAtMs })
    }
  }

  #onConnectionChange(): void {
    const nodeCount = this.#init.node.connectedPeers.length
    const { state } = this.#connection
    if (state === 'connected') {
      this.#setConnection(nodeCount > 0 ? { state, nodeCount } : { state: 'reconnecting' })
    } else if (nodeCount > 0 && state === 'reconnecting') {
      // a push has reached the node while reading along still pauses
      if ((this.#connection.retryAtMs ?? 0) > Date.now()) {
        this.kick()
      }
    }
  }

  /** Takes messages from the archive in; those that are known already are now known to be stored. */
  #take(messages: readonly StoredMessage[], areNew: boolean): void {
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
      if (areNew && !entry.own) {
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
    this.#emit({ type: 'connection' })
    // what could not be read while the node was away can be read now
    if (connection.state === 'connected' && this.#history.state === 'failed') {
      this.loadOlder().catch(reportError)
    }
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
    } else {
      signal.addEventListener('abort', () => resolve(), { once: true })
    }
  })
}
