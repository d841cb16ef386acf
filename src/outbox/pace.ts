/** Store nodes drop what is more than 20 s off their clock: this old, a message is not sent again, in milliseconds. */
export const FRESH_MS = 15_000

/** How often a store node must say no before it is believed. */
export const ABSENCE_COUNT = 3

/**
 * Between two such questions, in milliseconds. They begin at {@link FRESH_MS}, so the last comes past the 20 s within which
 * what is under way may still be stored.
 */
export const ABSENCE_PAUSE_MS = 4_000

/** Before a message is looked up that is likely to be there soon, in milliseconds. */
export const PRESENCE_PAUSE_MS = 1_000

/** How long to wait for the next step, and what lets it begin early. */
export interface Wait {
  readonly ms: number
  readonly waking?: AbortSignal
}
