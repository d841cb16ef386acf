import { ClosedError, LimitExceededError } from 'waku-light/errors'
import {
  createResume,
  type HistoryGap,
  type Resume,
  type ResumeDone,
  type ResumeNode,
  type ResumeProgress
} from 'waku-light/resume'
import type { StoreClient } from 'waku-light/store'
import type { Archive } from '../archive/archive.ts'
import { errorMessage } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import type { ResolvedOptions } from '../options.ts'
import type { StorePeers } from '../store-peers.ts'
import { boundedPages } from './bounded-pages.ts'
import { relayTail } from './relay-tail.ts'
import { toResumeArchive } from './resume-archive.ts'

/** One peer is asked for as long as so many requests may take, five minutes by default, before it is another one's turn. */
const MAX_REQUEST_TIMES = 10

/** What became of the first catching up after a start. */
export type Resumed =
  | ResumeDone
  /** The options say so. */
  | { readonly status: 'off' }
  /** The node was closed first, or what trying again does not mend. */
  | { readonly status: 'ended'; readonly reason: unknown }

/** What {@link NodeResume} works with. */
export interface NodeResumeInit {
  readonly options: ResolvedOptions
  readonly archive: Archive
  readonly store: StoreClient
  /** Those that may be asked. */
  readonly peers: Pick<StorePeers, 'trusted' | 'onChange'>
  readonly metrics: Metrics
}

/**
 * Asks peers for what was relayed while this node was down: once one is connected, after each time that all were lost, and
 * again with growing pauses if it fails. In between it keeps the time until which the archive is known to be whole, and every
 * half an hour asks by hash for what relay may have lost.
 */
export class NodeResume {
  readonly #init: NodeResumeInit
  readonly #stop = new AbortController()
  readonly #first = Promise.withResolvers<Resumed>()
  #work: Promise<void> | undefined

  constructor(init: NodeResumeInit) {
    this.#init = init
  }

  /** What became of the first time. Never rejects. */
  get resumed(): Promise<Resumed> {
    return this.#first.promise
  }

  start(): void {
    this.#work ??= this.#run()
  }

  /** Ends it; resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.#stop.abort(new ClosedError('the service node'))
    await this.#work
  }

  async #run(): Promise<void> {
    const { options, peers } = this.#init
    const { signal } = this.#stop
    if (options.resume === undefined) {
      this.#first.resolve({ status: 'off' })
      return
    }
    try {
      await untilConnected(peers, signal)
      await this.#create(options.resume.windowMs).follow({
        intervalMs: options.resume.markIntervalMs,
        onProgress: (event) => this.#record(event),
        signal
      })
    } catch (reason) {
      this.#first.resolve({ status: 'ended', reason })
      if (!(reason instanceof ClosedError)) {
        options.logger.error({ reason: errorMessage(reason) }, 'resume given up')
      }
    }
  }

  #create(windowMs: number): Resume {
    const { options, archive, peers, store } = this.#init
    const { now, pubsubTopics, retention } = options
    const node: ResumeNode = {
      servicePeers: { candidates: () => peers.trusted() },
      connectedPeers: peers.trusted().map(({ peerId }) => peerId),
      // Of others it is not known that they relay all there is.
      onConnectionChange: (listener) =>
        peers.onChange((change) => {
          if (!change.connected || peers.trusted().some(({ peerId }) => peerId === change.peerId)) {
            listener(change)
          }
        })
    }
    return createResume(
      {
        archive: toResumeArchive(archive, options),
        node,
        store: {
          queryPages: boundedPages(
            store.queryPages.bind(store),
            options.requestTimeoutMs * MAX_REQUEST_TIMES
          ),
          lookup: store.lookup.bind(store),
          queryHashes: store.queryHashes.bind(store),
          follow: relayTail(() => peers.trusted().length > 0)
        }
      },
      {
        pubsubTopic: pubsubTopics.length === 1 ? pubsubTopics[0] : undefined,
        // What is older would be deleted at once.
        windowMs: Math.min(windowMs, retention.maxAgeMs),
        // Relay may have lost something since the last time; what peers lack themselves by then is for sync.
        healingMs: 0,
        now: () => Number(now() / 1_000_000n)
      }
    )
  }

  #record({ type, detail }: ResumeProgress): void {
    const { options, metrics } = this.#init
    const { logger, retention } = options
    if (type === 'resume:page') {
      logger.debug(
        { stage: detail.stage, fetched: detail.fetched, added: detail.added },
        'resuming'
      )
      if (detail.fetched > retention.maxCount) {
        const text = 'peers sent more messages than the archive holds'
        this.#stop.abort(new LimitExceededError(text, retention.maxCount))
      }
    } else if (type === 'resume:peer-failed') {
      const { peerId, error } = detail
      logger.info({ peerId, reason: errorMessage(error) }, 'resume goes on at another peer')
    } else if (type === 'resume:ended' && detail.status !== 'busy') {
      metrics.resumes.inc({ outcome: detail.status })
      metrics.resumed.inc(detail.added)
      if (detail.status === 'failed') {
        logger.warn({ reason: detail.error.message, added: detail.added }, 'not resumed yet')
      } else {
        const { fetched, added, completeness, resumedFrom, resumedTo, gap } = detail
        const { from, to } = toDates({ from: resumedFrom, to: resumedTo })
        logger.info(
          { from, to, fetched, added, completeness, ...(gap && { gap: toDates(gap) }) },
          'resumed'
        )
        this.#first.resolve(detail)
      }
    }
  }
}

function toDates({ from, to }: HistoryGap): { readonly from: Date; readonly to: Date } {
  const [start, end] = [from, to].map((time) => new Date(Number(time / 1_000_000n)))
  return { from: start as Date, to: end as Date }
}

/** Resolves once there is a peer to ask. */
async function untilConnected(peers: NodeResumeInit['peers'], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const check = (): void => {
    if (peers.trusted().length > 0) {
      resolve()
    }
  }
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  const unwatch = peers.onChange(check)
  try {
    check()
    await promise
  } finally {
    unwatch()
    signal.removeEventListener('abort', onAbort)
  }
}
