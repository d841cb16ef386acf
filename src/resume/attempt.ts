import { isWakuLightError } from '../errors.ts'
import type { Job } from './job.ts'
import type { ResumeDone, ResumeFailed } from './result.ts'

/**
 * Does a call, and tells what became of it.
 *
 * @throws as {@link toFailure}, and the signal's own reason
 */
export async function attempt(
  job: Job,
  run: (job: Job) => Promise<ResumeDone>
): Promise<ResumeDone | ResumeFailed> {
  let result: ResumeDone | ResumeFailed
  try {
    job.signal.throwIfAborted()
    result = await run(job)
  } catch (error) {
    job.signal.throwIfAborted()
    result = toFailure(job, error)
  }
  job.tell({ type: 'resume:ended', detail: result })
  return result
}

/**
 * What a call that failed comes to.
 *
 * @throws what nobody foresaw, and what is the caller's fault
 */
export function toFailure(job: Job, error: unknown): ResumeFailed {
  if (!isWakuLightError(error) || error.code === 'ERR_INVALID_ARGUMENT') {
    throw error
  }
  return { status: 'failed', error, ...job.counts }
}
