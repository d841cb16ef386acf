import { ClosedError } from '../errors.ts'
import type { MessagePage } from './page.ts'
import type { Walker, WalkInit } from './walker.ts'

/** A walk whose pages are asked for before somebody waits for them, and which can be given up at any time. */
export class RunningWalk<Page extends MessagePage> {
  readonly #stop = new AbortController()
  readonly #unlink: () => void
  readonly #pages: AsyncGenerator<Page>

  constructor({ begin }: Walker<Page>, init: WalkInit) {
    const { signal } = init
    const onAbort = (): void => this.#stop.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    this.#unlink = () => signal?.removeEventListener('abort', onAbort)
    if (signal?.aborted === true) {
      onAbort()
    }
    this.#pages = begin({ ...init, signal: this.#stop.signal })
  }

  /** Asks for the next page; undefined after the last one. It may reject before anybody listens. */
  ask(): Promise<Page | undefined> {
    const page = this.#pages.next().then(({ value }) => value as Page | undefined)
    page.catch(() => undefined)
    return page
  }

  /** Gives up what is under way. */
  async close(): Promise<void> {
    this.#unlink()
    this.#stop.abort(new ClosedError('the walk'))
    await this.#pages.return(undefined)
  }
}

/** A walk as a thing that is asked for page after page. */
export interface SteppingWalk<Page extends MessagePage> {
  /** The next page; it may hold nothing. */
  next(): Promise<Page>
  /** Gives up what is under way. */
  close(): Promise<void>
}

/** The pages of a walk that hold something, and the last one. */
export async function* stepByStep<Page extends MessagePage>(
  { signal }: WalkInit,
  begin: () => SteppingWalk<Page>
): AsyncGenerator<Page> {
  signal?.throwIfAborted()
  const walk = begin()
  try {
    for (;;) {
      const page = await walk.next()
      signal?.throwIfAborted()
      if (page.completeness !== 'more' || page.messages.length + page.rejected.length > 0) {
        yield page
      }
      if (page.completeness !== 'more') {
        return
      }
      signal?.throwIfAborted()
    }
  } finally {
    await walk.close()
  }
}
