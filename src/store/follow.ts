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
  /** All messages from a time on, oldest first. */
  readonly query: (
    timeStart: bigint,
    onProgress: (event: StoreProgress) => void
  ) => AsyncIterable<StoredMessage>
  readonly timeStart: bigint
  readonly intervalMs: number
  readonly overlapMs: number
  /** Longest pause after failures in a row. */
  readonly maxBackoffMs: number
  readonly now: () => number
  readonly signal?: AbortSignal
  readonly onProgress?: (event: FollowProgress) => void
}

/** Codes after which asking again is of no use. */
const FINAL_CODES: readonly string[] = [
  'ERR_INVALID_ARGUMENT',
  'ERR_CLOSED',
  'ERR_UNSUPPORTED',
  'ERR_CLUSTER_MISMATCH'
]

/**
 * A tail by asking again: each time from the newest message that was delivered, less an overlap, since messages reach an
 * archive late and clocks differ. What the overlap brings again is passed over by its hash.
 *
 * @throws the signal's own reason, and what no repetition mends
 */
export async function* follow(init: FollowInit): AsyncGenerator<StoredMessage> {
  const overlap = fromMilliseconds(init.overlapMs)
  const seen = new Map<string, bigint>()
  let newest: bigint | undefined
  let failures = 0
  for (;;) {
    // A message from the future must not carry the mark past what is still to come.
    const mark = min(newest, fromMilliseconds(init.now()))
    const from = mark === undefined ? init.timeStart : max(init.timeStart, mark - overlap)
    forget(seen, from)
    try {
      for await (const message of init.query(from, (event) => report(init.onProgress, event))) {
        const key = toHex(message.messageHash)
        const time = message.timestamp ?? from
        if (!seen.has(key)) {
          seen.set(key, time)
          newest = max(newest ?? time, time)
          yield message
        }
      }
      failures = 0
      report(init.onProgress, { type: 'store:caught-up', detail: { newest } })
      await delay(init.intervalMs, init.signal)
    } catch (error) {
      init.signal?.throwIfAborted()
      if (isFinal(error)) {
        throw error
      }
      const retryInMs = Math.min(init.maxBackoffMs, init.intervalMs * 2 ** failures++)
      report(init.onProgress, {
        type: 'store:follow-failed',
        detail: { error: error as Error, retryInMs }
      })
      await delay(retryInMs, init.signal)
    }
  }
}

function isFinal(error: unknown): boolean {
  const reason = hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY') ? error.cause : error
  return !isWakuLightError(reason) || FINAL_CODES.includes(reason.code)
}

/** What lies before the window does not come again. */
function forget(seen: Map<string, bigint>, from: bigint): void {
  for (const [key, time] of seen) {
    if (time < from) {
      seen.delete(key)
    }
  }
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function min(a: bigint | undefined, b: bigint): bigint | undefined {
  return a === undefined || a < b ? a : b
}
