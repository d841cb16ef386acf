import type { PageQuery, RawPage } from './generation.ts'
import { isSame } from './legacy.ts'
import type { StoreSession } from './session.ts'

/** A page as it came, and the cursor it was asked with. */
export interface AskedPage {
  readonly page: RawPage
  readonly asked: Uint8Array<ArrayBuffer> | undefined
}

/** First stage: the pages of one request, one after the other, each asked for when it is pulled. */
export async function* rawPages(
  session: StoreSession,
  query: Omit<PageQuery, 'cursor'>,
  start: Uint8Array<ArrayBuffer> | undefined
): AsyncGenerator<AskedPage> {
  const loop = new LoopDetector()
  for (let cursor = start; ; ) {
    const page = await session.ask({ ...query, cursor })
    yield { page, asked: cursor }
    if (page.completeness !== 'more') {
      return
    }
    if (isSame(page.cursor, cursor) || loop.closes(page.cursor)) {
      throw session.violation('cursor', 'the cursor does not move on')
    }
    cursor = page.cursor
  }
}

/** Finds out that a sequence of cursors repeats, whatever the length of the loop, from one remembered cursor (Brent). */
class LoopDetector {
  #remembered: Uint8Array | undefined
  #steps = 0
  #power = 1

  closes(cursor: Uint8Array | undefined): boolean {
    if (isSame(cursor, this.#remembered)) {
      return true
    }
    if (++this.#steps === this.#power) {
      this.#remembered = cursor
      this.#power *= 2
      this.#steps = 0
    }
    return false
  }
}
