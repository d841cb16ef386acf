import { hasErrorCode } from '../errors.ts'
import { Pauses } from '../lib/pauses.ts'
import { RESUME_DEFAULTS, type ResumeSettings } from './init.ts'
import type { Job } from './job.ts'
import { watchOutages } from './outages.ts'
import type { ResumeFailed, ResumeResult } from './result.ts'
import { tail } from './tail.ts'

/** How to go on for as long as the app runs. */
export interface FollowInit {
  /** A new call. */
  readonly createJob: () => Job
  /** Catches up; what fails is in the result. */
  readonly catchUp: (job: Job) => Promise<ResumeResult>
  /** What a failure comes to. @throws what is not one */
  readonly toFailure: (job: Job, error: unknown) => ResumeFailed
  readonly settings: ResumeSettings
  readonly isTailed: boolean
  readonly intervalMs: number | undefined
  readonly recheckIntervalMs: number
  readonly signal: AbortSignal
}

/**
 * Catches up, then feeds the archive from a tail; again after an outage, and from time to time for what has healed.
 *
 * @throws the signal's own reason, and what trying again does not mend
 */
export async function follow(init: FollowInit): Promise<never> {
  const { settings, signal, intervalMs, recheckIntervalMs } = init
  let again = new AbortController()
  let failures = 0
  const { node } = init.createJob().components
  const pauses = new Pauses({ ...RESUME_DEFAULTS, ...settings })
  const unwatch = watchOutages(node, () => again.abort())
  // whoever connects may be the first that does: what failed for want of a node is tried again
  const end = node?.onConnectionChange?.(({ connected }) => connected && pauses.wake())
  try {
    for (;;) {
      signal.throwIfAborted()
      again = new AbortController()
      const until = again.signal
      const startedMs = settings.now()
      let result = await init.catchUp(init.createJob())
      if (result.status !== 'failed') {
        failures = 0
        const job = init.createJob()
        const isEnough = (): boolean => settings.now() - startedMs >= recheckIntervalMs
        try {
          await (init.isTailed
            ? tail(job, { intervalMs, until, isEnough })
            : settings.sleep(recheckIntervalMs, AbortSignal.any([signal, until])))
          continue
        } catch (error) {
          signal.throwIfAborted()
          if (until.aborted) {
            continue
          }
          result = init.toFailure(job, error)
        }
      }
      if (isFinal(result)) {
        throw result.error
      }
      if (!until.aborted) {
        await pauses.wait(pauses.backoffMs(failures++), pauses.waking, signal)
      }
    }
  } finally {
    unwatch()
    end?.()
  }
}

/** What no repetition mends. */
function isFinal({ error }: ResumeFailed): boolean {
  return hasErrorCode(error, 'ERR_CLOSED') || hasErrorCode(error, 'ERR_STORAGE')
}
