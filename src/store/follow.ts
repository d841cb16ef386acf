import { hasErrorCode, isWakuLightError } from '../errors.ts'
import { toHex } from '../lib/bytes.ts'
import { delay } from '../lib/deadline.ts'
import { report } from '../lib/report.ts'
import { fromMilliseconds } from '../lib/time.ts'
import type { ProgressEvent } from '../options.ts'
import type { StoredMessage, StoreProgress } from './page.ts'

/** What happens in a tail. */
export type FollowProgress =
  | StoreProgress
  /** All that was there has been delivered; the next question follows after the interval. */
  | ProgressEvent<'store:caught-up', { readonly newest: bigint | undefined }>
  /** A question failed; it is asked again. */
  | ProgressEvent<'store:follow-failed', { readonly error: Error; readonly retryInMs: number }>

/** Everything that a tail depends on. */
export interface FollowInit {
  /** All messages from a time on, oldest first, or those after a position among them. */
  readonly query: (timeStart: bigint, position: string | undefined) => AsyncIterable<StoredMessage>
  readonly timeStart: bigint
  readonly intervalMs: number
  readonly overlapMs: number
  /** Longest pause after failures in a row. */
  readonly maxBackoffMs: number
  readonly now: () => number
  readonly signal?: AbortSignal
  readonly onProgress?: (event: FollowProgress) => void
}

/**
 * A tail by asking again: each time from the newest message that was delivered, less an overlap, since messages reach an
 * archive late and clocks differ. What the overlap brings again is passed over by its hash. A question that failed is gone
 * on with where it stood.
 *
 * @throws the signal's own reason, and what no repetition mends
 */
export async function* follow(init: FollowInit): AsyncGenerator<StoredMessage> {
  const window = createWindow(init)
  let from = init.timeStart
  let position: string | undefined
  let failures = 0
  for (;;) {
    let pauseMs = init.intervalMs
    try {
      for await (const message of init.query(from, position)) {
        if (window.add(message)) {
          yield message
        }
      }
      failures = 0
      position = undefined
      report(init.onProgress, { type: 'store:caught-up', detail: { newest: window.newest } })
    } catch (error) {
      init.signal?.throwIfAborted()
      if (isFinal(error)) {
        throw error
      }
      position = hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY') ? error.position : undefined
      pauseMs = Math.min(init.maxBackoffMs, init.intervalMs * 2 ** failures++)
      const detail = { error: error as Error, retryInMs: pauseMs }
      report(init.onProgress, { type: 'store:follow-failed', detail })
    }
    await delay(pauseMs, init.signal)
    if (position === undefined) {
      from = window.advance()
    }
  }
}

/** The stretch of time that is asked for again, and what was delivered of it. */
function createWindow(init: FollowInit) {
  const overlap = fromMilliseconds(init.overlapMs)
  const seen = new Map<string, bigint>()
  let from = init.timeStart
  let newest: bigint | undefined
  const window = {
    /** Time of the newest message that was delivered. */
    get newest(): bigint | undefined {
      return newest
    },

    /** False if it came before. */
    add({ messageHash, timestamp }: StoredMessage): boolean {
      const key = toHex(messageHash)
      if (seen.has(key)) {
        return false
      }
      // Without a time of its own, a message is found at that of its arrival.
      seen.set(key, timestamp || fromMilliseconds(init.now()))
      if (timestamp && (newest === undefined || timestamp > newest)) {
        newest = timestamp
        window.advance()
      }
      return true
    },

    /**
     * Moves on; never back, be it that the clock is set back, since what lies before is forgotten. A message from the future
     * does not carry it past what is still to come.
     *
     * @returns where it starts
     */
    advance(): bigint {
      const now = fromMilliseconds(init.now())
      const mark = newest === undefined || newest < now ? newest : now
      if (mark !== undefined && mark - overlap > from) {
        from = mark - overlap
        for (const [key, time] of seen) {
          if (time < from) {
            seen.delete(key)
          } else if (time <= now) {
            break // What came late stands behind newer ones, and goes when its turn has come.
          } // One from the future holds up none of those behind it.
        }
      }
      return from
    }
  }
  return window
}

/** True if asking again is of no use. */
function isFinal(error: unknown): boolean {
  const reason = hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY') ? error.cause : error
  return (
    !isWakuLightError(reason) ||
    hasErrorCode(
      reason,
      'ERR_INVALID_ARGUMENT',
      'ERR_CLOSED',
      'ERR_UNSUPPORTED',
      'ERR_CLUSTER_MISMATCH'
    )
  )
}
