// Catching up: what others said while this page was closed or offline, and then whatever comes. The messages go into the
// archive; here is what to tell about them.
import { fromMilliseconds } from 'waku-light/message'
import { RESUME_DEFAULTS, type Resume, type ResumeProgress } from 'waku-light/resume'
import type { CatchUpState, Stretch } from './model.ts'
import { describeError } from './words.ts'

const FOLLOW_INTERVAL_MS = 1_500

export class CatchUp {
  readonly #resume: Resume
  readonly #signal: AbortSignal
  readonly #onChange: () => void
  #state: CatchUpState = { state: 'waiting' }
  /** The time that is being caught up with; undefined once that is over. */
  #absence: Stretch | undefined
  /** When this page was last up to date, as far as is known. */
  #since: bigint | undefined
  /** Messages of the absence that came so far. */
  #count = 0
  /** Times of those that came before it was known how long it was. */
  readonly #early: bigint[] = []
  readonly #openedAt = fromMilliseconds(Date.now())
  #filling: Promise<void> | undefined
  #following = new AbortController()

  /** @param signal - ends everything */
  constructor(resume: Resume, signal: AbortSignal, onChange: () => void) {
    this.#resume = resume
    this.#signal = signal
    this.#onChange = onChange
  }

  get state(): CatchUpState {
    return this.#state
  }

  /** Catches up, and reads along; again after each outage. */
  async follow(): Promise<void> {
    while (!this.#signal.aborted) {
      this.#following = new AbortController()
      const signal = AbortSignal.any([this.#signal, this.#following.signal])
      try {
        await this.#resume.follow({
          signal,
          intervalMs: FOLLOW_INTERVAL_MS,
          onProgress: (event) => this.#onProgress(event)
        })
      } catch (error) {
        if (!signal.aborted) {
          this.#set({ state: 'failed', reason: describeError(error) })
          await aborted(signal)
        }
      }
    }
  }

  /** Tries again now, instead of at the end of a pause. What came so far is not asked for again. */
  async retry(): Promise<void> {
    if (this.#state.state === 'failed' && this.#state.gap !== undefined) {
      await (this.#filling ??= this.#fillGaps())
    } else {
      this.#set(this.#since === undefined ? this.#state : { state: 'running', since: this.#since })
      this.#following.abort()
    }
  }

  /** What is further back than the window is asked for by itself. Never rejects. */
  async #fillGaps(): Promise<void> {
    const signal = this.#signal
    let missing: Stretch | undefined
    try {
      for (const gap of await this.#resume.gaps({ signal })) {
        missing = gap
        this.#extend(gap, gap.from)
        this.#set({ state: 'filling', gap })
        const result = await this.#resume.fillGap(gap, { signal })
        if (result.status === 'failed') {
          throw result.error
        }
      }
      this.#tellEnd()
    } catch (error) {
      if (!signal.aborted) {
        this.#set({ state: 'failed', reason: describeError(error), gap: missing })
      }
    } finally {
      this.#filling = undefined
    }
  }

  /**
   * Takes note of somebody else's message that is new in the archive.
   *
   * @returns false for one that has just been said
   */
  note(time: bigint): boolean {
    if (this.#state.state === 'waiting') {
      const isLate = time < this.#openedAt
      this.#early.push(...(isLate ? [time] : []))
      return isLate
    }
    const { from, to } = this.#absence ?? { from: 0n, to: 0n }
    const isLate = time >= from && time < to
    this.#count += isLate ? 1 : 0
    return isLate
  }

  #onProgress(event: ResumeProgress): void {
    if (event.type === 'resume:started') {
      const { from, to, gap } = event.detail
      this.#extend({ from, to }, gap === undefined ? lastSeen(from, to) : from)
      if (gap !== undefined) {
        this.#extend(gap, gap.from)
      }
      if (this.#state.state === 'waiting' && this.#since !== undefined) {
        this.#set({ state: 'running', since: this.#since })
      }
      this.#early.splice(0).forEach((time) => this.note(time))
    } else if (event.type === 'resume:ended' && event.detail.status === 'failed') {
      this.#set({ state: 'failed', reason: describeError(event.detail.error) })
    } else if (event.type === 'resume:ended') {
      this.#filling ??= this.#fillGaps()
    }
  }

  #extend({ from, to }: Stretch, since: bigint): void {
    const before = this.#absence ?? { from, to }
    this.#absence = { from: earliest(before.from, from), to: before.to > to ? before.to : to }
    this.#since = earliest(this.#since ?? since, since)
  }

  /** Nothing new is told once: after a short outage, or a look at what came late, it is not worth a word. */
  #tellEnd(): void {
    if (this.#since !== undefined && (this.#count > 0 || this.#state.state !== 'done')) {
      this.#set({ state: 'done', since: this.#since, count: this.#count })
    }
    this.#absence = undefined
    this.#since = undefined
    this.#count = 0
  }

  #set(state: CatchUpState): void {
    this.#state = state
    this.#onChange()
  }
}

/** Resume reaches back a little behind the time at which this page was last up to date. */
function lastSeen(from: bigint, to: bigint): bigint {
  return earliest(from + fromMilliseconds(RESUME_DEFAULTS.overlapMs), to)
}

function earliest(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
    } else {
      signal.addEventListener('abort', () => resolve(), { once: true })
    }
  })
}
