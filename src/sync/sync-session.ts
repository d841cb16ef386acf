import { InvalidArgumentError, ProtocolViolationError } from '../errors.ts'
import { decodeSyncPayload, encodeSyncPayload } from '../wire/sync.ts'
import { assertLimit } from '../wire/sync-bytes.ts'
import {
  type EmptySyncPayload,
  SYNC_PAYLOAD_LIMITS,
  type SyncId,
  type SyncPayload,
  type SyncPayloadLimits
} from '../wire/sync-payload.ts'
import { Answer, type AnswerTuning, isSettled } from './answer.ts'
import { intersect, type SyncLayout, toScope } from './scope.ts'
import { MIN_FINGERPRINT_SPAN } from './split.ts'
import type { SyncIndex } from './sync-index.ts'
import type { SyncFilter } from './topic-table.ts'
import { type SyncWindow, spanOf } from './window.ts'

/** How a session goes about it, and what it may cost. */
export interface SyncSessionOptions extends AnswerTuning, SyncPayloadLimits {
  /** How many fingerprints the first payload has: more of them save a round and cost bytes where nothing differs. */
  readonly firstParts: number
  /** How many payloads the peer may send. */
  readonly maxPayloads: number
  /** How many bytes the peer's payloads may have together. */
  readonly maxReceivedBytes: number
}

/** What {@link SyncSession} does where nothing else is asked. */
export const SYNC_SESSION_DEFAULTS: SyncSessionOptions = {
  ...SYNC_PAYLOAD_LIMITS,
  maxListedItems: 12,
  maxParts: 16,
  maxReplyBytes: 1024 * 1024,
  maxDifferences: 250_000,
  tellAll: true,
  firstParts: 1,
  maxPayloads: 100,
  maxReceivedBytes: 64 * 1024 * 1024
}

/**
 * What suits a session with the reference node. It lists up to 100 items where we would narrow further, and splits by time,
 * so that more and smaller parts on our side save bytes; and it has no use for what it is told it lacks, since it takes only
 * what is transferred to it.
 */
export const REFERENCE_NODE_OPTIONS: Partial<SyncSessionOptions> = { maxParts: 128, tellAll: false }

/** What a session is about. */
export interface SyncSessionInit {
  /** What we hold. It may change between two payloads; what is added or pruned meanwhile may go unnoticed. */
  readonly index: SyncIndex
  /** Which messages we reconcile. Empty lists stand for all. */
  readonly filter: SyncFilter
  /**
   * As initiator, what to reconcile. As responder, ranges that lie outside as a whole are answered as if they were equal; what
   * else is asked is answered from all that the index holds.
   */
  readonly window: SyncWindow
  /** The layout in which an initiator speaks; a responder answers in that of the peer. @default 'topics' */
  readonly layout?: SyncLayout
  readonly options?: Partial<SyncSessionOptions>
}

/**
 * How a session ended. `in-sync`: no difference was found. `reconciled`: all differences were found; each of them was in the
 * `toSend` or `toFetch` of some step. `mismatch`: the sides have no topics in common, and nothing was compared.
 */
export type SyncOutcome = 'in-sync' | 'reconciled' | 'mismatch'

/** What one payload of the peer led to. */
export interface SyncStep {
  /** What to write next: one frame, which may be empty. Absent if nothing is to be written. */
  readonly reply?: Uint8Array<ArrayBuffer>
  /** What the peer lacks, as far as this payload tells. */
  readonly toSend: readonly SyncId[]
  /** What we lack, on the peer's word: it may be outside of the filter, or not exist. */
  readonly toFetch: readonly SyncId[]
  /** Present once the session is over: close the stream after writing `reply`. */
  readonly outcome?: SyncOutcome
}

/**
 * One session of Waku Sync, on either side, without its stream: payloads go in and come out.
 *
 * It ends: after `maxPayloads` at the latest, and with a peer that keeps to the protocol after a number of payloads
 * logarithmic in the number of entries. Fingerprints are sums: who can choose message hashes can make two sets look equal, so
 * a session finds what got lost, and proves nothing about a peer that means harm.
 *
 * @example
 * ```ts
 * const session = new SyncSession({ index, filter, window })
 * await write(session.open())
 * for (let step; step?.outcome === undefined; ) {
 *   step = session.process(await read())
 *   if (step.reply) await write(step.reply)
 * }
 * ```
 * @see WAKU-STORE-SYNC
 */
export class SyncSession {
  readonly #init: SyncSessionInit
  readonly #options: SyncSessionOptions
  #scope: SyncPayload['scope'] | undefined
  #bounds: SyncWindow | undefined
  #selected: { readonly key: string; readonly index: SyncIndex } | undefined
  #payloads = 0
  #receivedBytes = 0
  /** How it ends, unless there is a mismatch. */
  #outcome: SyncOutcome = 'in-sync'
  #isOver = false

  /**
   * Does nothing yet.
   *
   * @throws {@link InvalidArgumentError} for a window narrower than 8 ns
   */
  constructor(init: SyncSessionInit) {
    this.#init = init
    this.#options = { ...SYNC_SESSION_DEFAULTS, ...init.options }
    if (init.window.timeEnd - init.window.timeStart < MIN_FINGERPRINT_SPAN) {
      throw new InvalidArgumentError('window', `must be ${MIN_FINGERPRINT_SPAN} ns or wider`)
    }
  }

  /**
   * Begins as initiator.
   *
   * @returns the first payload
   * @throws {@link InvalidArgumentError} if the layout cannot express the filter
   */
  open(): Uint8Array<ArrayBuffer> {
    const { filter, window, layout = 'topics' } = this.#init
    const scope = toScope(filter, layout)
    if (scope === undefined) {
      throw new InvalidArgumentError('filter.pubsubTopics', 'must be shards of one cluster')
    }
    this.#scope = scope
    this.#bounds = window
    const answer = this.#answer(intersect(filter, scope) ?? filter)
    answer.addParts({ lower: window.timeStart, upper: window.timeEnd }, this.#options.firstParts)
    return encodeSyncPayload({ scope, ranges: answer.ranges })
  }

  /**
   * Takes a payload of the peer. A session that never was opened becomes that of a responder by it.
   *
   * @throws {@link InvalidMessageError} if it does not decode
   * @throws {@link ProtocolViolationError} with the detail `layout` for a peer that changes the layout, `window` for ranges outside
   * of what the session began with, `empty` for a session that begins with nothing, `over` for a payload after the end
   * @throws {@link LimitExceededError} for more ranges, items, payloads, bytes or differences than the options allow
   */
  process(bytes: Uint8Array): SyncStep {
    this.#count(bytes.length)
    const payload = decodeSyncPayload(bytes, this.#options, this.#scope?.layout)
    if (typeof payload === 'string' || isSettled(payload.ranges)) {
      if (this.#scope === undefined) {
        throw new ProtocolViolationError('empty', 'nothing to compare')
      }
      return this.#end(payload === 'mismatch' ? payload : this.#outcome)
    }
    const common = intersect(this.#init.filter, payload.scope)
    if (common === undefined) {
      return this.#end('mismatch', 'mismatch')
    }
    const scope = this.#begin(payload)
    const { timeStart, timeEnd } = this.#init.window
    const answer = this.#answer(common)
    for (const range of payload.ranges) {
      if (range.upper <= timeStart || range.lower >= timeEnd) {
        answer.skip(range)
      } else {
        answer.add(range)
      }
    }
    const { toSend, toFetch, ranges } = answer
    const isOver = isSettled(ranges)
    if (!isOver || toSend.length + toFetch.length > 0) {
      this.#outcome = 'reconciled'
    }
    return isOver
      ? { ...this.#end(this.#outcome, 'no-ranges'), toSend, toFetch }
      : { reply: encodeSyncPayload({ scope, ranges }), toSend, toFetch }
  }

  #count(sizeBytes: number): void {
    const { maxPayloads, maxReceivedBytes } = this.#options
    if (this.#isOver) {
      throw new ProtocolViolationError('over', 'the session is over')
    }
    this.#receivedBytes += sizeBytes
    assertLimit(++this.#payloads, maxPayloads, 'payloads')
    assertLimit(this.#receivedBytes, maxReceivedBytes, 'bytes')
  }

  /** The header of our answers; takes the bounds of the session from its first payload, and holds the peer to them. */
  #begin({ scope, ranges }: SyncPayload): SyncPayload['scope'] {
    const span = spanOf(ranges)
    this.#bounds ??= span
    if (span.timeStart < this.#bounds.timeStart || span.timeEnd > this.#bounds.timeEnd) {
      throw new ProtocolViolationError('window', 'a range outside of the window')
    }
    // the older layout wants the very same shards, so that they are the peer's as well
    this.#scope ??= toScope(this.#init.filter, scope.layout) ?? scope
    return this.#scope
  }

  #answer(filter: SyncFilter): Answer {
    const { timeStart: lower, timeEnd: upper } = this.#bounds ?? this.#init.window
    const key = JSON.stringify([filter.pubsubTopics, filter.contentTopics])
    if (this.#selected?.key !== key) {
      this.#selected = { key, index: this.#init.index.select(filter, { lower, upper }) }
    }
    return new Answer(this.#selected.index, this.#options)
  }

  #end(outcome: SyncOutcome, reply?: EmptySyncPayload): SyncStep {
    this.#isOver = true
    return { ...(reply && { reply: encodeSyncPayload(reply) }), toSend: [], toFetch: [], outcome }
  }
}
