import type { Job } from './job.ts'
import type { HistoryGap, ResumeDone } from './result.ts'
import { addGap, intersect, subtract } from './state.ts'
import { walk } from './walking.ts'

/**
 * Asks for a stretch of history, whatever its length, and takes it out of the gaps.
 *
 * @throws as {@link walk}, and what the archive throws
 */
export async function fill(job: Job, gap: HistoryGap): Promise<ResumeDone> {
  const { marks, signal } = job
  const { filled, walk: point } = await marks.readFills(signal)
  job.tell({ type: 'resume:started', detail: gap })
  const completeness = await walk(job, {
    ...gap,
    ...point, // refused where it is of another gap
    stage: 'gap',
    toMarks: ({ position, peerId }) => marks.fills({ filled, walk: { position, peerId } })
  })
  const { gaps: known, leg } = await marks.readState(signal)
  // That of a call under way is among them once that has come to its end.
  const gaps = addGap(known, leg?.gap)
  // Only what is still said to be missing has to be remembered.
  const others = subtract(intersect(filled, gaps), [gap])
  await job.mark(marks.fills({ filled: [...others, ...intersect([gap], gaps)] }))
  return {
    status: 'done',
    resumedFrom: gap.from,
    resumedTo: gap.to,
    completeness,
    clockSetBack: false,
    ...job.outcome
  }
}
