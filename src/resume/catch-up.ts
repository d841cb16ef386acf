import type { Job } from './job.ts'
import { legToFinish, planLeg } from './plan.ts'
import { recheck } from './recheck.ts'
import type { HistoryGap, ResumeDone } from './result.ts'
import { addGap, type Leg, max, type ResumeState, subtract } from './state.ts'
import { type WalkEnd, walk } from './walking.ts'

/**
 * Asks for everything since the mark: what a crash broke off is brought to its end first. The mark moves at the end of each
 * leg.
 *
 * @throws as {@link walk}, and what the archive throws
 */
export async function catchUp(job: Job): Promise<ResumeDone> {
  const { settings, marks, signal } = job
  let state = await marks.readState(signal)
  let resumedFrom: bigint | undefined
  let gap: HistoryGap | undefined
  let completeness: WalkEnd = 'complete'
  for (;;) {
    const nowMs = settings.now()
    const old = legToFinish(state, nowMs, settings)
    const leg = old ?? (await planLeg(state, nowMs, settings, (before) => job.newest(before)))
    resumedFrom ??= leg.from
    gap = leg.gap ?? gap
    job.tell({ type: 'resume:started', detail: { from: leg.from, to: leg.to, gap: leg.gap } })
    const end = await run(job, state, leg)
    state = end.state
    completeness = end.completeness === 'complete' ? completeness : end.completeness
    if (old === undefined) {
      return {
        status: 'done',
        resumedFrom,
        resumedTo: leg.to,
        ...(gap && { gap }),
        completeness,
        clockSetBack: leg.clockSetBack,
        ...job.outcome
      }
    }
  }
}

async function run(
  job: Job,
  before: ResumeState,
  leg: Leg
): Promise<{ state: ResumeState; completeness: WalkEnd }> {
  const { marks, settings, signal } = job
  let completeness: WalkEnd = 'complete'
  if (!leg.isWalked) {
    completeness = await walk(job, {
      from: leg.from,
      to: leg.to + settings.overlap,
      position: leg.position,
      peerId: leg.peerId,
      stage: 'walk',
      toMarks: ({ position, peerId, completeness: end }) =>
        marks.state({ ...before, leg: { ...leg, position, peerId, isWalked: end === 'complete' } })
    })
  }
  if (leg.recheck !== undefined) {
    await recheck(job, leg.recheck)
  }
  const { filled } = await marks.readFills(signal)
  const state: ResumeState = {
    coveredUntil: leg.to,
    settledUntil: max(leg.floor, leg.to - settings.healing),
    gaps: subtract(addGap(before.gaps, leg.gap), filled)
  }
  await job.mark(marks.state(state))
  return { state, completeness }
}
