import { report } from '../lib/report.ts'
import type { StoreCriteria } from '../store/criteria.ts'
import type { WalkOptions } from '../store/options.ts'
import type { StoredMessage, StoreProgress } from '../store/page.ts'
import type { SourceState } from '../store/roster.ts'
import type { ResumeComponents } from './components.ts'
import type { ResumeSettings } from './init.ts'
import type { Nodes } from './nodes.ts'
import type { ResumeCounts, ResumeDone, ResumeProgress, ResumeStage } from './result.ts'
import { Marks } from './state.ts'

/** One call, and what it has come to. */
export class Job {
  readonly components: ResumeComponents
  readonly settings: ResumeSettings
  readonly signal: AbortSignal
  readonly marks: Marks
  /** Where several nodes are asked: what became of each so far. */
  sources: readonly SourceState[] = []
  /** So far. */
  readonly counts = { fetched: 0, added: 0, bytes: 0, missing: 0 }
  readonly #onProgress: ((event: ResumeProgress) => void) | undefined

  constructor(
    components: ResumeComponents,
    settings: ResumeSettings,
    signal: AbortSignal,
    onProgress?: (event: ResumeProgress) => void
  ) {
    this.components = components
    this.settings = settings
    this.signal = signal
    this.marks = new Marks(components.archive, settings.scope)
    this.#onProgress = onProgress
  }

  /** What to ask a node for: without content topics, where it must not learn them. */
  criteria(timeStart: bigint, timeEnd?: bigint): StoreCriteria {
    const { contentTopics, pubsubTopic, timeRange } = this.settings
    return { contentTopics: timeRange ? [] : contentTopics, pubsubTopic, timeStart, timeEnd }
  }

  /** The messages that are meant. */
  filter(messages: readonly StoredMessage[]): StoredMessage[] {
    const { contentTopics, pubsubTopic } = this.settings
    return messages.filter(
      (message) =>
        (contentTopics.length === 0 || contentTopics.includes(message.contentTopic)) &&
        (pubsubTopic === undefined || pubsubTopic === message.pubsubTopic)
    )
  }

  /** Puts those of the fetched messages that are meant, and marks, into the archive, both or neither, and tells. */
  async put(
    fetched: readonly StoredMessage[],
    stage: ResumeStage,
    peerId?: string,
    marks: Record<string, unknown> = {}
  ): Promise<void> {
    const { archive } = this.components
    const messages = this.filter(fetched)
    const added = await archive.putMany(messages, { marks, signal: this.signal })
    this.counts.fetched += fetched.length
    this.counts.added += added.length
    const reached = messages.at(-1)?.timestamp
    this.tell({
      type: 'resume:page',
      detail: {
        stage,
        ...(peerId && { peerId }),
        ...(reached !== undefined && { reached }),
        ...this.counts
      }
    })
  }

  /** Sets marks alone. */
  async mark(marks: Record<string, unknown>): Promise<void> {
    await this.components.archive.putMany([], { marks, signal: this.signal })
  }

  /** How to ask a node; `''` is the one that the store client chooses. */
  askOf(peerId: string): Pick<WalkOptions, 'peerId' | 'signal' | 'onProgress'> {
    return { peerId: peerId || undefined, signal: this.signal, onProgress: this.onStoreProgress }
  }

  /** Counts the bytes of answers. */
  readonly onStoreProgress = (event: StoreProgress): void => {
    if (event.type === 'store:page') {
      this.counts.bytes += event.detail.bytes
    }
  }

  /** What is in the result of a call that came to its end. */
  get outcome(): Pick<ResumeDone, 'sources' | keyof ResumeCounts> {
    const { sources } = this
    return { ...this.counts, ...(sources.length > 0 && { sources }) }
  }

  /** Tells whoever watches this call. */
  tell(event: ResumeProgress): void {
    report(this.#onProgress, event)
  }

  /** Tells that a node failed. */
  tellFailed(peerId: string, error: Error): void {
    this.tell({ type: 'resume:peer-failed', detail: { peerId, error } })
  }

  /** Asks others than a node that failed from now on, and tells. */
  leave(nodes: Nodes, peerId: string, error: Error): void {
    nodes.leave(peerId, error)
    this.tellFailed(peerId, error)
  }

  /** The time of the newest message in the archive before a time; undefined if there is none. */
  async newest(timeEnd: bigint): Promise<bigint | undefined> {
    const { contentTopics, pubsubTopic } = this.settings
    const criteria = { contentTopics, pubsubTopic, timeEnd, direction: 'backward' as const }
    for await (const { timestamp } of this.components.archive.walkKeys(criteria, {
      signal: this.signal
    })) {
      return timestamp
    }
    return undefined
  }
}
