// The way back through history, page by page: what the archive has, and behind that what a service node has.
import type { Archive } from 'waku-light/archive'
import { hasErrorCode } from 'waku-light/errors'
import { fromHex } from 'waku-light/message'
import type { StoreClient, StoredMessage } from 'waku-light/store'
import type { Entry } from './model.ts'

const PAGE_LIMIT = 20

export interface HistoryInit {
  readonly archive: Archive
  readonly store: StoreClient
  readonly contentTopic: string
}

/** A page, and whether there may be something older. */
export interface HistoryPage {
  readonly messages: readonly StoredMessage[]
  readonly hasMore: boolean
}

export class History {
  readonly #init: HistoryInit
  readonly #signal: AbortSignal
  /** Where the walk at service nodes began, and from where it goes on; plain text. */
  #walk: { readonly timeEnd: bigint | undefined; position?: string } | undefined

  constructor(init: HistoryInit, signal: AbortSignal) {
    this.#init = init
    this.#signal = signal
  }

  /** What comes before a message; the newest page, without one. */
  async before(oldest: Entry | undefined): Promise<HistoryPage> {
    const messages = await this.#readArchive(oldest)
    return messages.length > 0 ? { messages, hasMore: true } : await this.#askNode(oldest)
  }

  async #readArchive(oldest: Entry | undefined): Promise<StoredMessage[]> {
    const { archive, contentTopic } = this.#init
    const after = oldest && { timestamp: oldest.time, messageHash: fromHex(oldest.hash ?? '') }
    const messages: StoredMessage[] = []
    for await (const message of archive.walk(
      { contentTopics: [contentTopic], direction: 'backward', after },
      { signal: this.#signal }
    )) {
      messages.push(message)
      if (messages.length === PAGE_LIMIT) {
        break
      }
    }
    return messages
  }

  async #askNode(oldest: Entry | undefined): Promise<HistoryPage> {
    // messages of the very same time come again, and are known by their hashes
    this.#walk ??= { timeEnd: oldest && oldest.time + 1n }
    const { timeEnd, position } = this.#walk
    try {
      const pages = this.#init.store.queryPages(
        { contentTopics: [this.#init.contentTopic], timeEnd },
        { direction: 'backward', pageLimit: PAGE_LIMIT, position, signal: this.#signal }
      )
      for await (const { messages, completeness, position: next } of pages) {
        this.#walk.position = next
        const hasMore = completeness === 'more'
        if (messages.length > 0 || !hasMore) {
          return { messages, hasMore }
        }
      }
      return { messages: [], hasMore: false }
    } catch (error) {
      if (hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY')) {
        this.#walk.position = error.position
      }
      throw error
    }
  }
}
