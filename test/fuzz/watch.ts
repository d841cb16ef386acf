import { isWakuLightError } from 'waku-light/errors'

/** How long a call may hang before it is taken to hang for ever, in milliseconds. Nothing here waits for it. */
const HANG_MS = 8_000

/** What a call under test may end with. */
export type Settled<T> = { readonly value: T } | { readonly error: unknown }

/**
 * Waits for a call: it settles, and if it rejects then with an error of this package or the reason of the abort.
 *
 * @param what - for the error
 */
export async function settled<T>(
  what: string,
  call: Promise<T>,
  reason?: unknown
): Promise<Settled<T>> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${what} does not settle`)), HANG_MS)
  const result = call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error })
  )
  try {
    const outcome = await Promise.race([result, promise])
    if ('error' in outcome && !isWakuLightError(outcome.error) && outcome.error !== reason) {
      throw new Error(`${what} rejects with what is not of this package`, { cause: outcome.error })
    }
    return outcome
  } finally {
    clearTimeout(timer)
  }
}

/** Throws if something that always holds does not. */
export function always(condition: boolean, what: string): void {
  if (!condition) {
    throw new Error(what)
  }
}
