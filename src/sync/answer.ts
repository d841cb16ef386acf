import { compareBytes } from '../lib/bytes.ts'
import { assertLimit } from '../wire/sync-bytes.ts'
import type { FingerprintRange, ItemSetRange, SyncId, SyncRange } from '../wire/sync-payload.ts'
import { compareByTime } from './compare.ts'
import { MIN_FINGERPRINT_SPAN, splitRange } from './split.ts'
import type { SyncBounds, SyncIndex } from './sync-index.ts'

/** How ranges are answered. */
export interface AnswerTuning {
  /** A range that differs and in which we hold this many items, or fewer, is answered with all of them. */
  readonly maxListedItems: number
  /** Into how many fingerprints a range that differs is split at most. */
  readonly maxParts: number
  /** From this size on, what is left of an answer is put off: its ranges are answered with one fingerprint each. */
  readonly maxReplyBytes: number
  /** How many differences one answer may find. */
  readonly maxDifferences: number
  /** Whether a peer is told what it lacks, so that it can fetch it, and not only what we lack. */
  readonly tellAll: boolean
}

/** About what a fingerprint, or an item, takes with its time. */
const HASH_BYTES = 40

/**
 * Our answer to the ranges of one payload. It sends fingerprints rather than lists, and answers a list with the times alone
 * at which the sides differ: at each of them our own items, as a set that wants no answer, from which the peer learns what
 * we lack, and what it lacks. In between it says Skip.
 *
 * All bounds are times with hash 0: other hashes do not survive the wire.
 */
export class Answer {
  readonly ranges: SyncRange[] = []
  /** What the peer lacks. */
  readonly toSend: SyncId[] = []
  /** What we lack. */
  readonly toFetch: SyncId[] = []
  readonly #index: SyncIndex
  readonly #tuning: AnswerTuning
  #sizeBytes = 0

  constructor(index: SyncIndex, tuning: AnswerTuning) {
    this.#index = index
    this.#tuning = tuning
  }

  /** Answers one range; they have to come in order. */
  add(range: SyncRange): void {
    if (range.type === 'fingerprint') {
      this.#addFingerprint(range)
    } else if (range.type === 'item-set') {
      this.#addItemSet(range)
    } else {
      this.skip(range)
    }
  }

  /** Says that nothing is left to do in a range. One within a single time needs no words: the next starts there again. */
  skip({ lower, upper }: SyncBounds): void {
    const last = this.ranges.at(-1)
    if (last?.type === 'skip') {
      this.ranges.pop()
      this.ranges.push({ ...last, upper })
    } else if (lower < upper) {
      this.ranges.push({ type: 'skip', lower, upper })
    }
  }

  /** Says what we hold in a range by fingerprints, one for each part. */
  addParts(bounds: SyncBounds, maxParts: number): void {
    this.#addFingerprints(bounds, splitRange(this.#index, bounds, maxParts))
  }

  /** Says what we hold in a range by fingerprints, cut at some times. */
  #addFingerprints(bounds: SyncBounds, cuts: readonly bigint[] = []): void {
    let { lower } = bounds
    for (const upper of [...cuts, bounds.upper]) {
      const { fingerprint } = this.#index.summarize({ lower, upper })
      this.ranges.push({ type: 'fingerprint', lower, upper, fingerprint })
      this.#sizeBytes += HASH_BYTES
      lower = upper
    }
  }

  #addFingerprint(range: FingerprintRange): void {
    const { count, fingerprint } = this.#index.summarize(range)
    const { maxListedItems, maxParts } = this.#tuning
    if (compareBytes(fingerprint, range.fingerprint) === 0) {
      this.skip(range)
    } else if (this.#mayPutOff(range)) {
      this.#addFingerprints(range)
    } else {
      const parts = Math.min(maxParts, Math.ceil(Math.sqrt(count)))
      const cuts = count > maxListedItems ? splitRange(this.#index, range, parts) : []
      if (cuts.length > 0) {
        this.#addFingerprints(range, cuts)
      } else {
        this.#list(range, false, [...this.#index.entries(range)])
      }
    }
  }

  #addItemSet(range: ItemSetRange): void {
    const { reconciled, upper, upperHash } = range
    let done = range.lower
    /** Items of adjacent times at which the sides differ. */
    let piece: Piece | undefined
    for (const group of compareByTime(this.#index.entries(range), range.items)) {
      const { timestamp: lower, held, toSend, toFetch } = group
      if (!reconciled && this.#mayPutOff({ lower, upper })) {
        this.skip({ lower: done, upper: lower })
        this.#addFingerprints({ lower, upper })
        return
      }
      append(this.toSend, toSend)
      append(this.toFetch, toFetch)
      const { maxDifferences, tellAll } = this.#tuning
      assertLimit(this.toSend.length + this.toFetch.length, maxDifferences, 'differences')
      if (reconciled || (toFetch.length === 0 && (toSend.length === 0 || !tellAll))) {
        piece = undefined
      } else {
        if (piece === undefined) {
          this.skip({ lower: done, upper: lower })
          piece = this.#list({ lower, upper: lower, upperHash }, true, [])
        }
        done = upperHash === undefined ? lower + 1n : lower
        piece.upper = done
        append(piece.items, held)
        this.#sizeBytes += held.length * HASH_BYTES
      }
    }
    this.skip({ lower: done, upper })
  }

  /**
   * Whether the answer is long enough, and the range wide enough, to leave it for the next one. Skips do not count, so that
   * every answer gets something done.
   */
  #mayPutOff({ lower, upper }: SyncBounds): boolean {
    return this.#sizeBytes > this.#tuning.maxReplyBytes && upper - lower >= MIN_FINGERPRINT_SPAN
  }

  /** Lists what we hold in a range. */
  #list({ lower, upper, upperHash }: SyncBounds, reconciled: boolean, items: SyncId[]): Piece {
    const range: Piece = { type: 'item-set', lower, upper, upperHash, items, reconciled }
    this.ranges.push(range)
    this.#sizeBytes += (items.length + 1) * HASH_BYTES
    return range
  }
}

/** A call takes no more arguments than fit on its stack, and a peer may list all its items at one time. */
function append(list: SyncId[], ids: readonly SyncId[]): void {
  for (const id of ids) {
    list.push(id)
  }
}

/** Whether nothing is left to do in any range. */
export function isSettled(ranges: readonly SyncRange[]): boolean {
  return ranges.every(({ type }) => type === 'skip')
}

/** A list that may still grow. */
type Piece = Omit<ItemSetRange, 'upper' | 'items'> & { upper: bigint; readonly items: SyncId[] }
