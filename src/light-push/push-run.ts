import { hasErrorCode, InvalidArgumentError, NoUsablePeerError } from '../errors.ts'
import { withDeadline, withSignals } from '../lib/deadline.ts'
import { createRequestId } from '../lib/random.ts'
import { report } from '../lib/report.ts'
import { assertMessage, type WakuMessage } from '../message/message.ts'
import { messageHash } from '../message/message-hash.ts'
import { toPubsubTopic } from '../message/topics.ts'
import type { ServicePeer, ServicePeers } from '../transport/service-peers.ts'
import { encodeWakuMessage } from '../wire/message.ts'
import { copy, stamp } from './draft.ts'
import type { LightPushGeneration } from './generation.ts'
import type { PushOptions, PushSettings } from './options.ts'
import {
  isFinal,
  isSeenBefore,
  type PushAttempt,
  type PushResult,
  type PushVerdict,
  type SealedMessage,
  summarize
} from './outcome.ts'
import type { Rests } from './rests.ts'

/** Largest answer to a push that is read, in bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024

/** How often a store node is asked, before a message is taken to be missing. */
const MAX_LOOKUPS = 4

/** What a store node may be off by that looks messages up by their time: 30 s, in nanoseconds. */
const TIME_SLACK = 30_000_000_000n

/** What one push knows of a node. */
interface NodeRecord {
  tries: number
  /** Tries of which nobody knows what became: each may have brought the message there. */
  unknowns: number
  /** True while a try is under way, and after one that leaves nothing to be tried. */
  isOut: boolean
}

/** What a push works with. */
export interface PushRunInit {
  readonly servicePeers: ServicePeers
  readonly settings: PushSettings
  readonly rests: Rests
  readonly options: PushOptions
}

interface Candidate {
  readonly peer: ServicePeer
  readonly node: NodeRecord
  readonly restMs: number
}

interface Sealed {
  readonly message: WakuMessage
  readonly told: SealedMessage
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** One push: its tries at all nodes, and what they have come to so far. */
export class PushRun {
  readonly #init: PushRunInit
  readonly #timeoutMs: number
  readonly #startedAtMs: number
  readonly #attempts: PushAttempt[] = []
  readonly #nodes = new Map<string, NodeRecord>()
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
    const { options, settings } = init
    this.#init = init
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
    const { options } = this.#init
    let error: unknown
    try {
      await withDeadline('push', options, this.#timeoutMs, (signal) => this.#push(draft, signal))
    } catch (reason) {
      const isOutcome =
        hasErrorCode(reason, 'ERR_TIMEOUT') || hasErrorCode(reason, 'ERR_NO_USABLE_PEER')
      if (this.#written === 0 && (options.signal?.aborted === true || !isOutcome)) {
        throw reason
      }
      error = reason
      for (const interrupt of this.#interrupts) {
        interrupt(reason)
      }
      if (hasErrorCode(reason, 'ERR_NO_USABLE_PEER')) {
        const nothing = { status: 'failed', reason: 'not-sent', durationMs: 0 } as const
        for (const failure of reason.failures) {
          this.#attempts.push({ ...nothing, ...failure, startedAtMs: this.#startedAtMs })
        }
      }
    } finally {
      this.#isSettled = true
      this.#remaining = 0
      this.#enough.abort()
    }
    const status = this.#stored === true ? 'published' : summarize(this.#attempts)
    const counts = this.#attempts.flatMap(({ relayPeerCount }) => relayPeerCount ?? [])
    return {
      status,
      ...this.#sealed?.told,
      ...(counts.length > 0 && { relayPeerCount: Math.max(...counts) }),
      ...(options.confirm === 'stored' &&
        status !== 'failed' && { stored: this.#stored ?? 'unknown' }),
      attempts: this.#attempts,
      ...(error !== undefined && { error })
    }
  }

  async #push(draft: WakuMessage, signal: AbortSignal): Promise<void> {
    const { servicePeers, options } = this.#init
    const sealed = await this.#seal(draft, signal)
    signal.throwIfAborted()
    this.#sealed = sealed
    report(options.onProgress, { type: 'light-push:sealed', detail: sealed.told })
    const peers = servicePeers.candidates()
    if (peers.length === 0) {
      throw new NoUsablePeerError([])
    }
    const lanes = peers.slice(0, Math.ceil(options.redundancy ?? 1))
    await Promise.all(lanes.map(() => this.#pursue(sealed, signal)))
    if (options.confirm === 'stored' && summarize(this.#attempts) !== 'failed') {
      await this.#confirm(sealed, signal)
    }
  }

  /** The message as it is sent: with its timestamp, and with a proof if there is one to ask for. */
  async #seal(draft: WakuMessage, signal: AbortSignal): Promise<Sealed> {
    const { servicePeers, settings, options } = this.#init
    const network = await servicePeers.network(signal)
    const pubsubTopic =
      options.pubsubTopic ?? toPubsubTopic(draft.contentTopic, network, 'message.contentTopic')
    let message = stamp(draft, settings)
    if (options.proof !== undefined) {
      const rateLimitProof = copy(await options.proof(message, pubsubTopic))
      message = { ...message, rateLimitProof }
      assertMessage(message, settings.maxMessageBytes)
    }
    const { timestamp } = message
    return {
      message,
      told: { messageHash: messageHash(pubsubTopic, message), pubsubTopic, timestamp },
      bytes: encodeWakuMessage(message)
    }
  }

  /** Tries until one node took it, no other is left to be tried, or the tries of this push are used up. */
  async #pursue(sealed: Sealed, signal: AbortSignal): Promise<void> {
    const { settings, rests, options } = this.#init
    const enough = this.#enough.signal
    let pauses = 0
    for (let isRested = false; this.#remaining > 0; ) {
      const next = this.#next()
      if (next === undefined) {
        return
      }
      const { restMs, node } = next
      if ((restMs > 0 || node.tries > 0) && !isRested) {
        const pauseMs = restMs + rests.backoffMs(pauses++)
        const isLate = settings.now() + pauseMs >= this.#startedAtMs + this.#timeoutMs
        if (isLate || enough.aborted) {
          return
        }
        report(options.onProgress, { type: 'light-push:pause', detail: { pauseMs } })
        await withSignals([signal, enough], (either) => settings.wait(pauseMs, either)).catch(() =>
          signal.throwIfAborted()
        )
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

  /** The node to try next: one that cannot have the message before others, untried ones first. */
  #next(): Candidate | undefined {
    const { servicePeers, rests } = this.#init
    const fresh = { tries: 0, unknowns: 0, isOut: false }
    const [next] = servicePeers
      .candidates()
      .map((peer) => ({
        peer,
        node: this.#nodes.get(peer.peerId) ?? { ...fresh },
        restMs: rests.remainingMs(peer.peerId)
      }))
      .filter(({ node }) => !node.isOut && node.unknowns < 2)
      .sort(
        (a, b) =>
          a.node.unknowns - b.node.unknowns ||
          Number(a.restMs > 0) - Number(b.restMs > 0) ||
          a.node.tries - b.node.tries ||
          a.restMs - b.restMs
      )
    return next
  }

  async #attempt(
    { peer, node }: Candidate,
    { bytes, told }: Sealed,
    signal: AbortSignal
  ): Promise<PushAttempt> {
    const { servicePeers, settings, rests, options } = this.#init
    const requestId = createRequestId()
    const startedAtMs = settings.now()
    let isWritten = false
    let protocol: string | undefined
    let { peerId } = peer
    this.#remaining--
    node.tries++
    node.isOut = true
    this.#nodes.set(peerId, node)

    const done = (verdict: PushVerdict, error?: unknown): PushAttempt => {
      this.#interrupts.delete(broken)
      const durationMs = settings.now() - startedAtMs
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
        report(options.onProgress, { type: 'light-push:attempted', detail: attempt })
      }
      if (verdict.status === 'published') {
        this.#enough.abort()
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

    report(options.onProgress, { type: 'light-push:attempt', detail: { peerId } })
    try {
      return await withDeadline('push', { signal }, settings.attemptTimeoutMs, async (inner) => {
        const reply = await servicePeers.request(
          peer,
          {
            protocols: settings.generations.map((generation) => generation.protocol),
            encode: (spoken) => {
              protocol = spoken
              return this.#generation(spoken).encode(requestId, told.pubsubTopic, bytes)
            },
            maxResponseBytes: MAX_RESPONSE_BYTES,
            onWrite: () => {
              inner.throwIfAborted() // given up: what has not left by now must not leave
              isWritten = true
              this.#written++
            },
            onUnread: () => {
              isWritten = false
              this.#written--
            }
          },
          inner
        )
        peerId = reply.peerId
        const verdict = this.#generation(reply.protocol).decode(reply.bytes, requestId, peerId)
        rests.set(peerId, verdict.reason !== 'rate-limited')
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
      return broken(error)
    }
  }

  #generation(protocol: string): LightPushGeneration {
    const generation = this.#init.settings.generations.find((one) => one.protocol === protocol)
    if (generation === undefined) {
      throw new InvalidArgumentError('generations', `has none for ${protocol}`)
    }
    return generation
  }

  /** Asks a store node several times, over time, before a message is taken to be missing. */
  async #confirm(sealed: Sealed, signal: AbortSignal): Promise<void> {
    const { settings, rests } = this.#init
    let absences = 0
    for (let count = 0; count < MAX_LOOKUPS && this.#stored !== true; count++) {
      await settings.wait(rests.backoffMs(count), signal)
      absences += (await this.#isStored(sealed, signal)) === false ? 1 : 0
    }
    if (absences === MAX_LOOKUPS) {
      this.#stored = false
    }
  }

  /** Whether a store node has the message; undefined if none answers, or none is to be asked. */
  async #isStored({ message, told }: Sealed, signal: AbortSignal): Promise<boolean | undefined> {
    const { settings, options } = this.#init
    if (options.confirm !== 'stored') {
      return undefined
    }
    try {
      const [isStored] =
        (await settings.store?.has([told.messageHash], {
          within: {
            contentTopics: [message.contentTopic],
            pubsubTopic: told.pubsubTopic,
            timeStart: told.timestamp - TIME_SLACK,
            timeEnd: told.timestamp + TIME_SLACK
          },
          signal,
          timeoutMs: settings.attemptTimeoutMs
        })) ?? []
      this.#stored ||= isStored === true || undefined
      return isStored
    } catch (error) {
      signal.throwIfAborted()
      if (hasErrorCode(error, 'ERR_CLOSED')) {
        throw error
      }
      return undefined
    }
  }
}
