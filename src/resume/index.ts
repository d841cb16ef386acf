/**
 * `waku-light/resume`: catch up from a store into an archive. A client room: it imports no libp2p value and of other client
 * rooms only types. Importing it touches nothing.
 *
 * @packageDocumentation
 */
export type {
  ResumeArchive,
  ResumeComponents,
  ResumeNode,
  ResumePage,
  ResumeStore
} from './components.ts'
export { RESUME_DEFAULTS, type ResumeInit } from './init.ts'
export type { ResumeLocks } from './locks.ts'
export type {
  HistoryGap,
  ResumeBusy,
  ResumeCounts,
  ResumeDone,
  ResumeFailed,
  ResumeProgress,
  ResumeResult,
  ResumeStage
} from './result.ts'
export { createResume, type Resume, type ResumeFollowOptions } from './resume.ts'
