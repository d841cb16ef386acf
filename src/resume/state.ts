import type { ResumeArchive } from './components.ts'
import type { HistoryGap } from './result.ts'

/** How far a walk has come: what is stored with each of its pages. Of use to one that asks for the same only. */
export interface WalkPoint {
  /** After the last page; undefined at the beginning. */
  readonly position?: string
  /** The node that gave it. */
  readonly peerId?: string
}

/** The way from the mark to a time at which a call began. */
export interface Leg extends HistoryGap, WalkPoint {
  /** The walk has reached its end. */
  readonly isWalked: boolean
  /** What is not asked for. */
  readonly gap?: HistoryGap
  /** What is asked for again, by hash. */
  readonly recheck?: HistoryGap
  /** Nothing before this is asked for again by hash after it. */
  readonly floor: bigint
  readonly clockSetBack: boolean
}

/** What is known of a set of topics. */
export interface ResumeState {
  /** Everything before this was asked for, but for the gaps. */
  readonly coveredUntil?: bigint
  /** What lies before this was asked for so late that no node can still get it. */
  readonly settledUntil?: bigint
  /** Oldest first; those that were filled since are still among them. */
  readonly gaps: readonly HistoryGap[]
  /** Under way, or broken off by a crash. */
  readonly leg?: Leg
}

/** What is known of gaps that are filled. Apart from {@link ResumeState}, so that each has one writer. */
export interface FillState {
  readonly filled: readonly HistoryGap[]
  /** Of the gap that was asked for last. */
  readonly walk?: WalkPoint
}

/** The layout of what is stored; part of the keys. */
const VERSION = 1

/** The marks of a set of topics in an archive. */
export class Marks {
  readonly #archive: ResumeArchive
  readonly #key: string

  /** @param scope - tells this set of topics from others */
  constructor(archive: ResumeArchive, scope: string) {
    this.#archive = archive
    this.#key = `waku-light/resume/${VERSION}/${scope}`
  }

  /** Of {@link ResumeState}, to be put with messages. */
  state(state: ResumeState): Record<string, unknown> {
    return { [this.#key]: state }
  }

  /** Of {@link FillState}, to be put with messages. */
  fills(fills: FillState): Record<string, unknown> {
    return { [`${this.#key}/fills`]: fills }
  }

  /** What was stored, or that nothing is known. */
  async readState(signal?: AbortSignal): Promise<ResumeState> {
    return ((await this.#archive.getMark(this.#key, { signal })) ?? { gaps: [] }) as ResumeState
  }

  /** What was stored, or that nothing was filled. */
  async readFills(signal?: AbortSignal): Promise<FillState> {
    const fills = await this.#archive.getMark(`${this.#key}/fills`, { signal })
    return (fills ?? { filled: [] }) as FillState
  }

  /** What is still missing. */
  async gaps(signal?: AbortSignal): Promise<HistoryGap[]> {
    const [{ gaps }, { filled }] = [await this.readState(signal), await this.readFills(signal)]
    return subtract(gaps, filled).sort((a, b) => (a.from < b.from ? -1 : 1))
  }
}

/** What is left of some stretches without others. */
export function subtract(
  stretches: readonly HistoryGap[],
  others: readonly HistoryGap[]
): HistoryGap[] {
  return others.reduce<HistoryGap[]>(
    (left, other) =>
      left.flatMap(({ from, to }) =>
        [
          { from, to: min(to, other.from) },
          { from: max(from, other.to), to }
        ].filter((part) => part.from < part.to)
      ),
    [...stretches]
  )
}

/** Gaps with another one among them. */
export function addGap(
  gaps: readonly HistoryGap[],
  gap: HistoryGap | undefined
): readonly HistoryGap[] {
  return gap === undefined ? gaps : [...subtract(gaps, [gap]), gap]
}

/** The parts of some stretches that lie within others. */
export function intersect(
  stretches: readonly HistoryGap[],
  others: readonly HistoryGap[]
): HistoryGap[] {
  return stretches.flatMap(({ from, to }) =>
    others
      .map((other) => ({ from: max(from, other.from), to: min(to, other.to) }))
      .filter((part) => part.from < part.to)
  )
}

/** The earlier one. */
export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** The later one. */
export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
