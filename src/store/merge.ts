import type { RejectedEntry, Row, SourcePage } from './page.ts'
import type { SourcePosition } from './position.ts'
import { compareKeys } from './transforms.ts'

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
  readonly #from: SourcePosition
  readonly #pages: AsyncIterator<SourcePage>
  #page: SourcePage | undefined
  #index = 0

  constructor({ from, pages }: MergeInput) {
    this.#from = from
    this.#pages = pages[Symbol.asyncIterator]()
  }

  /** The next row; undefined if its page has to be fetched, or nothing is left. */
  get head(): Row | undefined {
    return this.#page?.rows[this.#index]
  }

  /** How it ended, or `more`. */
  get completeness(): SourcePage['completeness'] {
    return this.#page?.completeness ?? 'more'
  }

  get isDone(): boolean {
    return this.completeness !== 'more' && this.head === undefined
  }

  /** Where to go on: after the page if it is used up, else in the middle of it. */
  get position(): SourcePosition {
    if (this.#page === undefined) {
      return this.#from
    }
    const { rows, start, end } = this.#page
    if (this.head === undefined) {
      return end
    }
    return this.#index === 0
      ? start
      : { ...start, after: rows[this.#index - 1]?.message.messageHash }
  }

  take(): void {
    this.#index++
  }

  /** Fetches the next page; returns what it has that is not delivered. */
  async fetch(): Promise<readonly RejectedEntry[]> {
    const result = await this.#pages.next()
    if (result.done === true) {
      throw new Error('a request ended without a last page')
    }
    this.#page = result.value
    this.#index = 0
    return result.value.rejected
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
      const empty = all.filter((source) => source.head === undefined && !source.isDone)
      const rejected = (await Promise.all(empty.map((source) => source.fetch()))).flat()
      const rows = takeInOrder(all, forward, limit)
      const completeness = summarize(all)
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

/** Takes rows as long as each request that is not done has one to compare. */
function takeInOrder(all: readonly Source[], forward: boolean, limit: number): Row[] {
  const sign = forward ? 1 : -1
  const rows: Row[] = []
  while (rows.length < limit) {
    let first: { source: Source; head: Row } | undefined
    for (const source of all) {
      const { head } = source
      if (head === undefined) {
        if (source.isDone) {
          continue
        }
        return rows
      }
      if (first === undefined || compareKeys(head, first.head) * sign < 0) {
        first = { source, head }
      }
    }
    if (first === undefined) {
      return rows
    }
    rows.push(first.head)
    first.source.take()
  }
  return rows
}

function summarize(all: readonly Source[]): SourcePage['completeness'] {
  if (!all.every(({ isDone }) => isDone)) {
    return 'more'
  }
  return all.some(({ completeness }) => completeness === 'unverifiable')
    ? 'unverifiable'
    : 'complete'
}
