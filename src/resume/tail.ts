import { withSignals } from '../lib/deadline.ts'
import { fromMilliseconds, NANOSECONDS_PER_MS } from '../lib/time.ts'
import type { FollowProgress } from '../store/follow.ts'
import type { StoredMessage } from '../store/page.ts'
import type { Job } from './job.ts'
import { max } from './state.ts'

/** Messages that are put at once. */
const BATCH = 100

/** A mark that moves alone, without messages, is stored no more often than this. */
const MARK_INTERVAL = 30_000n * NANOSECONDS_PER_MS

/** How a tail is to be. */
export interface TailInit {
  /** Pause between two questions, in milliseconds. */
  readonly intervalMs: number | undefined
  /** Ends it, without an error. */
  readonly until: AbortSignal
  /** Ends it when it has caught up and this time has come, in milliseconds. */
  readonly enoughMs: number
}

/**
 * Puts what comes into the archive. The mark follows: once a question is answered, it is the time at which it was asked.
 *
 * @throws what the store client's tail or the archive throws, and the signal's own reason
 */
export async function tail(job: Job, { intervalMs, until, enoughMs }: TailInit): Promise<void> {
  const { store } = job.components
  const { settings, marks } = job
  const now = (): bigint => fromMilliseconds(settings.now())
  let asked = now()
  const state = await marks.readState(job.signal)
  const start = state.coveredUntil ?? asked
  let covered = start
  const end = new AbortController()
  let buffer: StoredMessage[] = []
  let isOver = false
  let writing: Promise<void> = Promise.resolve()

  const flush = (coveredUntil: bigint): void => {
    const messages = buffer
    covered = coveredUntil
    buffer = []
    writing = writing.then(() =>
      job.put(messages, 'tail', undefined, marks.state({ ...state, coveredUntil }))
    )
    writing.catch((error: unknown) => end.abort(error))
  }

  const onProgress = (event: FollowProgress): void => {
    if (isOver) {
      return // somebody else may have moved the mark
    }
    if (event.type === 'store:follow-failed') {
      job.tellFailed('', event.detail.error)
    } else if (event.type === 'store:caught-up') {
      if (buffer.length > 0 || asked - covered >= MARK_INTERVAL) {
        flush(max(covered, asked))
      }
      asked = now()
      if (settings.now() >= enoughMs) {
        end.abort()
      }
    } else {
      job.onStoreProgress(event)
    }
  }

  const timeStart = start - settings.overlap
  try {
    await withSignals([job.signal, until, end.signal], async (signal) => {
      const { walker } = settings
      const messages = store.follow(job.criteria(timeStart), {
        intervalMs,
        signal,
        onProgress,
        walker
      })
      for await (const message of messages) {
        if (buffer.push(message) >= BATCH) {
          flush(covered)
          await writing
        }
      }
    })
    await writing
  } catch (error) {
    isOver = true
    await writing // an archive that fails is what there is to tell
    job.signal.throwIfAborted()
    if (!until.aborted && !(end.signal.aborted && error === end.signal.reason)) {
      throw error
    }
  }
}
