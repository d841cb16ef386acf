/** So many requests in so much time; a peer that paused may send that many at once. */
export interface RateLimit {
  readonly count: number
  readonly periodMs: number
}

/** The limits of a protocol; what is absent is unlimited. */
export interface RateLimits {
  /** All peers together. */
  readonly perService?: RateLimit
  /** Each peer. */
  readonly perPeer?: RateLimit
}

interface Bucket {
  tokens: number
  refilledAtMs: number
}

/** Token buckets, one for the service and one for each peer. */
export class RateLimiter {
  readonly #limits: RateLimits
  readonly #nowMs: () => number
  readonly #peers = new Map<string, Bucket>()
  readonly #service: Bucket | undefined

  /** @param nowMs - a clock in milliseconds */
  constructor(limits: RateLimits, nowMs: () => number) {
    this.#limits = limits
    this.#nowMs = nowMs
    this.#service = limits.perService && { tokens: limits.perService.count, refilledAtMs: nowMs() }
  }

  /** Counts a request; false if it is one too many, and then it is not counted. */
  admit(peerId: string): boolean {
    const { perService, perPeer } = this.#limits
    const peer = perPeer && this.#peerBucket(peerId, perPeer)
    if (
      (peer && !this.#hasToken(peer, perPeer)) ||
      (this.#service && !this.#hasToken(this.#service, perService))
    ) {
      return false
    }
    for (const bucket of [peer, this.#service]) {
      if (bucket !== undefined) {
        bucket.tokens--
      }
    }
    return true
  }

  /** Forgets buckets that are full again: they say nothing. A peer that reconnects keeps what it has used up. */
  prune(): void {
    for (const [peerId, bucket] of this.#peers) {
      this.#hasToken(bucket, this.#limits.perPeer)
      if (bucket.tokens === this.#limits.perPeer?.count) {
        this.#peers.delete(peerId)
      }
    }
  }

  #peerBucket(peerId: string, { count }: RateLimit): Bucket {
    let bucket = this.#peers.get(peerId)
    if (bucket === undefined) {
      bucket = { tokens: count, refilledAtMs: this.#nowMs() }
      this.#peers.set(peerId, bucket)
    }
    return bucket
  }

  #hasToken(bucket: Bucket, limit: RateLimit | undefined): boolean {
    const nowMs = this.#nowMs()
    if (limit !== undefined) {
      const refill = (Math.max(0, nowMs - bucket.refilledAtMs) * limit.count) / limit.periodMs
      bucket.tokens = Math.min(limit.count, bucket.tokens + refill)
    }
    bucket.refilledAtMs = nowMs
    return bucket.tokens >= 1
  }
}
