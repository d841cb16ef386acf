import { hasErrorCode, isWakuLightError } from '../errors.ts'
import type { MessagePage } from '../store/page.ts'
import type { ResumePage } from './components.ts'
import type { Job } from './job.ts'
import { Nodes } from './nodes.ts'
import type { HistoryGap, ResumeStage } from './result.ts'
import { joinSources } from './sources.ts'
import type { WalkPoint } from './state.ts'

/** What a walk came to. */
export type WalkEnd = 'complete' | 'unverifiable'

/** How to walk through a stretch of history. */
export interface WalkInit extends HistoryGap, WalkPoint {
  readonly stage: ResumeStage
  /** The marks that are put together with a page. */
  readonly toMarks?: (page: MessagePage) => Record<string, unknown>
}

/**
 * Walks through a stretch of history from page to page, at a random node, and goes on at others where it fails or cannot say
 * that it is at the end; or at several nodes at once, which the walker chooses. Each page is put before the next one is asked
 * for.
 *
 * @throws {@link NoUsablePeerError} if all fail, what the archive throws, {@link ClosedError}, the signal's own reason
 */
export async function walk(job: Job, init: WalkInit): Promise<WalkEnd> {
  const { store, node } = job.components
  const { pageLimit, random, walker } = job.settings
  const { signal } = job
  const known = walker === undefined ? node : undefined
  let { position } = init
  let stored = position
  let nodes = new Nodes(known, random, init.peerId)
  let isAtEnd = false
  let hasPages = false
  let isStuck = false
  for (;;) {
    let peerId: string
    try {
      peerId = nodes.next()
    } catch (error) {
      if (isAtEnd) {
        return 'unverifiable'
      }
      if (isStuck && stored !== undefined) {
        // Only the node that the stored position is of could go on. It does not: from the beginning, then, once.
        stored = undefined
        position = undefined
        isStuck = false
        nodes = new Nodes(known, random)
        continue
      }
      throw error
    }
    try {
      const pages = store.queryPages(job.criteria(init.from, init.to), {
        ...job.askOf(peerId),
        position,
        pageLimit,
        walker
      })
      const before = job.sources
      for await (const page of pages) {
        signal.throwIfAborted()
        tellDropped(job, page)
        job.sources = joinSources(before, page.sources ?? [])
        await job.put(page.messages, init.stage, page.peerId, init.toMarks?.(page))
        hasPages = true
        position = page.position
        if (page.completeness === 'complete') {
          return 'complete'
        }
        if (page.messages.length > 0) {
          isAtEnd = false
          nodes.progress()
        }
      }
      isAtEnd = true
      nodes.leave(peerId, new Error('unverifiable'))
    } catch (error) {
      signal.throwIfAborted()
      if (hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY')) {
        position = error.position
      } else if (isOfPosition(error) && position !== undefined) {
        position = undefined
        continue
      }
      const reason = toReason(error)
      isStuck ||= !hasPages && hasErrorCode(reason, 'ERR_UNSUPPORTED')
      job.leave(nodes, peerId, reason)
    }
  }
}

/** Tells which of several nodes were dropped, each once. */
function tellDropped(job: Job, { sources = [] }: ResumePage): void {
  for (const { peerId, failure } of sources) {
    if (failure !== undefined && !job.sources.some((known) => known.failure === failure)) {
      job.tellFailed(peerId, failure.error)
    }
  }
}

/** What ended a walk. */
export function causeOf(error: unknown): unknown {
  return hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY') ? error.cause : error
}

/**
 * What is wrong with a node.
 *
 * @throws what is wrong with something else: the archive, the call, or what nobody foresaw
 */
export function toReason(error: unknown): Error {
  const reason = causeOf(error)
  const isOurs = hasErrorCode(
    reason,
    'ERR_STORAGE',
    'ERR_STORAGE_FULL',
    'ERR_CLOSED',
    'ERR_INVALID_ARGUMENT'
  )
  if (!isWakuLightError(reason) || isOurs) {
    throw reason
  }
  return reason
}

/** A token of another version of this package, or of other criteria. */
function isOfPosition(error: unknown): boolean {
  return hasErrorCode(error, 'ERR_INVALID_ARGUMENT') && error.parameter === 'position'
}
