import { hasErrorCode, NoUsablePeerError, type PeerFailure } from '../errors.ts'
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
  toFault,
  verdictOf
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
  /** Tries that have begun. */
  readonly #tries: Promise<PushAttempt>[] = []
  /** Aborted when the push is over, which ends what is under way. */
  readonly #over = new AbortController()
  /** Aborted when there is no reason to wait any more: at the first success. */
  readonly #enough = new AbortController()
  #remaining: number
  #sealed: Sealed | undefined
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
      await withDeadline('push', this.#options, this.#timeoutMs, (signal) => {
        signal.addEventListener('abort', () => this.#over.abort(signal.reason)) // in the same turn
        return this.#push(draft)
      })
    } catch (reason) {
      this.#over.abort(reason)
      await Promise.allSettled(this.#tries)
      const isOutcome = hasErrorCode(reason, 'ERR_TIMEOUT', 'ERR_NO_USABLE_PEER')
      const isWritten = this.#attempts.some((attempt) => attempt.reason !== 'not-sent')
      if (!isWritten && (this.#options.signal?.aborted === true || !isOutcome)) {
        throw reason
      }
      error = reason
      if (hasErrorCode(reason, 'ERR_NO_USABLE_PEER')) {
        this.#notSent(reason.failures)
      } else if (this.#sealed === undefined && this.#options.proof === undefined) {
        this.#notSent(this.#servicePeers.candidates().map(({ peerId }) => ({ peerId, error })))
      }
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

  async #push(draft: WakuMessage): Promise<void> {
    const sealed = await this.#seal(draft)
    this.#over.signal.throwIfAborted()
    this.#sealed = sealed
    report(this.#options.onProgress, { type: 'light-push:sealed', detail: sealed.told })
    const peers = this.#servicePeers.candidates(this.#protocols)
    if (peers.length === 0) {
      throw new NoUsablePeerError([])
    }
    const lanes = peers.slice(0, Math.ceil(this.#options.redundancy ?? 1))
    await Promise.all(lanes.map(() => this.#pursue(sealed)))
    if (this.#options.confirm === 'stored' && summarize(this.#attempts) !== 'failed') {
      await this.#confirm(sealed)
    }
  }

  /** Seals the message, which takes a node where the network is to be learnt: that is tried again as a push is. */
  async #seal(draft: WakuMessage): Promise<Sealed> {
    const { signal } = this.#over
    for (let rounds = 0; ; rounds++) {
      try {
        return await seal(draft, this.#servicePeers, this.#settings, this.#options, signal)
      } catch (error) {
        const mayHelp =
          hasErrorCode(error, 'ERR_NO_USABLE_PEER') &&
          error.failures.some((failure) => !isLasting(failure.error)) &&
          rounds + 1 < this.#remaining
        if (!mayHelp || !(await this.#pause(backoffMs(this.#settings, rounds), error.failures))) {
          throw error
        }
      }
    }
  }

  #notSent(failures: readonly { readonly peerId: string; readonly error: unknown }[]): void {
    for (const failure of failures) {
      const startedAtMs = this.#startedAtMs
      this.#attempts.push({ ...verdictOf('not-sent'), durationMs: 0, ...failure, startedAtMs })
    }
  }

  get #protocols(): readonly string[] {
    return this.#settings.generations.map(({ protocol }) => protocol)
  }

  /**
   * Waits, at most until the first success; does not begin where the deadline would pass, or there was one: false then.
   *
   * @param failures - what it waits for, where that is no try
   */
  async #pause(pauseMs: number, failures: readonly PeerFailure[] = []): Promise<boolean> {
    const { now, sleep } = this.#settings
    const [over, enough] = [this.#over.signal, this.#enough.signal]
    if (enough.aborted || now() + pauseMs >= this.#startedAtMs + this.#timeoutMs) {
      return false
    }
    this.#notSent(failures)
    report(this.#options.onProgress, { type: 'light-push:pause', detail: { pauseMs } })
    await withSignals([over, enough], (either) => sleep(pauseMs, either)).catch(() =>
      over.throwIfAborted()
    )
    return true
  }

  /** Tries until one node took it, no other is left to be tried, or the tries of this push are used up. */
  async #pursue(sealed: Sealed): Promise<void> {
    const [over, enough] = [this.#over.signal, this.#enough.signal]
    let pauses = 0
    for (let isRested = false; ; ) {
      await this.#servicePeers.reach?.(over)
      over.throwIfAborted()
      const candidates = this.#servicePeers.candidates(this.#protocols)
      const next = nextOf(candidates, this.#nodes, this.#rests)
      if (next === undefined || this.#remaining <= 0) {
        return
      }
      const { restMs, node } = next
      isRested = (restMs === 0 && node.tries === 0) || isRested
      if (!isRested) {
        isRested = await this.#pause(restMs + backoffMs(this.#settings, pauses++))
        if (!isRested || enough.aborted || (node.unknowns > 0 && (await this.#isStored(sealed)))) {
          return
        }
        continue
      }
      isRested = false
      const trying = this.#attempt(next, sealed)
      this.#tries.push(trying)
      const { status, error } = await trying
      if (hasErrorCode(error, 'ERR_CLOSED')) {
        throw error
      }
      if (status === 'published' || (status === 'unknown' && enough.aborted)) {
        return // a node that is not sure may well have it from one that is
      }
    }
  }

  async #attempt({ peer, node }: Candidate, { bytes, told }: Sealed): Promise<PushAttempt> {
    const { now, attemptTimeoutMs } = this.#settings
    const protocols = this.#protocols
    const requestId = createRequestId()
    const startedAtMs = now()
    let isWritten = false
    let isAnswered = false
    let protocol: string | undefined
    let { peerId } = peer
    let verdict: PushVerdict
    let error: unknown
    this.#remaining--
    node.tries++
    node.isOut = true
    this.#nodes.set(peerId, node)
    report(this.#options.onProgress, { type: 'light-push:attempt', detail: { peerId } })

    const request = (signal: AbortSignal): ReturnType<ServicePeers['request']> =>
      this.#servicePeers.request(
        peer,
        {
          protocols,
          encode: (spoken) => {
            protocol = spoken
            return this.#speaking(spoken).encode(requestId, told.pubsubTopic, bytes)
          },
          maxResponseBytes: MAX_RESPONSE_BYTES,
          onWrite: () => {
            signal.throwIfAborted() // given up: what has not left by now must not leave
            isWritten = true
          },
          onUnread: () => {
            protocol = undefined
            isWritten = false
          }
        },
        signal
      )
    try {
      const { signal } = this.#over
      const reply = await withDeadline('push', { signal }, attemptTimeoutMs, request)
      peerId = reply.peerId
      isAnswered = true
      verdict = this.#speaking(reply.protocol).decode(reply.bytes, requestId, peerId)
      this.#rests.set(peerId, verdict.reason !== 'rate-limited')
      this.#servicePeers.note?.(peer, protocols, toFault(verdict, requestId, peerId))
      if (isSeenBefore(verdict) && summarize(this.#attempts) !== 'failed') {
        verdict = { ...verdict, ...verdictOf('already-seen') }
      }
    } catch (reason) {
      error = reason
      verdict = verdictOf(isWritten ? 'no-answer' : 'not-sent')
      if (isAnswered) {
        this.#servicePeers.note?.(peer, protocols, reason as Error)
      }
    }

    const attempt = {
      ...verdict,
      peerId,
      protocol,
      startedAtMs,
      durationMs: now() - startedAtMs,
      error
    }
    node.isOut = isFinal(attempt)
    node.unknowns += Number(verdict.status === 'unknown')
    for (const name of [peerId, peer.peerId]) {
      this.#nodes.set(name, node) // what was known by its address has a peer id now
    }
    this.#attempts.push(attempt)
    report(this.#options.onProgress, { type: 'light-push:attempted', detail: attempt })
    if (verdict.status === 'published') {
      this.#enough.abort()
    }
    return attempt
  }

  /** The generation of a protocol that was asked for. */
  #speaking(spoken: string): LightPushGeneration {
    return this.#settings.generations.find(
      ({ protocol }) => protocol === spoken
    ) as LightPushGeneration
  }

  /** Whether a store node has the message, if one is to be asked. */
  async #isStored({ contentTopic, told }: Sealed): Promise<boolean | undefined> {
    const isStored =
      this.#options.confirm === 'stored'
        ? await isPresent(this.#settings, contentTopic, told, this.#over.signal)
        : undefined
    this.#stored ||= isStored || undefined
    return isStored
  }

  /** Asks a store node several times, over time, before a message is taken to be missing. */
  async #confirm(sealed: Sealed): Promise<void> {
    let absences = 0
    for (let count = 0; count < MAX_LOOKUPS && this.#stored !== true; count++) {
      await this.#settings.sleep(backoffMs(this.#settings, count), this.#over.signal)
      absences += (await this.#isStored(sealed)) === false ? 1 : 0
    }
    if (absences === MAX_LOOKUPS) {
      this.#stored = false
    }
  }
}
