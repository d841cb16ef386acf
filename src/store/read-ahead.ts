import { assertInteger } from '../lib/checks.ts'
import type { MessagePage } from './page.ts'
import { RunningWalk } from './running-walk.ts'
import { walk } from './walk.ts'
import type { Walker, WalkInit } from './walker.ts'

/** Largest number of pages that may be held. */
const MAX_PAGES = 100

/**
 * Walks with the next pages asked for while the app handles this one. Leaving the loop gives up what is under way and asks
 * for nothing more. The position of a page never runs ahead of what was delivered.
 *
 * @param pages - how many to hold or have under way beside the one that the app has, 0 (none) to 100
 * @param walker - what to put it before
 * @throws {@link InvalidArgumentError} for another number of pages
 *
 * @example
 * ```ts
 * for await (const message of store.query(criteria, { walker: readAhead(1) })) await save(message)
 * ```
 */
export function readAhead<Page extends MessagePage = MessagePage>(
  pages: number,
  walker?: Walker<Page>
): Walker<Page> {
  assertInteger('pages', pages, 0, MAX_PAGES)
  const inner = walker ?? ({ begin: walk } as Walker as Walker<Page>)
  return { begin: (init) => ahead(init, pages, inner) }
}

async function* ahead<Page extends MessagePage>(
  init: WalkInit,
  limit: number,
  walker: Walker<Page>
): AsyncGenerator<Page> {
  const { signal } = init
  const running = new RunningWalk(walker, init)
  const asked: Promise<Page | undefined>[] = []
  try {
    for (;;) {
      signal?.throwIfAborted()
      while (asked.length <= limit) {
        asked.push(running.ask())
      }
      const page = await asked.shift()
      if (page === undefined) {
        return
      }
      yield page
    }
  } finally {
    await running.close()
  }
}
