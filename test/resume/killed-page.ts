import { createIndexedDbArchive } from 'waku-light/archive'
import { createResume, type ResumeComponents } from 'waku-light/resume'
import { collect, hashesOf } from '../helpers/collect.ts'
import { HOUR_MS, MINUTE_MS, START_MS, World } from './world.ts'

/** At which call of the archive a page is killed: before it, while it is under way, or after it. */
export interface Death {
  readonly calls: number
  readonly when: 'before' | 'during' | 'after'
}

/** What a page that was not killed has to say. */
export interface Outcome {
  readonly status: string
  /** Hashes of the archive, in its order. */
  readonly held: readonly string[]
  /** Hashes that should be there. */
  readonly expected: readonly string[]
}

/** The same world for the same seed: two nodes, and messages of two stretches of time. */
function createWorld(seed: number): World {
  const random = toRandom(seed)
  const world = new World(2)
  for (const from of [START_MS - 5 * HOUR_MS, START_MS]) {
    const count = 3 + Math.floor(random() * 20)
    for (let index = 0; index < count; index++) {
      const ms = from + Math.floor(random() * 4 * HOUR_MS)
      world.nowMs = ms
      const delaysMs = [0, 0].map(() => (random() < 0.2 ? Math.floor(random() * HOUR_MS) : 0))
      world.send(0, `${from} ${index}`, undefined, delaysMs)
    }
  }
  return world
}

/** Opens the archive and resumes, as a page does that is opened at a certain time. */
export async function openPage(
  name: string,
  seed: number,
  nowMs: number,
  death: Death | null,
  die: () => Promise<never>
): Promise<Outcome> {
  const world = createWorld(seed)
  world.nowMs = nowMs
  const local = await createIndexedDbArchive(name)
  let calls = 0
  const guard = async <T>(run: () => Promise<T>): Promise<T> => {
    const when = ++calls === death?.calls ? death.when : undefined
    if (when === 'before') {
      await die()
    }
    const running = run()
    if (when === 'during') {
      await die()
    }
    const result = await running
    if (when === 'after') {
      await die()
    }
    return result
  }
  const archive: ResumeComponents['archive'] = {
    putMany: (messages, options) => guard(() => local.putMany(messages, options)),
    has: (hashes, options) => guard(() => local.has(hashes, options)),
    getMark: (key, options) => guard(() => local.getMark(key, options)),
    walkKeys: (criteria, options) => local.walkKeys(criteria, options)
  }
  const random = toRandom(seed + nowMs)
  const { status } = await createResume(world.components(archive), world.init({ random })).run()
  const held = hashesOf(await collect(local.walkKeys()))
  await local.close()
  const start = BigInt(START_MS - 6 * HOUR_MS) * 1_000_000n
  const end = BigInt(nowMs) * 1_000_000n
  const expected = world
    .sent()
    .filter(({ message: { timestamp = 0n } }) => timestamp >= start && timestamp < end)
    .map(({ hash }) => hash)
  return { status, held, expected }
}

/** When pages are opened: at first, after some hours, and once all nodes have healed. */
export const OPENED_MS: readonly number[] = [
  START_MS,
  START_MS + 4 * HOUR_MS,
  START_MS + 4 * HOUR_MS + 66 * MINUTE_MS
]

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
export function toRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
