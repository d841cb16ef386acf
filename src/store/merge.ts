import type { RejectedEntry, Row, SourcePage } from './page.ts'
import type { SourcePosition } from './position.ts'
import { compareKeys } from './transforms.ts'

/** How a walk of several requests ends: as the first of these that one of them says. */
const END_ORDER = ['more', 'unverifiable'] as const

/** A stretch of the merged walk, in the order of walking, and where each request stands after it. */
export interface MergedPage {
  readonly rows: readonly Row[]
  readonly rejected: readonly RejectedEntry[]
  readonly completeness: SourcePage['completeness']
  readonly positions: readonly SourcePosition[]
}

/** One request of a walk: where it goes on, and its pages from there. */
export interface MergeInput {
  readonly from: SourcePosition
  readonly pages: AsyncIterable<SourcePage>
}

/** A request with the page that is being used up. */
class Source {
  /** The next row; undefined if a page has to be fetched, or nothing is left. */
  head: Row | undefined
  readonly #pages: AsyncIterator<SourcePage>
  #page: SourcePage
  #index = 0

  constructor({ from, pages }: MergeInput) {
    this.#pages = pages[Symbol.asyncIterator]()
    this.#page = { rows: [], rejected: [], completeness: 'more', start: from, end: from }
  }

  /** How it ended; `more` as long as a row is left. */
  get completeness(): SourcePage['completeness'] {
    return this.head === undefined ? this.#page.completeness : 'more'
  }

  /** Where to go on: after the page if it is used up, else in the middle of it. */
  get position(): SourcePosition {
    const { rows, start, end } = this.#page
    if (this.head === undefined) {
      return end
    }
    return this.#index === 0
      ? start
      : { ...start, after: rows[this.#index - 1]?.message.messageHash }
  }

  take(): void {
    this.head = this.#page.rows[++this.#index]
  }

  /** Fetches the next page; returns what it has that is not delivered. */
  async fetch(): Promise<readonly RejectedEntry[]> {
    const { value } = (await this.#pages.next()) as IteratorYieldResult<SourcePage>
    this.#page = value
    this.#index = 0
    this.head = value.rows[0]
    return value.rejected
  }

  async close(): Promise<void> {
    await this.#pages.return?.()
  }
}

/**
 * Last stage: the requests of a walk as one sequence in order, in stretches of at most `limit` rows, the last of which tells
 * the end. Nothing is fetched before what is there has been delivered, and no more than a page of each request is held.
 *
 * @param stop - called once no more pages are wanted, so that those under way are given up
 */
export async function* inOrder(
  sources: readonly MergeInput[],
  forward: boolean,
  limit: number,
  stop: () => void
): AsyncGenerator<MergedPage> {
  const all = sources.map((source) => new Source(source))
  try {
    for (;;) {
      const empty = all.filter(needsPage)
      const rejected = (await Promise.all(empty.map((source) => source.fetch()))).flat()
      const rows = takeInOrder(all, forward, limit)
      const ends = all.map((source) => source.completeness)
      const completeness =
        END_ORDER.find((end) => ends.includes(end)) ?? 'complete'
      yield { rows, rejected, completeness, positions: all.map(({ position }) => position) }
      if (completeness !== 'more') {
        return
      }
    }
  } finally {
    stop()
    await Promise.all(all.map((source) => source.close()))
  }
}

/** True if nobody knows what comes next of it. */
function needsPage({ head, completeness }: Source): boolean {
  return head === undefined && completeness === 'more'
}

/** Takes rows as long as each request that is not done has one to compare. */
function takeInOrder(all: readonly Source[], forward: boolean, limit: number): Row[] {
  const sign = forward ? 1 : -1
  const rows: Row[] = []
  while (rows.length < limit && !all.some(needsPage)) {
    let first: Source | undefined
    for (const source of all) {
      if (source.head !== undefined && (first?.head === undefined || compareKeys(source.head, first.head) * sign < 0)) {
        first = source
      }
    }
    if (first?.head === undefined) {
      break
    }
    rows.push(first.head)
    first.take()
  }
  return rows
}
