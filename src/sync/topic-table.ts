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

/** Tells whether a list allows a topic. */
export function toAllows(topics: readonly string[]): (topic: string) => boolean {
  const set = new Set(topics)
  return (topic) => set.size === 0 || set.has(topic)
}

/** Tells whether a filter allows a message. */
export function toTest(filter: SyncFilter): (topics: SyncTopics) => boolean {
  const allowsPubsub = toAllows(filter.pubsubTopics)
  const allowsContent = toAllows(filter.contentTopics)
  return ({ pubsubTopic, contentTopic }) => allowsPubsub(pubsubTopic) && allowsContent(contentTopic)
}

interface Pair extends SyncTopics {
  readonly id: number
  readonly key: string
  /** Entries that use it. */
  count: number
}

/** Small numbers for pairs of topics, each kept while entries use it. */
export class TopicTable {
  /** Each of them by its key and by its number. */
  readonly #pairs = new Map<string | number, Pair>()
  /** None comes again: four billion, as many as an entry has room for, are enough. */
  #nextId = 0

  /** The number of a pair, which counts one more entry now. */
  acquire({ pubsubTopic, contentTopic }: SyncTopics): number {
    const key = `${pubsubTopic}\n${contentTopic}`
    let pair = this.#pairs.get(key)
    if (pair === undefined) {
      pair = { pubsubTopic, contentTopic, id: this.#nextId++, key, count: 0 }
      this.#pairs.set(key, pair).set(pair.id, pair)
    }
    pair.count++
    return pair.id
  }

  /** One entry less uses the number. */
  release(id: number): void {
    const pair = this.#pairs.get(id)
    if (pair !== undefined && --pair.count === 0) {
      this.#pairs.delete(pair.key)
      this.#pairs.delete(id)
    }
  }

  /** Which numbers a filter allows; undefined if all that are in use. */
  select(filter: SyncFilter): ReadonlySet<number> | undefined {
    const pairs = [...this.#pairs.values()]
    const allowed = pairs.filter(toTest(filter))
    return allowed.length === pairs.length ? undefined : new Set(allowed.map(({ id }) => id))
  }
}
