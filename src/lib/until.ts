import { withSignals } from './deadline.ts'

/** What tells when it may have changed. */
export interface Changing {
  /** Calls a listener each time; returns a function that ends this. */
  onChange(listener: () => void): () => void
}

/**
 * Waits until a condition holds, which is looked at now and after each change.
 *
 * @throws the signal's own reason
 */
export async function until(
  changing: Changing,
  condition: () => boolean,
  signal: AbortSignal
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const check = (): void => {
    if (condition()) {
      resolve()
    }
  }
  const end = changing.onChange(check)
  try {
    check()
    await withSignals([signal], () => promise)
  } finally {
    end()
  }
}
