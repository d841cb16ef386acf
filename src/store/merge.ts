import type { Completeness } from './generation.ts'
import type { RejectedEntry, Row, SourcePage } from './page.ts'
import type { SourcePosition } from './position.ts'
import { compareKeys } from './transforms.ts'

/** How a walk of several requests ends: as the first of these that one of them says. */
const ENDS = ['more', 'unverifiable'] as const

/** A stretch of the merged walk, in the order of walking, and where each request stands after it. */
export interface MergedPage {
  readonly rows: readonly Row[]
  readonly rejected: readonly RejectedEntry[]
  readonly completeness: Completeness
  readonly positions: readonly SourcePosition[]
}

/** One request of a walk: where it goes on, and its pages from there. */
export interface MergeInput {
  readonly from: SourcePosition
  readonly pages: AsyncIterable<SourcePage>
}

/** A request with the page that is being used up. */
interface Source {
  readonly pages: AsyncIterator<SourcePage>
  page: SourcePage
  index: number
}

/** The next row; undefined if a page has to be fetched, or nothing is left. */
function headOf({ page, index }: Source): Row | undefined {
  return page.rows[index]
}

/** How it ended; `more` as long as a row is left. */
function completenessOf(source: Source): Completeness {
  return headOf(source) === undefined ? source.page.completeness : 'more'
}

/** True if nobody knows what comes next of it. */
function needsPage({ page, index }: Source): boolean {
  return page.completeness === 'more' && index === page.rows.length
}

/** Where to go on: after the page if it is used up, else in the middle of it. */
function positionOf({ page, index }: Source): SourcePosition {
  const { rows, start, end } = page
  if (index === rows.length) {
    return end
  }
  return index === 0 ? start : { ...start, after: rows[index - 1]?.message.messageHash }
}

/** Fetches the next page; returns what it has that is not delivered. */
async function fetchPage(source: Source): Promise<readonly RejectedEntry[]> {
  const { value } = (await source.pages.next()) as IteratorYieldResult<SourcePage>
  source.page = value
  source.index = 0
  return value.rejected
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
  const all = sources.map(
    ({ from, pages }): Source => ({
      pages: pages[Symbol.asyncIterator](),
      page: { rows: [], rejected: [], completeness: 'more', start: from, end: from },
      index: 0
    })
  )
  try {
    for (;;) {
      const rejected = (await Promise.all(all.filter(needsPage).map(fetchPage))).flat()
      const rows = takeInOrder(all, forward, limit)
      const ends = all.map(completenessOf)
      const completeness = ENDS.find((end) => ends.includes(end)) ?? 'complete'
      yield { rows, rejected, completeness, positions: all.map(positionOf) }
      if (completeness !== 'more') {
        return
      }
    }
  } finally {
    stop()
    await Promise.all(all.map(async ({ pages }) => await pages.return?.()))
  }
}

/** Takes rows as long as each request that is not done has one to compare. */
function takeInOrder(all: readonly Source[], forward: boolean, limit: number): Row[] {
  const sign = forward ? 1 : -1
  const rows: Row[] = []
  while (rows.length < limit && !all.some(needsPage)) {
    let first: Source | undefined
    let row: Row | undefined
    for (const source of all) {
      const head = headOf(source)
      if (head !== undefined && (row === undefined || compareKeys(head, row) * sign < 0)) {
        first = source
        row = head
      }
    }
    if (first === undefined || row === undefined) {
      break
    }
    rows.push(row)
    first.index++
  }
  return rows
}
