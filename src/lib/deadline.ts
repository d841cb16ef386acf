import { InvalidArgumentError, TimeoutError } from '../errors.ts'

/** The signal and deadline of a call. */
export interface DeadlineOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** The longest that timers of all platforms take, in milliseconds: 24 days. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Runs something until any of some signals is aborted. It settles in the turn in which that happens, and leaves no listener
 * behind.
 *
 * @param run - what to do; the signal it gets is aborted with the same reason
 * @throws the reason of the signal, or what `run` throws
 */
export async function withSignals<T>(
  signals: readonly (AbortSignal | undefined)[],
  run: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const given = signals.filter((signal) => signal !== undefined)
  for (const signal of given) {
    signal.throwIfAborted()
  }
  const controller = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const onAbort = (): void => {
    const reason: unknown = given.find(({ aborted }) => aborted)?.reason
    reject(reason)
    controller.abort(reason)
  }
  for (const signal of given) {
    signal.addEventListener('abort', onAbort)
  }
  try {
    run(controller.signal).then(resolve, reject)
    return await promise
  } finally {
    for (const signal of given) {
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/**
 * Runs something under a caller's signal and a deadline, as {@link withSignals} does, and leaves no timer behind.
 *
 * @param operation - what it is called in a {@link TimeoutError}
 * @param options - the caller's; `timeoutMs` is a number of milliseconds or `Infinity`
 * @param defaultTimeoutMs - used where the caller gives none
 * @throws the signal's own reason, {@link TimeoutError}, what `run` throws, or {@link InvalidArgumentError} if the options
 * are no such thing
 */
export async function withDeadline<T>(
  operation: string,
  options: DeadlineOptions,
  defaultTimeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const { signal, timeoutMs = defaultTimeoutMs } = options
  assertTimeoutMs(timeoutMs)
  assertSignal(signal)
  const deadline = new AbortController()
  const expire = (): void => deadline.abort(new TimeoutError(operation, timeoutMs))
  const timer = timeoutMs <= MAX_TIMER_MS ? setTimeout(expire, timeoutMs) : undefined
  try {
    return await withSignals([signal, deadline.signal], run)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits, unless the signal is aborted first.
 *
 * @param ms - milliseconds; what is more than the platform's timers take (24 days), `Infinity` too, is a wait for the signal
 * @throws the signal's own reason
 */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = ms <= MAX_TIMER_MS ? setTimeout(resolve, ms) : undefined
  try {
    await withSignals([signal], () => promise)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Checks a duration.
 *
 * @throws {@link InvalidArgumentError} unless it is a positive number or `Infinity`
 */
export function assertTimeoutMs(timeoutMs: number, parameter = 'timeoutMs'): void {
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) {
    throw new InvalidArgumentError(
      parameter,
      'must be a positive number of milliseconds or Infinity'
    )
  }
}

/** By shape, not by class: signals of other realms are fine. */
function assertSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && typeof (signal as Partial<AbortSignal>)?.aborted !== 'boolean') {
    throw new InvalidArgumentError('signal', 'must be an AbortSignal')
  }
}
