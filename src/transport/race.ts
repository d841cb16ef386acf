import { ConnectionError } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'

/** One way to come to something; it is to give up when the signal is aborted. */
export type Start<T> = (signal: AbortSignal) => Promise<T>

/**
 * Tries several ways to the same thing, the most wanted first. Each next one starts when the one before it has failed, or has
 * had its head start, and runs beside it; so one that says nothing holds up nobody. The first success ends the others.
 *
 * @param headStartMs - milliseconds
 * @param drop - gets what comes in spite of that
 * @throws an `AggregateError` with the reasons in order if all fail, or the signal's own reason
 * @see https://www.rfc-editor.org/rfc/rfc8305 which does this with the addresses of a host
 */
export async function race<T>(
  starts: readonly Start<T>[],
  headStartMs: number,
  signal: AbortSignal,
  drop?: (late: T) => void
): Promise<T> {
  const over = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const errors: unknown[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let begun = 0
  let failed = 0
  let isWon = false
  const begin = (): void => {
    clearTimeout(timer)
    const place = begun
    const start = over.signal.aborted ? undefined : starts[begun++]
    if (start === undefined) {
      return
    }
    timer = setTimeout(begin, headStartMs)
    start(over.signal).then(
      (result) => {
        if (isWon) {
          drop?.(result)
        }
        isWon = true
        resolve(result)
      },
      (error: unknown) => {
        errors[place] = error
        if (++failed === starts.length) {
          reject(new AggregateError(errors))
        } else {
          begin()
        }
      }
    )
  }
  try {
    return await withSignals([signal], async () => {
      begin()
      return await (starts.length === 0 ? Promise.reject(new AggregateError([])) : promise)
    })
  } finally {
    clearTimeout(timer)
    isWon = true
    over.abort(signal.aborted ? signal.reason : new ConnectionError('another one was faster'))
  }
}
