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

/** One request of a walk: where it goes on, and its pages from there; none for one that has ended. */
export interface MergeInput {
  readonly from: SourcePosition
  readonly pages?: AsyncIterable<SourcePage>
}

/** A request with the page that is being used up. */
class Source {
  readonly #from: SourcePosition
  readonly #pages: AsyncIterator<SourcePage> | undefined
  #page: SourcePage | undefined
  #index = 0

  constructor({ from, pages }: MergeInput) {
    this.#from = from
    this.#pages = pages?.[Symbol.asyncIterator]()
  }

  /** The next row; undefined if its page has to be fetched, or nothing is left. */
  get head(): Row | undefined {
    return this.#page?.rows[this.#index]
  }

  /** How it ended, or `more`. */
  get completeness(): SourcePage['completeness'] {
    return typeof this.#from === 'string' ? this.#from : (this.#page?.completeness ?? 'more')
  }

  get isDone(): boolean {
    return this.head === undefined && this.completeness !== 'more'
  }

  /** Where to go on: after the page if it is used up, else with the page again. */
  get position(): SourcePosition {
    const page = this.#page
    if (page === undefined) {
      return this.#from
    }
    if (this.head !== undefined) {
      return { cursor: page.asked }
    }
    return page.completeness === 'more' ? { cursor: page.next } : page.completeness
  }

  take(): void {
    this.#index++
  }

  /** Fetches the next page; returns what it has that is not delivered. */
  async fetch(): Promise<readonly RejectedEntry[]> {
    const result = await this.#pages?.next()
    if (result === undefined || result.done === true) {
      throw new Error('a request ended without a last page')
    }
    this.#page = result.value
    this.#index = 0
    return result.value.rejected
  }

  async close(): Promise<void> {
    await this.#pages?.return?.()
  }
}

/**
 * Last stage: the requests of a walk as one sequence in order, in stretches of at most `limit` rows. Nothing is fetched
 * before what is there has been delivered, and no more than a page of each request is held.
 */
export async function* inOrder(
  sources: readonly MergeInput[],
  forward: boolean,
  limit: number
): AsyncGenerator<MergedPage> {
  const all = sources.map((source) => new Source(source))
  try {
    for (;;) {
      const empty = all.filter((source) => source.head === undefined && !source.isDone)
      const rejected = (await Promise.all(empty.map((source) => source.fetch()))).flat()
      const rows = takeInOrder(all, forward, limit)
      const completeness = summarize(all)
      if (rows.length > 0 || rejected.length > 0 || completeness !== 'more') {
        yield { rows, rejected, completeness, positions: all.map(({ position }) => position) }
      }
      if (completeness !== 'more') {
        return
      }
    }
  } finally {
    await Promise.all(all.map((source) => source.close()))
  }
}

/** Takes rows as long as each request that is not done has one to compare. */
function takeInOrder(all: readonly Source[], forward: boolean, limit: number): Row[] {
  const sign = forward ? 1 : -1
  const rows: Row[] = []
  while (rows.length < limit) {
    let first: Source | undefined
    for (const source of all) {
      if (source.isDone) {
        continue
      }
      if (source.head === undefined) {
        return rows
      }
      if (first?.head === undefined || compareKeys(source.head, first.head) * sign < 0) {
        first = source
      }
    }
    if (first?.head === undefined) {
      return rows
    }
    rows.push(first.head)
    first.take()
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
