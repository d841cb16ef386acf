// Two archives to reconcile: sizes, places of the entries, and which side has them.
import fc from 'fast-check'
import type { SyncWindow } from '../../src/sync/index.ts'
import { type Entry, toEntry } from './twin.ts'

export const START = 1_700_000_000_000_000_000n
export const HOUR = 3_600_000_000_000n

export interface Scenario {
  readonly name: string
  readonly window: SyncWindow
  /** What the initiator has, and what the responder has. */
  readonly a: readonly Entry[]
  readonly b: readonly Entry[]
}

/** How times are laid out within the window. */
const LAYOUTS: Readonly<Record<string, (random: () => number, span: number) => number>> = {
  spread: (random, span) => random() * span,
  seconds: (random, span) => Math.floor((random() * span) / 1e9) * 1e9,
  'in one corner': (random, span) => random() ** 6 * span,
  'at few times': (random, span) => (Math.floor(random() * 5) / 5) * span,
  'nanoseconds apart': (random) => random() * 40,
  'at one time': (_, span) => span / 3,
  'at the ends': (random, span) => (random() < 0.5 ? random() * 12 : span - 1 - random() * 12)
}

/** Which side has an entry: both, the first, the second. */
const DIFFERENCES: Readonly<
  Record<string, (random: () => number, place: number) => 'both' | 'a' | 'b'>
> = {
  none: () => 'both',
  few: (random) => (random() > 0.005 ? 'both' : random() < 0.5 ? 'a' : 'b'),
  some: (random) => (random() > 0.1 ? 'both' : random() < 0.5 ? 'a' : 'b'),
  'all of them': (random) => (random() < 0.5 ? 'a' : 'b'),
  'first has nothing': () => 'b',
  'second has nothing': () => 'a',
  'in one place': (random, place) =>
    place < 0.4 || place > 0.45 ? 'both' : random() < 0.5 ? 'a' : 'b',
  'one side lacks the end': (_, place) => (place > 0.9 ? 'a' : 'both')
}

export function createScenario(
  seed: number,
  size: number,
  layout: string,
  kind: string,
  span = HOUR
): Scenario {
  const random = createRandom(seed)
  const a: Entry[] = []
  const b: Entry[] = []
  for (let number = 0; number < size; number++) {
    const offset = BigInt(Math.floor(LAYOUTS[layout]!(random, Number(span))))
    const inside = offset < 0n ? 0n : offset < span ? offset : span - 1n
    const timestamp = START + inside
    const entry = toEntry(timestamp, (Math.imul(seed, 31) + number) | 0)
    const side = DIFFERENCES[kind]!(random, Number(inside) / Number(span))
    if (side !== 'b') {
      a.push(entry)
    }
    if (side !== 'a') {
      b.push(entry)
    }
  }
  const window = { timeStart: START, timeEnd: START + span }
  return { name: `${size} ${layout}, ${kind}, seed ${seed}`, window, a, b }
}

export function scenarios(maxSize: number): fc.Arbitrary<Scenario> {
  return fc
    .tuple(
      fc.nat(),
      fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 300 }), fc.nat({ max: maxSize })),
      fc.constantFrom(...Object.keys(LAYOUTS)),
      fc.constantFrom(...Object.keys(DIFFERENCES)),
      fc.constantFrom(HOUR, HOUR, 1000n, 64n, 8n)
    )
    .map((parts) => createScenario(...parts))
}

function createRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
}
