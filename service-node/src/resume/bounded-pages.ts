import { IncompleteHistoryError, TimeoutError } from 'waku-light/errors'
import type { ResumeStore } from 'waku-light/resume'

/**
 * Pages of one peer for so long at the most, however promptly each of them comes: then another peer goes on from there.
 *
 * @param limitMs - milliseconds
 */
export function boundedPages(
  queryPages: ResumeStore['queryPages'],
  limitMs: number
): ResumeStore['queryPages'] {
  return async function* (criteria, options) {
    const deadline = AbortSignal.timeout(limitMs)
    const signals = [deadline, ...(options.signal === undefined ? [] : [options.signal])]
    let { position } = options
    try {
      const pages = queryPages(criteria, { ...options, signal: AbortSignal.any(signals) })
      for await (const page of pages) {
        position = page.position
        yield page
      }
    } catch (error) {
      if (!deadline.aborted || options.signal?.aborted) {
        throw error
      }
      const late = new TimeoutError('resume at one peer', limitMs)
      throw position === undefined ? late : new IncompleteHistoryError(position, late)
    }
  }
}
