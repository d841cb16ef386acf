import { Pauses } from '../lib/pauses.ts'
import { attempt, toFailure } from './attempt.ts'
import { catchUp } from './catch-up.ts'
import { RESUME_DEFAULTS } from './init.ts'
import type { Job } from './job.ts'
import { watchOutages } from './outages.ts'
import { tail } from './tail.ts'

/** How to go on for as long as the app runs. */
export interface FollowInit {
  /** A new call. */
  readonly createJob: () => Job
  readonly isTailed: boolean
  readonly intervalMs: number | undefined
  readonly recheckIntervalMs: number
}

/**
 * Catches up, then feeds the archive from a tail; again after an outage, and from time to time for what has healed.
 *
 * @throws the signal's own reason, and what trying again does not mend
 */
export async function follow(init: FollowInit): Promise<never> {
  const { createJob, isTailed, intervalMs, recheckIntervalMs } = init
  const { components, settings, signal } = createJob()
  let again = new AbortController()
  let failures = 0
  const pauses = new Pauses({ ...RESUME_DEFAULTS, ...settings })
  const unwatch = watchOutages(
    components.node,
    () => again.abort(),
    // whoever connects may be the first that does: what failed for want of a node is tried again
    () => pauses.wake()
  )
  try {
    for (;;) {
      signal.throwIfAborted()
      again = new AbortController()
      const until = again.signal
      const enoughMs = settings.now() + recheckIntervalMs
      let result = await attempt(createJob(), catchUp)
      if (result.status !== 'failed') {
        failures = 0
        const job = createJob()
        try {
          await (isTailed
            ? tail(job, { intervalMs, until, enoughMs })
            : settings.sleep(recheckIntervalMs, AbortSignal.any([signal, until])))
          continue
        } catch (error) {
          signal.throwIfAborted()
          if (until.aborted) {
            continue
          }
          result = toFailure(job, error)
        }
      }
      const { error } = result
      if (error.code === 'ERR_CLOSED' || error.code === 'ERR_STORAGE') {
        throw error // no repetition mends it
      }
      if (!until.aborted) {
        await pauses.wait(pauses.backoffMs(failures++), pauses.waking, signal)
      }
    }
  } finally {
    unwatch()
  }
}
