/** In which time what is known of a node loses half of its weight, in milliseconds. */
const HALF_LIFE_MS = 60_000

/** What one failure takes; a success is worth 1. */
const FAULT = 2

/** However often it failed: after some minutes it is as good as one that nobody has tried. */
const WORST = -8

/** First pause after "too many requests", in milliseconds; each further one in a row is twice as long. */
const MIN_REST_MS = 1_000

const MAX_REST_MS = 30_000

/** How good a node was lately at one thing. It fades: nothing is held against a node for ever. */
export class Standing {
  readonly #now: () => number
  #value = 0
  #atMs = 0
  #restUntilMs = 0
  #restMs = 0

  /** Knows nothing yet. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** 1 right after a success, below 0 after failures, 0 for what nobody knows. */
  get value(): number {
    const ageMs = Math.max(0, this.#now() - this.#atMs)
    return this.#value * 2 ** (-ageMs / HALF_LIFE_MS)
  }

  /** How long it is to be left alone, in milliseconds. */
  get restMs(): number {
    // a clock may be set back
    return Math.max(0, Math.min(this.#restMs, this.#restUntilMs - this.#now()))
  }

  /** It did what it was asked for. */
  succeeded(): void {
    this.#set(1)
    this.#restMs = 0
  }

  /** It did not. */
  failed(): void {
    this.#set(Math.max(WORST, Math.min(this.value, 0) - FAULT))
  }

  /** It has too many requests: longer each time in a row; what many hear at once is one time. */
  rest(): void {
    if (this.restMs === 0) {
      this.#restMs = Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, 2 * this.#restMs))
      this.#restUntilMs = this.#now() + this.#restMs
    }
  }

  #set(value: number): void {
    this.#value = value
    this.#atMs = this.#now()
  }
}
