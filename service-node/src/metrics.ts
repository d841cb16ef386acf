import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** What the gauges are read from, at the time of asking. */
export interface MetricsSources {
  connectionCount(): number
  messageCount(): number
  relayPeerCounts(): Iterable<[pubsubTopic: string, count: number]>
}

/** The node's Prometheus metrics, in a registry of their own. */
export class Metrics {
  readonly #registry = new Registry()
  /** Requests, by protocol and status. */
  readonly requests = new Counter({
    name: 'waku_requests_total',
    help: 'Requests served, by protocol and status',
    labelNames: ['protocol', 'status'] as const,
    registers: [this.#registry]
  })
  /** How long answers took to make, by protocol. */
  readonly requestSeconds = new Histogram({
    name: 'waku_request_duration_seconds',
    help: 'Time from a request to its answer, by protocol',
    labelNames: ['protocol'] as const,
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1],
    registers: [this.#registry]
  })
  /** Messages that came by relay. */
  readonly relayed = new Counter({
    name: 'waku_relay_received_total',
    help: 'Messages that came by relay',
    registers: [this.#registry]
  })

  /** Messages of this node's own clients that it handed to relay peers. */
  readonly published = new Counter({
    name: 'waku_relay_published_total',
    help: 'Pushed messages that were relayed',
    registers: [this.#registry]
  })

  /** Sync sessions, by role and outcome. */
  readonly syncSessions = new Counter({
    name: 'waku_sync_sessions_total',
    help: 'Sync sessions, by role and outcome',
    labelNames: ['role', 'outcome'] as const,
    registers: [this.#registry]
  })

  /** Messages that sync brought. */
  readonly synced = new Counter({
    name: 'waku_sync_received_total',
    help: 'Messages that sync brought into the archive',
    registers: [this.#registry]
  })

  /** Times that the node caught up, by outcome. */
  readonly resumes = new Counter({
    name: 'waku_resume_total',
    help: 'Times that the node asked its peers for what it missed, by outcome',
    labelNames: ['outcome'] as const,
    registers: [this.#registry]
  })

  /** Messages that it brought. */
  readonly resumed = new Counter({
    name: 'waku_resume_received_total',
    help: 'Messages that resume brought into the archive',
    registers: [this.#registry]
  })

  constructor(sources: MetricsSources) {
    const registers = [this.#registry]
    new Gauge({
      name: 'waku_connections',
      help: 'Open connections',
      registers,
      collect() {
        this.set(sources.connectionCount())
      }
    })
    new Gauge({
      name: 'waku_archive_messages',
      help: 'Messages in the archive',
      registers,
      collect() {
        this.set(sources.messageCount())
      }
    })
    new Gauge({
      name: 'waku_relay_peers',
      help: 'Peers that relay a pubsub topic',
      labelNames: ['pubsub_topic'] as const,
      registers,
      collect() {
        for (const [pubsubTopic, count] of sources.relayPeerCounts()) {
          this.set({ pubsub_topic: pubsubTopic }, count)
        }
      }
    })
  }

  /** All of it, in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  /** Of that format. */
  get contentType(): string {
    return this.#registry.contentType
  }
}
