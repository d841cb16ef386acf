import { isWakuLightError } from 'waku-light/errors'
import type { Ledger } from './ledger.ts'

/** How much longer than its deadline a call may take: two cores are shared by all that runs here. */
const MARGIN_MS = 4_000

/** What a call came to. `hung`: it has not settled. */
export type Outcome<T> =
  | { readonly is: 'value'; readonly value: T }
  | { readonly is: 'error'; readonly error: unknown }
  | { readonly is: 'hung' }

/** Waits for calls, and writes down those that do not end as they promise. */
export class Watch {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /**
   * Waits for a call: it settles within its deadline, and if it rejects then with an error of this package or the reason of
   * its abort.
   */
  async settled<T>(
    name: string,
    limitMs: number,
    call: Promise<T>,
    signal?: AbortSignal
  ): Promise<Outcome<T>> {
    const { promise, resolve } = Promise.withResolvers<Outcome<T>>()
    const timer = setTimeout(() => resolve({ is: 'hung' }), limitMs + MARGIN_MS)
    const outcome = await Promise.race([
      promise,
      call.then(
        (value): Outcome<T> => ({ is: 'value', value }),
        (error: unknown): Outcome<T> => ({ is: 'error', error })
      )
    ])
    clearTimeout(timer)
    if (outcome.is === 'hung') {
      this.trouble(`${name}: not settled ${MARGIN_MS} ms after its deadline of ${limitMs} ms`)
    }
    if (outcome.is === 'error' && !isWakuLightError(outcome.error)) {
      if (signal?.aborted !== true || outcome.error !== signal.reason) {
        this.trouble(`${name}: rejects with what is not of this package: ${textOf(outcome.error)}`)
      }
    }
    return outcome
  }

  trouble(text: string): void {
    this.#ledger.troubles.push(text)
  }
}

/** An error with its causes, on one line. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error)
  }
  const own = `${error.name}: ${error.message}`
  return error.cause === undefined ? own : `${own} < ${textOf(error.cause)}`
}
