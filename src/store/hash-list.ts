import { LimitExceededError } from '../errors.ts'
import { fromHex, toHex } from '../lib/bytes.ts'
import type { ServicePeer } from '../transport/service-peers.ts'
import type { SubQuery } from './criteria.ts'
import { lookUp, MAX_HASHES_PER_REQUEST } from './lookup.ts'
import type { Row } from './page.ts'
import { type AskedPage, rawPages } from './raw-pages.ts'
import { StoreSession } from './session.ts'
import { statedHash } from './verification.ts'
import type { WalkInit } from './walker.ts'

/** Hashes of one list that are held: messages of one time, or such as cannot be had. */
const MAX_HASHES = 2_000

/** A stretch of time: what a node is asked for. */
export interface TimeRange {
  readonly timeStart?: bigint
  readonly timeEnd?: bigint
}

/** The hashes that a node has in a stretch, as far as they have been asked for, in the order of walking. */
export interface HashList {
  /** Hexadecimal; those of messages that were delivered are taken out. */
  readonly hashes: Set<string>
  /** False: there are more after the last one. */
  isComplete: boolean
  readonly pages: AsyncGenerator<AskedPage>
}

/** Asks one node for hashes, and for messages by their hashes. */
export class HashNode {
  readonly #init: WalkInit
  readonly #session: StoreSession
  readonly #peerId: string
  readonly #subQueries: readonly SubQuery[]

  constructor(init: WalkInit, peer: ServicePeer, subQueries: readonly SubQuery[]) {
    this.#init = init
    this.#subQueries = subQueries
    this.#peerId = peer.peerId
    this.#session = new StoreSession({ ...init, peer })
  }

  /** Gives up what is under way. */
  end(): void {
    this.#session.end()
  }

  /** A list of each request's hashes in a stretch; nothing is asked for yet. */
  list(range: TimeRange): HashList[] {
    const { forward, pageLimit: limit } = this.#init
    return this.#subQueries.map((subQuery) => ({
      hashes: new Set(),
      isComplete: false,
      pages: rawPages(this.#session, {
        ...subQuery,
        ...range,
        forward,
        limit,
        includeData: false,
        messageHashes: []
      })
    }))
  }

  /** Asks for the next page of a list. */
  async extend(list: HashList, signal: AbortSignal): Promise<void> {
    this.#session.signal = signal
    const { value } = (await list.pages.next()) as IteratorYieldResult<AskedPage>
    const { entries, completeness } = value.page
    const hashes = entries.map((entry) => toHex(statedHash(entry)))
    const before = list.hashes.size
    for (const hash of this.#init.forward ? hashes : hashes.reverse()) {
      list.hashes.add(hash)
    }
    list.isComplete = completeness !== 'more'
    if (!list.isComplete && list.hashes.size === before) {
      throw this.#session.violation('no-progress', 'a page of hashes holds nothing new')
    }
    if (list.hashes.size > MAX_HASHES) {
      throw new LimitExceededError('too many hashes of which the time is not known', MAX_HASHES)
    }
  }

  /** The messages with these hashes that the node has and that match. */
  async fetch(hashes: readonly string[], signal: AbortSignal): Promise<Row[]> {
    const rows: Row[] = []
    const init = { ...this.#init, peerId: this.#peerId }
    for (let index = 0; index < hashes.length; index += MAX_HASHES_PER_REQUEST) {
      const batch = hashes.slice(index, index + MAX_HASHES_PER_REQUEST).map(fromHex)
      rows.push(...(await lookUp(init, batch, true, signal)))
    }
    return rows.filter((row) => this.#matches(row))
  }

  #matches({ message, time }: Row): boolean {
    const { timeStart = time, timeEnd } = this.#init.criteria
    const matches =
      time >= timeStart &&
      (timeEnd === undefined || time < timeEnd) &&
      this.#subQueries.some(
        ({ pubsubTopic, contentTopics }) =>
          (pubsubTopic ?? message.pubsubTopic) === message.pubsubTopic &&
          (contentTopics.length === 0 || contentTopics.includes(message.contentTopic))
      )
    if (!matches && time !== timeEnd) {
      const { messageHash } = message
      const detail = 'it was listed, but does not match'
      this.#session.reportRejected([{ reason: 'foreign', messageHash, detail }])
    }
    return matches
  }
}
