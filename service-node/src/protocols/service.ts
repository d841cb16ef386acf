import type { Logger } from '../logger.ts'
import type { RateLimits } from '../rate-limiter.ts'

/** A protocol that the node serves: one request, one answer. */
export interface Service {
  readonly protocol: string
  readonly maxRequestBytes: number
  /** Absent: unlimited. */
  readonly rateLimits?: RateLimits
  /** The answer to a request over the rate limit, which is not read. */
  readonly refusal?: Uint8Array
  /** The answer to a request frame over `maxRequestBytes`; without it the stream is reset. */
  readonly tooLarge?: Uint8Array
  /**
   * Makes the answer.
   *
   * @returns undefined to reset the stream
   */
  respond(request: Uint8Array, log: Logger): Promise<Answer | undefined> | Answer | undefined
}

/** An answer, with its status for the metrics. */
export interface Answer {
  readonly frame: Uint8Array
  readonly status: string
}
