import type { WakuLightError } from '../errors.ts'
import type { ProgressEvent } from '../options.ts'
import type { SourceState } from '../store/roster.ts'

/** A stretch of history, in nanoseconds: from a time on, and before another one. */
export interface HistoryGap {
  readonly from: bigint
  readonly to: bigint
}

/** What a call cost, and what it brought. */
export interface ResumeCounts {
  /** Messages that nodes sent, those that were filtered out here as well. */
  readonly fetched: number
  /** Messages that are new in the archive. */
  readonly added: number
  /** Bytes of the nodes' answers. */
  readonly bytes: number
  /** Messages that a node named by their hash and then did not give, or gave as something else than was asked for. */
  readonly missing: number
}

/** Everything that was asked for is in the archive. */
export interface ResumeDone extends ResumeCounts {
  readonly status: 'done'
  readonly resumedFrom: bigint
  /** The mark from now on. */
  readonly resumedTo: bigint
  /** What lies between the mark as it was and the window, and was not asked for. See {@link Resume.fillGap}. */
  readonly gap?: HistoryGap
  /** Whether a node said that this is the end, or none could. */
  readonly completeness: 'complete' | 'unverifiable'
  /** True if the mark was in the future and not believed. */
  readonly clockSetBack: boolean
  /**
   * Where several nodes were asked at once: what became of each, and how many of the messages that came it lacked. Those that
   * were dropped count for nothing in `completeness`.
   */
  readonly sources?: readonly SourceState[]
}

/** Not everything is in the archive; what came is, and the next call goes on from there. The mark has not moved. */
export interface ResumeFailed extends ResumeCounts {
  readonly status: 'failed'
  /**
   * {@link NoUsablePeerError} with what failed at each node, {@link StorageError}, {@link StorageFullError}, or
   * {@link ClosedError}.
   */
  readonly error: WakuLightError
}

/** Another call, here or in another tab, is at it. */
export interface ResumeBusy {
  readonly status: 'busy'
}

/** What became of a call. */
export type ResumeResult = ResumeDone | ResumeFailed | ResumeBusy

/** Why something is asked for: the way to now, what may have healed since, a gap, or what comes. */
export type ResumeStage = 'walk' | 'recheck' | 'gap' | 'tail'

/** What happens in a call; counts are those of the call so far. */
export type ResumeProgress =
  | ProgressEvent<'resume:started', HistoryGap & { readonly gap?: HistoryGap }>
  | ProgressEvent<
      'resume:page',
      ResumeCounts & {
        readonly stage: ResumeStage
        /** Left out in a tail. */
        readonly peerId?: string
        /** Time of the newest message of the page, if it has one. */
        readonly reached?: bigint
      }
    >
  | ProgressEvent<'resume:peer-failed', { readonly peerId: string; readonly error: Error }>
  | ProgressEvent<'resume:ended', ResumeResult>
