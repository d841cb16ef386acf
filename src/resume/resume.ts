import { InvalidArgumentError } from '../errors.ts'
import { assertMethod } from '../lib/checks.ts'
import { assertTimeoutMs, withDeadline } from '../lib/deadline.ts'
import { type TimeInput, toNanoseconds } from '../lib/time.ts'
import type { CallOptions } from '../options.ts'
import { attempt } from './attempt.ts'
import { catchUp } from './catch-up.ts'
import type { ResumeComponents } from './components.ts'
import { fill } from './fill.ts'
import { follow } from './following.ts'
import { RESUME_DEFAULTS, type ResumeInit, toSettings } from './init.ts'
import { Job } from './job.ts'
import type { HistoryGap, ResumeDone, ResumeProgress, ResumeResult } from './result.ts'
import { Marks } from './state.ts'

/** Options of {@link Resume.follow}. */
export interface ResumeFollowOptions extends Omit<CallOptions<ResumeProgress>, 'timeoutMs'> {
  /** False: asks at the beginning, after each outage, and at `recheckIntervalMs` only. @default true */
  readonly tail?: boolean
  /** Pause between two questions of the tail, in milliseconds. @default the store client's */
  readonly intervalMs?: number
  /** After how long to ask again for what nodes got from each other late, in milliseconds. @default 1800000, 30 minutes */
  readonly recheckIntervalMs?: number
}

/** Fills an archive with what was said while nobody listened. It holds nothing between its calls. */
export interface Resume {
  /**
   * Asks for everything since the mark, at most the window. Each page is stored together with the place to go on from; the mark
   * moves when all is there. `timeoutMs`: none by default.
   *
   * @returns what became of it; failures of nodes and of the archive are results
   * @throws {@link InvalidArgumentError} if a content topic has no shard in this network
   * @throws {@link TimeoutError}, or the signal's own reason; what came is stored
   */
  run(options?: CallOptions<ResumeProgress>): Promise<ResumeResult>
  /**
   * Catches up, then feeds the archive from a tail that moves the mark; again after an outage. Where tabs share the archive, it
   * waits until no other one does this. What fails is told as `resume:ended` and tried again with growing pauses.
   *
   * @throws the signal's own reason; {@link StorageError} or {@link ClosedError}, which trying again does not mend
   */
  follow(options?: ResumeFollowOptions): Promise<never>
  /**
   * Asks for a gap, or any other stretch of time, whatever its length. It may run beside the other calls.
   *
   * @param gap - from `from` on, before `to`
   * @throws {@link InvalidArgumentError} for a gap that is none; else as {@link Resume.run}
   */
  fillGap(
    gap: { readonly from: TimeInput; readonly to: TimeInput },
    options?: CallOptions<ResumeProgress>
  ): Promise<ResumeResult>
  /** The gaps that were found and not filled, oldest first. */
  gaps(options?: { readonly signal?: AbortSignal }): Promise<HistoryGap[]>
  /** The mark: everything before it was asked for, but for the gaps. Nanoseconds; undefined before the first time. */
  coveredUntil(options?: { readonly signal?: AbortSignal }): Promise<bigint | undefined>
}

/**
 * Creates a {@link Resume} for a set of topics.
 *
 * @throws {@link InvalidArgumentError} for options that are wrong
 * @see WAKU-STORE-SYNC, Store Resume
 *
 * @example
 * ```ts
 * const archive = await createIndexedDbArchive('my-chat')
 * const resume = createResume(
 *   { archive, store: new StoreClient(node), node },
 *   { contentTopics: ['/chat/1/lobby/proto'], name: 'my-chat' }
 * )
 * const result = await resume.run()
 * if (result.status === 'done' && result.gap) await resume.fillGap(result.gap)
 * ```
 */
export function createResume(components: ResumeComponents, init: ResumeInit = {}): Resume {
  assertMethod('components.archive', components?.archive, 'putMany')
  assertMethod('components.store', components.store, 'queryPages')
  const settings = toSettings(init)
  const { lockName: name, withLock } = settings
  const marks = new Marks(components.archive, settings.scope)

  const once = async (
    lockName: string,
    options: CallOptions<ResumeProgress>,
    run: (job: Job) => Promise<ResumeDone>
  ): Promise<ResumeResult> =>
    await withDeadline('resume', options, Infinity, async (signal) => {
      const job = new Job(components, settings, signal, options.onProgress)
      return await withLock(lockName, false, signal, async (lock) =>
        lock === null ? { status: 'busy' } : await attempt(job, run)
      )
    })

  return {
    run: async (options = {}) => await once(name, options, catchUp),

    async follow(options = {}) {
      const { tail: isTailed = true, intervalMs, onProgress } = options
      const { recheckIntervalMs = RESUME_DEFAULTS.recheckIntervalMs } = options
      assertTimeoutMs(intervalMs ?? 1, 'intervalMs')
      assertTimeoutMs(recheckIntervalMs, 'recheckIntervalMs')
      return await withDeadline('resume', options, Infinity, async (signal) =>
        withLock(name, true, signal, () =>
          follow({
            createJob: () => new Job(components, settings, signal, onProgress),
            isTailed,
            intervalMs,
            recheckIntervalMs
          })
        )
      )
    },

    async fillGap(gap, options = {}) {
      const from = toNanoseconds(gap?.from, 'gap.from')
      const to = toNanoseconds(gap.to, 'gap.to')
      if (to <= from) {
        throw new InvalidArgumentError('gap.to', 'must be after from')
      }
      return await once(`${name}/gaps`, options, (job) => fill(job, { from, to }))
    },

    gaps: async ({ signal } = {}) => await marks.gaps(signal),

    coveredUntil: async ({ signal } = {}) => (await marks.readState(signal)).coveredUntil
  }
}
