import type { Connection, Stream } from '@libp2p/interface'
import { serveExchange } from '../exchange.ts'
import type { Logger } from '../logger.ts'
import type { Metrics } from '../metrics.ts'
import { RateLimiter } from '../rate-limiter.ts'
import type { RelayNode } from '../relay-node.ts'
import type { Service } from './service.ts'

/** What a {@link ServiceHost} works with. */
export interface ServiceHostInit {
  readonly node: Pick<RelayNode, 'handle'>
  readonly metrics: Metrics
  readonly logger: Logger
  readonly deadlineMs: number
  readonly nowMs: () => number
}

// Of one protocol on one connection; more are reset by libp2p.
const MAX_STREAMS = 256

/** Serves protocols to the peers of a node, within their rate limits. */
export class ServiceHost {
  readonly #init: ServiceHostInit
  readonly #limiters: RateLimiter[] = []

  constructor(init: ServiceHostInit) {
    this.#init = init
  }

  /** Serves a protocol from now on. */
  async add(service: Service): Promise<void> {
    const limiter = new RateLimiter(service.rateLimits ?? {}, this.#init.nowMs)
    this.#limiters.push(limiter)
    await this.#init.node.handle(
      service.protocol,
      (stream: Stream, connection: Connection) => this.#serve(service, limiter, stream, connection),
      { maxInboundStreams: MAX_STREAMS, maxOutboundStreams: MAX_STREAMS }
    )
  }

  /** Forgets peers that the rate limits need not remember. */
  prune(): void {
    for (const limiter of this.#limiters) {
      limiter.prune()
    }
  }

  async #serve(
    service: Service,
    limiter: RateLimiter,
    stream: Stream,
    connection: Connection
  ): Promise<void> {
    const { metrics, logger, deadlineMs } = this.#init
    const { protocol, maxRequestBytes, tooLarge } = service
    const peerId = connection.remotePeer.toString()
    let status = 'reset'
    const admitted = limiter.admit(peerId)
    if (!admitted && service.refusal === undefined) {
      stream.abort(new Error('too many requests'))
    } else {
      const failure = await serveExchange(stream, {
        maxRequestBytes,
        deadlineMs,
        refusal: admitted ? undefined : service.refusal,
        tooLarge,
        async respond(request) {
          const stop = metrics.requestSeconds.startTimer({ protocol })
          const answer = await service.respond(request, logger)
          stop()
          status = answer?.status ?? status
          return answer?.frame
        }
      })
      if (failure !== undefined) {
        logger.debug({ protocol, peerId, reason: failure.message }, 'exchange failed')
      }
    }
    metrics.requests.inc({ protocol, status: admitted ? status : 'rate-limited' })
  }
}
