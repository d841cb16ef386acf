/** What a message was published on. */
export interface SyncTopics {
  readonly pubsubTopic: string
  readonly contentTopic: string
}

/** Which messages count: those on one of the pubsub topics and one of the content topics; an empty list allows all. */
export interface SyncFilter {
  readonly pubsubTopics: readonly string[]
  readonly contentTopics: readonly string[]
}

/** Small numbers for pairs of topics, each kept while entries use it. */
export class TopicTable {
  readonly #ids = new Map<string, number>()
  readonly #pairs: (SyncTopics | undefined)[] = []
  readonly #counts: number[] = []
  readonly #free: number[] = []

  /** The number of a pair, which counts one more entry now. */
  acquire({ pubsubTopic, contentTopic }: SyncTopics): number {
    const key = `${pubsubTopic}\n${contentTopic}`
    let id = this.#ids.get(key)
    if (id === undefined) {
      id = this.#free.pop() ?? this.#pairs.length
      this.#ids.set(key, id)
      this.#pairs[id] = { pubsubTopic, contentTopic }
      this.#counts[id] = 0
    }
    this.#counts[id] = (this.#counts[id] ?? 0) + 1
    return id
  }

  /** One entry less uses the number. */
  release(id: number): void {
    const pair = this.#pairs[id]
    const count = (this.#counts[id] ?? 0) - 1
    this.#counts[id] = count
    if (count === 0 && pair !== undefined) {
      this.#ids.delete(`${pair.pubsubTopic}\n${pair.contentTopic}`)
      this.#pairs[id] = undefined
      this.#free.push(id)
    }
  }

  /** Which numbers a filter allows; undefined if all that are in use. */
  select({ pubsubTopics, contentTopics }: SyncFilter): ReadonlySet<number> | undefined {
    const pubsub = new Set(pubsubTopics)
    const content = new Set(contentTopics)
    const allowed = new Set<number>()
    for (const [id, pair] of this.#pairs.entries()) {
      if (
        pair !== undefined &&
        (pubsub.size === 0 || pubsub.has(pair.pubsubTopic)) &&
        (content.size === 0 || content.has(pair.contentTopic))
      ) {
        allowed.add(id)
      }
    }
    return allowed.size === this.#ids.size ? undefined : allowed
  }
}
