import {
  createResume,
  RESUME_DEFAULTS,
  type ResumeComponents,
  type ResumeDone,
  type ResumeInit
} from 'waku-light/resume'
import { MS, SECOND_MS, TOPIC, type World } from './world.ts'

/** Milliseconds as the time of a message. */
export const at = (ms: number): bigint => BigInt(ms) * MS
export const WINDOW_MS = RESUME_DEFAULTS.windowMs

/** So many messages, a second apart, the last one a second ago. */
export function send(world: World, count: number, topic = TOPIC): string[] {
  return Array.from({ length: count }, (_, index) => {
    world.send((index - count) * SECOND_MS, `${topic} ${index}`, topic)
    return `${topic} ${index}`
  })
}

/** Runs; fails unless it comes to its end. */
export async function done(
  world: World,
  init: Partial<ResumeInit> = {},
  components: Partial<ResumeComponents> = {}
): Promise<ResumeDone> {
  const resume = createResume({ ...world.components(), ...components }, world.init(init))
  const result = await resume.run()
  if (result.status !== 'done') {
    throw new Error(result.status, { cause: 'error' in result ? result.error : undefined })
  }
  return result
}

/** The mark for the usual topic. */
export const mark = async (world: World): Promise<bigint | undefined> =>
  await createResume(world.components(), world.init()).coveredUntil()
