import { hasErrorCode, NoUsablePeerError } from '../errors.ts'
import { backoffMs } from '../lib/backoff.ts'
import { withDeadline, withSignals } from '../lib/deadline.ts'
import { createRequestId } from '../lib/random.ts'
import { report } from '../lib/report.ts'
import type { WakuMessage } from '../message/message.ts'
import type { ServicePeers } from '../transport/service-peers.ts'
import type { LightPushGeneration } from './generation.ts'
import { type Candidate, type NodeRecords, nextOf } from './nodes.ts'
import type { PushOptions, PushSettings } from './options.ts'
import {
  isFinal,
  isLasting,
  isSeenBefore,
  type PushAttempt,
  type PushResult,
  type PushVerdict,
  summarize,
  toFault
} from './outcome.ts'
import { isPresent } from './presence.ts'
import type { Rests } from './rests.ts'
import { type Sealed, seal } from './seal.ts'

/** Largest answer to a push that is read, in bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024

/** How often a store node is asked, before a message is taken to be missing. */
const MAX_LOOKUPS = 4

/** What a push works with. */
export interface PushRunInit {
  readonly servicePeers: ServicePeers
  readonly settings: PushSettings
  readonly rests: Rests
  readonly options: PushOptions
}

/** One push: its tries at all nodes, and what they have come to so far. */
export class PushRun {
  readonly #servicePeers: ServicePeers
  readonly #settings: PushSettings
  readonly #rests: Rests
  readonly #options: PushOptions
  readonly #timeoutMs: number
  readonly #startedAtMs: number
  readonly #attempts: PushAttempt[] = []
  readonly #nodes: NodeRecords = new Map()
  /** Ends the tries under way. */
  readonly #interrupts = new Set<(reason: unknown) => void>()
  /** Aborted when there is no reason to wait any more: at the first success, and at the end. */
  readonly #enough = new AbortController()
  #remaining: number
  #sealed: Sealed | undefined
  /** Tries of which any byte may have left. */
  #written = 0
  /** True once the caller has its result; what comes later changes nothing. */
  #isSettled = false
  #stored: boolean | undefined

  constructor(init: PushRunInit) {
    const { servicePeers, settings, rests, options } = init
    this.#servicePeers = servicePeers
    this.#settings = settings
    this.#rests = rests
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? settings.timeoutMs
    this.#startedAtMs = settings.now()
    this.#remaining =
      options.retry === false
        ? (options.redundancy ?? 1)
        : (options.maxAttempts ?? settings.maxAttempts)
  }

  /**
   * Does it.
   *
   * @throws as {@link LightPushClient.push}
   */
  async run(draft: WakuMessage): Promise<PushResult> {
    let error: unknown
    try {
      await withDeadline('push', this.#options, this.#timeoutMs, (signal) =>
        this.#push(draft, signal)
      )
    } catch (reason) {
      const isOutcome =
        hasErrorCode(reason, 'ERR_TIMEOUT') || hasErrorCode(reason, 'ERR_NO_USABLE_PEER')
      if (this.#written === 0 && (this.#options.signal?.aborted === true || !isOutcome)) {
        throw reason
      }
      error = reason
      for (const interrupt of this.#interrupts) {
        interrupt(reason)
      }
      if (hasErrorCode(reason, 'ERR_NO_USABLE_PEER')) {
        this.#notSent(reason.failures)
      } else if (this.#sealed === undefined && this.#options.proof === undefined) {
        this.#notSent(this.#servicePeers.candidates().map(({ peerId }) => ({ peerId, error })))
      }
    } finally {
      this.#isSettled = true
      this.#remaining = 0
      this.#enough.abort(null)
    }
    const status = this.#stored === true ? 'published' : summarize(this.#attempts)
    const counts = this.#attempts.flatMap(({ relayPeerCount }) => relayPeerCount ?? [])
    return {
      status,
      ...this.#sealed?.told,
      ...(counts.length > 0 && { relayPeerCount: Math.max(...counts) }),
      ...(this.#options.confirm === 'stored' &&
        status !== 'failed' && { stored: this.#stored ?? 'unknown' }),
      attempts: this.#attempts,
      ...(error !== undefined && { error })
    }
  }

  async #push(draft: WakuMessage, signal: AbortSignal): Promise<void> {
    const sealed = await this.#seal(draft, signal)
    signal.throwIfAborted()
    this.#sealed = sealed
    report(this.#options.onProgress, { type: 'light-push:sealed', detail: sealed.told })
    const peers = this.#servicePeers.candidates(this.#protocols)
    if (peers.length === 0) {
      throw new NoUsablePeerError([])
    }
    const lanes = peers.slice(0, Math.ceil(this.#options.redundancy ?? 1))
    await Promise.all(lanes.map(() => this.#pursue(sealed, signal)))
    if (this.#options.confirm === 'stored' && summarize(this.#attempts) !== 'failed') {
      await this.#confirm(sealed, signal)
    }
  }

  /** Seals the message, which takes a node where the network is to be learnt: that is tried again as a push is. */
  async #seal(draft: WakuMessage, signal: AbortSignal): Promise<Sealed> {
    for (let rounds = 0; ; rounds++) {
      try {
        return await seal(draft, this.#servicePeers, this.#settings, this.#options, signal)
      } catch (error) {
        const pauseMs = backoffMs(this.#settings, rounds)
        const mayHelp =
          hasErrorCode(error, 'ERR_NO_USABLE_PEER') &&
          error.failures.some((failure) => !isLasting(failure.error))
        if (!mayHelp || rounds + 1 >= this.#remaining || this.#isLate(pauseMs)) {
          throw error
        }
        this.#notSent(error.failures)
        report(this.#options.onProgress, { type: 'light-push:pause', detail: { pauseMs } })
        await this.#settings.sleep(pauseMs, signal)
      }
    }
  }

  #notSent(failures: readonly { readonly peerId: string; readonly error: unknown }[]): void {
    const nothing = { status: 'failed', reason: 'not-sent', durationMs: 0 } as const
    for (const failure of failures) {
      this.#attempts.push({ ...nothing, ...failure, startedAtMs: this.#startedAtMs })
    }
  }

  /** Whether the deadline passes within a pause. */
  #isLate(pauseMs: number): boolean {
    return this.#settings.now() + pauseMs >= this.#startedAtMs + this.#timeoutMs
  }

  get #protocols(): readonly string[] {
    return this.#settings.generations.map(({ protocol }) => protocol)
  }

  /** Tries until one node took it, no other is left to be tried, or the tries of this push are used up. */
  async #pursue(sealed: Sealed, signal: AbortSignal): Promise<void> {
    const enough = this.#enough.signal
    let pauses = 0
    for (let isRested = false; ; ) {
      await this.#servicePeers.reach?.(signal)
      const candidates = this.#servicePeers.candidates(this.#protocols)
      const next = nextOf(candidates, this.#nodes, this.#rests)
      if (next === undefined || this.#remaining <= 0) {
        return
      }
      const { restMs, node } = next
      if ((restMs > 0 || node.tries > 0) && !isRested) {
        const pauseMs = restMs + backoffMs(this.#settings, pauses++)
        if (this.#isLate(pauseMs) || enough.aborted) {
          return
        }
        report(this.#options.onProgress, { type: 'light-push:pause', detail: { pauseMs } })
        await withSignals([signal, enough], (either) =>
          this.#settings.sleep(pauseMs, either)
        ).catch(() => signal.throwIfAborted())
        isRested = true
        if (enough.aborted || (node.unknowns > 0 && (await this.#isStored(sealed, signal)))) {
          return
        }
        continue
      }
      isRested = false
      const { status } = await this.#attempt(next, sealed, signal)
      if (status === 'published' || (status === 'unknown' && enough.aborted)) {
        return // a node that is not sure may well have it from one that is
      }
    }
  }

  async #attempt(
    { peer, node }: Candidate,
    { bytes, told }: Sealed,
    signal: AbortSignal
  ): Promise<PushAttempt> {
    const requestId = createRequestId()
    const startedAtMs = this.#settings.now()
    let isWritten = false
    let isAnswered = false
    let protocol: string | undefined
    let { peerId } = peer
    this.#remaining--
    node.tries++
    node.isOut = true
    this.#nodes.set(peerId, node)

    const done = (verdict: PushVerdict, error?: unknown): PushAttempt => {
      this.#interrupts.delete(broken)
      const durationMs = this.#settings.now() - startedAtMs
      const attempt = { ...verdict, peerId, protocol, startedAtMs, durationMs, error }
      node.isOut = isFinal(attempt)
      if (verdict.status === 'unknown') {
        node.unknowns++
      }
      for (const name of [peerId, peer.peerId]) {
        this.#nodes.set(name, node) // what was known by its address has a peer id now
      }
      if (!this.#isSettled) {
        this.#attempts.push(attempt)
        report(this.#options.onProgress, { type: 'light-push:attempted', detail: attempt })
      }
      if (verdict.status === 'published') {
        this.#enough.abort(null)
      }
      return attempt
    }
    const broken = (error: unknown): PushAttempt =>
      done(
        isWritten
          ? { status: 'unknown', reason: 'no-answer' }
          : { status: 'failed', reason: 'not-sent' },
        error
      )
    this.#interrupts.add(broken)

    const { generations, attemptTimeoutMs } = this.#settings
    const generationOf = (spoken: string): LightPushGeneration =>
      generations.find((one) => one.protocol === spoken) as LightPushGeneration // one of those asked for

    report(this.#options.onProgress, { type: 'light-push:attempt', detail: { peerId } })
    try {
      return await withDeadline('push', { signal }, attemptTimeoutMs, async (inner) => {
        const reply = await this.#servicePeers.request(
          peer,
          {
            protocols: this.#protocols,
            encode: (spoken) => {
              protocol = spoken
              return generationOf(spoken).encode(requestId, told.pubsubTopic, bytes)
            },
            maxResponseBytes: MAX_RESPONSE_BYTES,
            onWrite: () => {
              inner.throwIfAborted() // given up: what has not left by now must not leave
              isWritten = true
              this.#written++
            },
            onUnread: () => {
              protocol = undefined
              isWritten = false
              this.#written--
            }
          },
          inner
        )
        peerId = reply.peerId
        isAnswered = true
        const verdict = generationOf(reply.protocol).decode(reply.bytes, requestId, peerId)
        this.#rests.set(peerId, verdict.reason !== 'rate-limited')
        this.#servicePeers.note?.(peer, this.#protocols, toFault(verdict, requestId, peerId))
        return done(
          isSeenBefore(verdict) && summarize(this.#attempts) !== 'failed'
            ? { ...verdict, status: 'published', reason: 'already-seen' }
            : verdict
        )
      })
    } catch (error) {
      if (signal.aborted || hasErrorCode(error, 'ERR_CLOSED')) {
        throw error
      }
      if (isAnswered) {
        this.#servicePeers.note?.(peer, this.#protocols, error as Error)
      }
      return broken(error)
    }
  }

  /** Whether a store node has the message, if one is to be asked. */
  async #isStored(
    { contentTopic, told }: Sealed,
    signal: AbortSignal
  ): Promise<boolean | undefined> {
    const isStored =
      this.#options.confirm === 'stored'
        ? await isPresent(this.#settings, contentTopic, told, signal)
        : undefined
    this.#stored ||= isStored || undefined
    return isStored
  }

  /** Asks a store node several times, over time, before a message is taken to be missing. */
  async #confirm(sealed: Sealed, signal: AbortSignal): Promise<void> {
    let absences = 0
    for (let count = 0; count < MAX_LOOKUPS && this.#stored !== true; count++) {
      await this.#settings.sleep(backoffMs(this.#settings, count), signal)
      absences += (await this.#isStored(sealed, signal)) === false ? 1 : 0
    }
    if (absences === MAX_LOOKUPS) {
      this.#stored = false
    }
  }
}
