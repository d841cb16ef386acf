import {
  hasErrorCode,
  InvalidArgumentError,
  NoUsablePeerError,
  type PeerFailure
} from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import { createRequestId } from '../lib/random.ts'
import { report } from '../lib/report.ts'
import { fromMilliseconds, type TimeInput, toNanoseconds } from '../lib/time.ts'
import { assertMessage, DEFAULT_MAX_MESSAGE_BYTES, type WakuMessage } from '../message/message.ts'
import { messageHash } from '../message/message-hash.ts'
import { parseContentTopic, toPubsubTopic } from '../message/topics.ts'
import type { CallOptions, ProgressEvent } from '../options.ts'
import type { ClientComponents, ServicePeer } from '../transport/service-peers.ts'
import { encodeWakuMessage } from '../wire/message.ts'
import type { LightPushGeneration } from './generation.ts'
import { LIGHT_PUSH_2 } from './light-push-2.ts'
import { LIGHT_PUSH_3 } from './light-push-3.ts'
import { type PushAttempt, type PushResult, type PushVerdict, summarize } from './outcome.ts'

/** Defaults of {@link LightPushClient}; times in milliseconds. */
export const LIGHT_PUSH_DEFAULTS = {
  timeoutMs: 30_000,
  attemptTimeoutMs: 10_000,
  maxAttempts: 3,
  maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES
} as const

/** Largest answer to a push that is read, in bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024

/** A message to publish. */
export interface OutgoingMessage {
  /** `/{application}/{version}/{name}/{encoding}` */
  readonly contentTopic: string
  /** The content; may be empty. */
  readonly payload: Uint8Array
  /** Nanoseconds as a `bigint`, or a `Date`. Left out: now. */
  readonly timestamp?: TimeInput
  /** Part of the message hash; at most 64 bytes. */
  readonly meta?: Uint8Array
  /** How the payload is encrypted; 0, not by Waku, if left out. */
  readonly version?: number
  /** True: relayed, but not stored. */
  readonly ephemeral?: boolean
}

/** Makes a rate limit proof for a message whose timestamp is set. */
export type RateLimitProver = (
  message: WakuMessage,
  pubsubTopic: string
) => Uint8Array | Promise<Uint8Array>

/** A try begins, or has ended. */
export type PushProgress =
  | ProgressEvent<'light-push:attempt', { readonly peerId: string }>
  | ProgressEvent<'light-push:attempted', PushAttempt>

/** Options of {@link LightPushClient.push}. */
export interface PushOptions extends CallOptions<PushProgress> {
  /** Left out: derived from the content topic, or the only one in use. */
  readonly pubsubTopic?: string
  /** Asked once, after the timestamp is set; its result is carried untouched. */
  readonly proof?: RateLimitProver
}

/** How to build {@link LightPushClient}. */
export interface LightPushClientInit {
  /** Generations of the protocol, most wanted first. @default 3.0.0, then 2.0.0-beta1 */
  readonly generations?: readonly LightPushGeneration[]
  /** Largest message, in bytes as a service node encodes it. @default 152576, 149 KiB */
  readonly maxMessageBytes?: number
  /** Nodes that one push tries at the most. @default 3 */
  readonly maxAttempts?: number
  /** For one try at one node, in milliseconds. @default 10000 */
  readonly attemptTimeoutMs?: number
  /** The current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: () => number
}

/**
 * Publishes messages through service nodes.
 *
 * @see WAKU-LIGHTPUSH and 19/WAKU2-LIGHTPUSH
 *
 * @example
 * ```ts
 * const lightPush = new LightPushClient(node)
 * const { status, messageHash } = await lightPush.push({ contentTopic: '/chat/1/lobby/proto', payload })
 * ```
 */
export class LightPushClient {
  readonly #components: ClientComponents
  readonly #generations: readonly LightPushGeneration[]
  readonly #init: Required<Omit<LightPushClientInit, 'generations'>>

  /**
   * Holds nothing and does nothing until it is called.
   *
   * @param components - a light node, or anything else that has service peers
   * @throws {@link InvalidArgumentError} for a wrong option
   */
  constructor(components: ClientComponents, init: LightPushClientInit = {}) {
    const { generations = [LIGHT_PUSH_3, LIGHT_PUSH_2] } = init
    if (generations.length === 0) {
      throw new InvalidArgumentError('generations', 'must not be empty')
    }
    for (const name of ['maxMessageBytes', 'maxAttempts', 'attemptTimeoutMs'] as const) {
      if (init[name] !== undefined && !(init[name] > 0)) {
        throw new InvalidArgumentError(name, 'must be a positive number')
      }
    }
    this.#components = components
    this.#generations = generations
    this.#init = {
      maxMessageBytes: init.maxMessageBytes ?? LIGHT_PUSH_DEFAULTS.maxMessageBytes,
      maxAttempts: init.maxAttempts ?? LIGHT_PUSH_DEFAULTS.maxAttempts,
      attemptTimeoutMs: init.attemptTimeoutMs ?? LIGHT_PUSH_DEFAULTS.attemptTimeoutMs,
      now: init.now ?? Date.now
    }
  }

  /**
   * Publishes a message through the first service node that takes it, trying another one where it does not. All tries carry
   * identical bytes, so they are one message to the network.
   *
   * @returns what became of it, with every try. An expired deadline, an unreachable or a lying node are outcomes, not
   * exceptions; so is an abort once something was written.
   * @throws {@link InvalidArgumentError}, {@link MessageTooLargeError} before any I/O
   * @throws {@link ClosedError} if the node is closed, and the signal's own reason if it is aborted, before the first write
   */
  async push(message: OutgoingMessage, options: PushOptions = {}): Promise<PushResult> {
    const draft = this.#toDraft(message, options)
    const progress: Progress = { attempts: [], written: false, settled: false, result: {} }
    let error: unknown
    try {
      await withDeadline('push', options, LIGHT_PUSH_DEFAULTS.timeoutMs, (signal) =>
        this.#run(draft, options, progress, signal)
      )
    } catch (reason) {
      const isOutcome =
        hasErrorCode(reason, 'ERR_TIMEOUT') || hasErrorCode(reason, 'ERR_NO_USABLE_PEER')
      if (!progress.written && (options.signal?.aborted === true || !isOutcome)) {
        throw reason
      }
      error = reason
      progress.interrupt?.(reason)
      if (hasErrorCode(reason, 'ERR_NO_USABLE_PEER')) {
        progress.attempts.push(...reason.failures.map((failure) => this.#unreachable(failure)))
      }
    } finally {
      progress.settled = true
    }
    const { attempts } = progress
    return {
      status: summarize(attempts),
      ...progress.result,
      ...relayPeerCount(attempts),
      attempts,
      ...(error === undefined ? undefined : { error })
    }
  }

  async #run(
    draft: WakuMessage,
    options: PushOptions,
    progress: Progress,
    signal: AbortSignal
  ): Promise<void> {
    const network = await this.#components.servicePeers.network(signal)
    const pubsubTopic =
      options.pubsubTopic ?? toPubsubTopic(draft.contentTopic, network, 'message.contentTopic')
    const message = await this.#seal(draft, pubsubTopic, options.proof)
    signal.throwIfAborted()
    progress.result = {
      messageHash: messageHash(pubsubTopic, message),
      pubsubTopic,
      timestamp: message.timestamp
    }

    const bytes = encodeWakuMessage(message)
    const peers = this.#components.servicePeers.candidates().slice(0, this.#init.maxAttempts)
    if (peers.length === 0) {
      throw new NoUsablePeerError([])
    }
    for (const peer of peers) {
      const attempt = await this.#attempt(peer, pubsubTopic, bytes, options, progress, signal)
      if (attempt.status === 'published') {
        return
      }
    }
  }

  /** The message as it will be sent: with its timestamp, and with a proof if there is one to ask for. */
  async #seal(
    draft: WakuMessage,
    pubsubTopic: string,
    prover: RateLimitProver | undefined
  ): Promise<WakuMessage> {
    const message = this.#stamp(draft)
    if (prover === undefined) {
      return message
    }
    const sealed = { ...message, rateLimitProof: copy(await prover(message, pubsubTopic)) }
    assertMessage(sealed, this.#init.maxMessageBytes)
    return sealed
  }

  #stamp(draft: WakuMessage): WakuMessage {
    return { ...draft, timestamp: draft.timestamp ?? fromMilliseconds(this.#init.now()) }
  }

  async #attempt(
    peer: ServicePeer,
    pubsubTopic: string,
    message: Uint8Array<ArrayBuffer>,
    options: PushOptions,
    progress: Progress,
    signal: AbortSignal
  ): Promise<PushAttempt> {
    const requestId = createRequestId()
    const startedAtMs = this.#init.now()
    let written = false
    let protocol: string | undefined
    let peerId = peer.peerId
    const done = (verdict: PushVerdict, error?: unknown): PushAttempt => {
      const durationMs = this.#init.now() - startedAtMs
      const attempt = { ...verdict, peerId, protocol, startedAtMs, durationMs, error }
      progress.interrupt = undefined
      if (!progress.settled) {
        progress.attempts.push(attempt)
        report(options.onProgress, { type: 'light-push:attempted', detail: attempt })
      }
      return attempt
    }
    const broken = (error: unknown): PushAttempt =>
      done(
        written
          ? { status: 'unknown', reason: 'no-answer' }
          : { status: 'failed', reason: 'not-sent' },
        error
      )
    progress.interrupt = broken

    report(options.onProgress, { type: 'light-push:attempt', detail: { peerId } })
    try {
      return await withDeadline('push', { signal }, this.#init.attemptTimeoutMs, async (inner) => {
        const reply = await this.#components.servicePeers.request(
          peer,
          {
            protocols: this.#generations.map((generation) => generation.protocol),
            encode: (spoken) => {
              protocol = spoken
              return this.#generation(spoken).encode(requestId, pubsubTopic, message)
            },
            maxResponseBytes: MAX_RESPONSE_BYTES,
            onWrite: () => {
              inner.throwIfAborted() // given up: what has not left by now must not leave
              written = true
              progress.written = true
            }
          },
          inner
        )
        peerId = reply.peerId
        return done(this.#generation(reply.protocol).decode(reply.bytes, requestId, peerId))
      })
    } catch (error) {
      if (signal.aborted || hasErrorCode(error, 'ERR_CLOSED')) {
        throw error
      }
      return broken(error)
    }
  }

  #generation(protocol: string): LightPushGeneration {
    const generation = this.#generations.find((candidate) => candidate.protocol === protocol)
    if (generation === undefined) {
      throw new InvalidArgumentError('generations', `has none for ${protocol}`)
    }
    return generation
  }

  #unreachable({ peerId, error }: PeerFailure): PushAttempt {
    return {
      status: 'failed',
      reason: 'not-sent',
      peerId,
      startedAtMs: this.#init.now(),
      durationMs: 0,
      error
    }
  }

  /** A copy of the message, after all checks that need no network. */
  #toDraft(message: OutgoingMessage, { pubsubTopic, proof }: PushOptions): WakuMessage {
    if (typeof message !== 'object' || message === null) {
      throw new InvalidArgumentError('message', 'must be an object')
    }
    const { payload, contentTopic, timestamp, meta, version, ephemeral } = message
    const draft = {
      payload: copy(payload),
      contentTopic,
      version,
      timestamp:
        timestamp === undefined ? undefined : toNanoseconds(timestamp, 'message.timestamp'),
      meta: meta === undefined ? undefined : copy(meta),
      ephemeral
    }
    assertMessage(this.#stamp(draft), this.#init.maxMessageBytes)
    if (draft.timestamp === 0n) {
      // Nodes read it as no timestamp, and set one of their own: the hash would be another.
      throw new InvalidArgumentError('message.timestamp', 'must not be 0; leave it out for now')
    }
    if (pubsubTopic === undefined) {
      parseContentTopic(contentTopic, 'message.contentTopic')
    }
    if (pubsubTopic !== undefined && (typeof pubsubTopic !== 'string' || pubsubTopic === '')) {
      throw new InvalidArgumentError('pubsubTopic', 'must be a non-empty string')
    }
    if (proof !== undefined && typeof proof !== 'function') {
      throw new InvalidArgumentError('proof', 'must be a function')
    }
    return draft
  }
}

/** What one push has come to so far; read when it is interrupted. */
interface Progress {
  readonly attempts: PushAttempt[]
  /** True once any byte of any try may have left. */
  written: boolean
  /** True once the caller has its result; what comes later changes nothing. */
  settled: boolean
  /** Ends the try under way, if there is one. */
  interrupt?: (reason: unknown) => void
  result: Pick<PushResult, 'messageHash' | 'pubsubTopic' | 'timestamp'>
}

/** A caller may change its bytes while a push is under way; the hash and the tries may not follow. */
function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes instanceof Uint8Array ? new Uint8Array(bytes) : bytes
}

function relayPeerCount(attempts: readonly PushAttempt[]): Pick<PushResult, 'relayPeerCount'> {
  const counts = attempts
    .map((attempt) => attempt.relayPeerCount)
    .filter((count) => count !== undefined)
  return counts.length === 0 ? {} : { relayPeerCount: Math.max(...counts) }
}
