import {
  hasErrorCode,
  isWakuLightError,
  NoUsablePeerError,
  type PeerFailure,
  RemoteStatusError
} from '../errors.ts'
import { backoffMs } from '../lib/backoff.ts'
import { report } from '../lib/report.ts'
import type { ServicePeer, ServicePeers } from '../transport/service-peers.ts'
import { protocolsOf, type StoreGeneration } from './generation.ts'
import type { StoreProgress } from './page.ts'

/** Of the pauses where nodes have too many requests and there is no other one. */
const BACKOFF = { minBackoffMs: 1_000, maxBackoffMs: Infinity, random: Math.random }

/** Such pauses in a row. */
const MAX_PAUSES = 3

/** How to build {@link Failures}. */
export interface FailuresInit {
  readonly servicePeers: ServicePeers
  readonly generations: readonly StoreGeneration[]
  /** Waits for a number of milliseconds, or rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly onProgress?: ((event: StoreProgress) => void) | undefined
  /** For all of it, in milliseconds from now. @default Infinity */
  readonly pageTimeoutMs?: number
}

/**
 * What went wrong at which node, of those that are asked for one thing. Where all have too many requests, it waits for them, a
 * bounded number of times.
 */
export class Failures {
  /** In order, since the last pause. */
  all: readonly PeerFailure[] = []
  readonly #init: FailuresInit
  readonly #startedAtMs = performance.now()
  #pauses = 0

  constructor(init: FailuresInit) {
    this.#init = init
  }

  /**
   * Takes note of what a node did, and tells.
   *
   * @throws what is not the fault of a node
   */
  add(peer: ServicePeer, error: unknown, signal: AbortSignal): void {
    signal.throwIfAborted()
    if (!isWakuLightError(error) || error.code === 'ERR_CLOSED') {
      throw error
    }
    const { servicePeers, generations, onProgress } = this.#init
    const failure = { peerId: peer.peerId, error }
    this.all = [...this.all, failure]
    noteFault(servicePeers, peer, generations, error)
    report(onProgress, { type: 'store:peer-failed', detail: failure })
  }

  /** Those of one node. */
  of({ peerId }: ServicePeer): readonly Error[] {
    return this.all.filter((failure) => failure.peerId === peerId).map(({ error }) => error)
  }

  /** True if a node failed once, and in this way. */
  isOnce(peer: ServicePeer, test: (error: Error) => boolean): boolean {
    const [only, ...others] = this.of(peer)
    return only !== undefined && others.length === 0 && test(only)
  }

  /** True if a node answered in a way that its cursor cannot be asked with again. */
  spoilCursorOf(peer: ServicePeer): boolean {
    return this.of(peer).some((error) => !isTransient(error) && !isRateLimit(error))
  }

  /** What to throw when there is nobody left to ask. */
  toError(): Error {
    const [only, ...others] = this.all
    return only !== undefined && others.length === 0 ? only.error : new NoUsablePeerError(this.all)
  }

  /**
   * Waits, longer each time, and begins anew.
   *
   * @param error - why nobody is left to ask
   * @throws it, if no node had too many requests, there is no time or there was enough of it; or the signal's own reason
   */
  async bear(error: unknown, signal: AbortSignal): Promise<void> {
    const { sleep, onProgress, pageTimeoutMs = Infinity } = this.#init
    const pauseMs = backoffMs(BACKOFF, this.#pauses)
    const isLate = performance.now() + pauseMs >= this.#startedAtMs + pageTimeoutMs
    const isBusy = this.all.some((failure) => isRateLimit(failure.error))
    if (!isBusy || isLate || this.#pauses === MAX_PAUSES) {
      throw error
    }
    this.#pauses++
    report(onProgress, { type: 'store:pause', detail: { pauseMs } })
    await sleep(pauseMs, signal)
    this.all = []
  }
}

/** Holds against a node what it answered; what broke on the way there has been noted by the service peers themselves. */
export function noteFault(
  servicePeers: ServicePeers,
  peer: ServicePeer,
  generations: readonly StoreGeneration[],
  error: Error
): void {
  if (!isTransient(error)) {
    servicePeers.note?.(peer, protocolsOf(generations), error)
  }
}

/** True if it was not the node's answer that failed. */
export function isTransient(error: Error): boolean {
  return hasErrorCode(error, 'ERR_CONNECTION', 'ERR_TIMEOUT')
}

/** True if a node has too many requests. */
export function isRateLimit(error: Error): boolean {
  return error instanceof RemoteStatusError && error.statusCode === 429
}
