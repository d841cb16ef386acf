import { isWakuLightError } from 'waku-light/errors'
import { toHex } from 'waku-light/message'
import * as wire from 'waku-light/wire'
import { CORPUS } from './corpus.ts'
import { mutate } from './mutate.ts'
import type { Random } from './random.ts'

/** Bound of repeated fields, as a client has one. */
const MAX_COUNT = 100

type Decode = (bytes: Uint8Array) => unknown

/** Every decoder of the wire room: it takes the bytes first, and a bound next, if it has one. */
export const DECODERS: readonly (readonly [string, Decode])[] = Object.entries(wire)
  .filter(([name]) => name.startsWith('decode'))
  .flatMap(([name, decode]) => {
    if (name === 'decodeSyncPayload') {
      const limits = { ...wire.SYNC_PAYLOAD_LIMITS, maxRanges: 50, maxItems: 500, maxTopics: 20 }
      return ([undefined, 'topics', 'shards'] as const).map((layout): readonly [string, Decode] => [
        `${name} ${layout ?? 'of any layout'}`,
        (bytes) => wire.decodeSyncPayload(bytes, limits, layout)
      ])
    }
    const bounded = decode as (bytes: Uint8Array, maxCount: number) => unknown
    return [[name, (bytes: Uint8Array) => bounded(bytes, MAX_COUNT)] as const]
  })

/**
 * Feeds one mutated frame to one decoder: it is decoded to something that is no larger than it, or refused with an error of
 * this package; and the bytes stay as they were.
 */
export function fuzzDecoder(random: Random): void {
  const [name, decode] = random.pick(DECODERS)
  const bytes = random.chance(0.02)
    ? random.pick(CORPUS)
    : mutate(random, random.pick(CORPUS), random.pick(CORPUS))
  const before = toHex(bytes)
  try {
    const weight = weightOf(decode(bytes))
    if (weight > 8 * bytes.length + 1024) {
      throw new Error(`${weight} bytes came out of ${bytes.length}`)
    }
  } catch (error) {
    if (!isWakuLightError(error)) {
      throw new Error(`${name} of ${before}`, { cause: error })
    }
  }
  if (toHex(bytes) !== before) {
    throw new Error(`${name} changed its argument ${before}`)
  }
}

/** About how much a value holds, in bytes. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') {
    return value.length
  }
  if (value instanceof Uint8Array) {
    return value.length
  }
  if (typeof value !== 'object' || value === null) {
    return 8
  }
  return Object.values(value).reduce((sum: number, part) => sum + weightOf(part), 0)
}
