import type { PageQuery, RawPage } from './generation.ts'
import { isSame } from './legacy.ts'
import type { StoreSession } from './session.ts'

/** A page as it came, and the cursor it was asked with. */
export interface AskedPage {
  readonly page: RawPage
  readonly asked: Uint8Array<ArrayBuffer> | undefined
}

/**
 * First stage: the pages of one request from its cursor on, one after the other, each asked for when it is pulled. That the cursors repeat shows,
 * whatever the length of the loop, from one remembered cursor (Brent).
 */
export async function* rawPages(
  session: StoreSession,
  query: PageQuery
): AsyncGenerator<AskedPage> {
  let { cursor } = query
  let remembered: Uint8Array | undefined
  let steps = 0
  for (let power = 1; ; ) {
    const page = await session.ask({ ...query, cursor })
    yield { page, asked: cursor }
    if (page.completeness !== 'more') {
      return
    }
    if (isSame(page.cursor, cursor) || isSame(page.cursor, remembered)) {
      throw session.violation('cursor', 'the cursor does not move on')
    }
    cursor = page.cursor
    if (++steps === power) {
      remembered = cursor
      power *= 2
      steps = 0
    }
  }
}
