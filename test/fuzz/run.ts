import { fuzzDecoder } from './decoders.ts'
import { fuzzAnswer, fuzzExchange } from './exchanges.ts'
import { fuzzPush } from './pushes.ts'
import { Random } from './random.ts'
import { fuzzWalk } from './walks.ts'

/** One round: feeds some frames to something, and tells how many. */
export type Round = (random: Random) => number | Promise<number>

/** Frames in one round of decoding. */
const DECODED_FRAMES = 500

/** All targets, by name. */
export const ROUNDS: Readonly<Record<string, Round>> = {
  decoders: (random) => {
    for (let count = 0; count < DECODED_FRAMES; count++) {
      fuzzDecoder(random)
    }
    return DECODED_FRAMES
  },
  exchange: fuzzExchange,
  answer: fuzzAnswer,
  push: fuzzPush,
  walk: fuzzWalk
}

/** What was done. */
export interface FuzzReport {
  readonly rounds: number
  /** By target. */
  readonly frames: Readonly<Record<string, number>>
}

/** How to run. */
export interface FuzzOptions {
  readonly seed: number
  /** Frames to feed, all targets together. */
  readonly frames: number
  /** Targets, each as often as its name is in the list. @default all */
  readonly targets?: readonly string[]
  readonly onRound?: (report: FuzzReport) => void
}

/**
 * Feeds a number of frames. Each round has a seed of its own, one more than the last, so that a round that fails is the first
 * of another run.
 *
 * @throws an error that names the seed and the target
 */
export async function fuzz({ seed, frames, targets, onRound }: FuzzOptions): Promise<FuzzReport> {
  const names = targets ?? Object.keys(ROUNDS)
  const fed = Object.fromEntries(names.map((name) => [name, 0]))
  const report = { rounds: 0, frames: fed }
  for (let total = 0; total < frames; report.rounds++) {
    const own = seed + report.rounds
    const random = new Random(own)
    const name = random.pick(names)
    try {
      const count = (await ROUNDS[name]?.(random)) ?? 0
      fed[name] = (fed[name] ?? 0) + count
      total += Math.max(1, count)
    } catch (error) {
      throw new Error(`--seed ${own} --frames 1: ${name}: ${reasonOf(error)}`, { cause: error })
    }
    onRound?.(report)
  }
  return report
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error)
  }
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`
}
