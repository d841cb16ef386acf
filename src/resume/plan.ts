import { fromMilliseconds } from '../lib/time.ts'
import type { ResumeSettings } from './init.ts'
import type { HistoryGap } from './result.ts'
import { type Leg, max, min, type ResumeState } from './state.ts'

/**
 * The leg that was broken off, if it is worth going on with: where the window has left it behind, or the clock was wrong
 * when it began, a new one asks for all of it.
 */
export function legToFinish(
  { leg }: ResumeState,
  nowMs: number,
  settings: ResumeSettings
): Leg | undefined {
  const isAlive =
    leg !== undefined &&
    leg.to <= fromMilliseconds(nowMs) + settings.overlap &&
    (leg.isWalked || leg.to > earliest(nowMs, settings))
  return isAlive ? leg : undefined
}

/**
 * The way from the mark to now.
 *
 * @param newest - the time of the newest message in the archive before a time
 */
export async function planLeg(
  { coveredUntil, settledUntil }: ResumeState,
  nowMs: number,
  settings: ResumeSettings,
  newest: (before: bigint) => Promise<bigint | undefined>
): Promise<Leg> {
  const { overlap, healing } = settings
  const now = fromMilliseconds(nowMs)
  const start = earliest(nowMs, settings)
  const clockSetBack = coveredUntil !== undefined && coveredUntil > now + overlap
  const base = { to: now, isWalked: false, clockSetBack }
  if (coveredUntil === undefined) {
    return { ...base, from: start, floor: start }
  }
  if (clockSetBack) {
    // How far the clock was ahead nobody knows: what was received last tells where a gap may begin.
    const last = await newest(now)
    return { ...base, from: start, floor: start, gap: stretch(last ?? start, start) }
  }
  const from = max(min(coveredUntil, now) - overlap, start)
  const settled = settledUntil ?? coveredUntil - healing
  const gap = stretch(coveredUntil, start)
  return {
    ...base,
    from,
    to: max(coveredUntil, now),
    floor: settled,
    gap,
    recheck: stretch(settled, min(coveredUntil, from))
  }
}

/** When the window begins. */
function earliest(nowMs: number, { windowMs }: ResumeSettings): bigint {
  return fromMilliseconds(Math.max(0, nowMs - windowMs))
}

function stretch(from: bigint, to: bigint): HistoryGap | undefined {
  return from < to ? { from, to } : undefined
}
