import type { PrivateKey } from '@libp2p/interface'
import { InvalidArgumentError } from 'waku-light/errors'
import { assertNetworkConfig, formatPubsubTopic } from 'waku-light/message'
import type { Retention } from './archive/archive.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Logger, SILENT_LOGGER } from './logger.ts'
import type { RateLimits } from './rate-limiter.ts'

/** Settings of a service node; everything has a default. */
export interface ServiceNodeOptions {
  /**
   * Multiaddrs to listen on.
   *
   * @default loopback, any free port, by tcp and ws, and by wss if there is a certificate
   */
  readonly listen?: readonly string[]
  /** @default 0 */
  readonly clusterId?: number
  /** @default all of `shardCount`, else 0 alone */
  readonly shards?: readonly number[]
  /** Number of shards of the network; given, light push 3 derives the pubsub topic where none is named. */
  readonly shardCount?: number
  /**
   * Path of the archive.
   *
   * @default in memory
   */
  readonly databaseFile?: string
  /** Multiaddrs of peers to stay connected to. */
  readonly peers?: readonly string[]
  /** @default {@link DEFAULT_OPTIONS} */
  readonly rateLimits?: { readonly lightPush?: RateLimits; readonly store?: RateLimits }
  /** @default {@link DEFAULT_OPTIONS} */
  readonly retention?: Partial<Retention>
  /** Largest message as the reference node encodes it. */
  readonly maxMessageBytes?: number
  /** Page size where a query names none. */
  readonly defaultPageLimit?: number
  /** Largest page size. */
  readonly maxPageLimit?: number
  /** Largest page, in bytes of messages. */
  readonly maxPageBytes?: number
  /** Accept pushes without a relay peer. */
  readonly standalone?: boolean
  /** The node's identity; default: that of `keyFile`, else a fresh one. */
  readonly privateKey?: PrivateKey
  /** File with the identity; made if there is none. */
  readonly keyFile?: string
  /** Certificate and key in PEM, for `/tls/ws` addresses. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Where to serve `GET /health` and `GET /metrics`; default: nowhere. */
  readonly admin?: { readonly host?: string; readonly port: number }
  /**
   * Reconcile the archive with those of connected peers that do so too, and answer when they ask; true for the defaults.
   *
   * @default false
   */
  readonly sync?: boolean | SyncOptions
  /**
   * Ask peers for what was relayed while this node was down, or had no peer; true for the defaults.
   *
   * @default true with a `databaseFile`
   */
  readonly resume?: boolean | ResumeOptions
  readonly maxConnections?: number
  /** Within which a request must be read, answered and closed. */
  readonly requestTimeoutMs?: number
  /** Within which a peer must answer the metadata request. */
  readonly metadataTimeoutMs?: number
  /** The node's clock, for tests. */
  readonly now?: Clock
  readonly logger?: Logger
}

/** How a service node syncs. */
export interface SyncOptions {
  /**
   * Between two sessions with random peers.
   *
   * @default 300000
   */
  readonly intervalMs?: number
  /**
   * How far back they go.
   *
   * @default 3600000
   */
  readonly rangeMs?: number
  /**
   * The newest messages, which are left out since they may still be on their way.
   *
   * @default 20000
   */
  readonly jitterMs?: number
}

/** How a service node resumes. */
export interface ResumeOptions {
  /**
   * How far back it asks at the most; never for what `retention` would delete.
   *
   * @default 21600000, 6 hours
   */
  readonly windowMs?: number
  /**
   * How often it notes until when the archive is whole. After a start, that much more is asked for than was missed.
   *
   * @default 60000
   */
  readonly markIntervalMs?: number
}

/** Defaults of {@link ServiceNodeOptions}. */
export const DEFAULT_OPTIONS = {
  clusterId: 0,
  databaseFile: ':memory:',
  maxMessageBytes: 150 * 1024,
  defaultPageLimit: 20,
  maxPageLimit: 100,
  // Length-prefixed decoders of other clients stop at 4 MiB.
  maxPageBytes: 4_000_000,
  retention: { maxAgeMs: 30 * 24 * 3_600_000, maxCount: 1_000_000 },
  rateLimits: {
    lightPush: {
      perService: { count: 5000, periodMs: 1000 },
      perPeer: { count: 2000, periodMs: 1000 }
    },
    store: { perPeer: { count: 2000, periodMs: 1000 } }
  },
  resume: { windowMs: 21_600_000, markIntervalMs: 60_000 },
  maxConnections: 300,
  requestTimeoutMs: 30_000,
  metadataTimeoutMs: 5000
} as const satisfies ServiceNodeOptions

const MAX_SHARDS = 1024

/** Options with every default filled in. */
export interface ResolvedOptions
  extends Omit<
      Required<ServiceNodeOptions>,
      'shardCount' | 'privateKey' | 'keyFile' | 'tls' | 'admin' | 'retention' | 'resume'
    >,
    Pick<ServiceNodeOptions, 'shardCount' | 'privateKey' | 'keyFile' | 'tls' | 'admin'> {
  readonly retention: Retention
  readonly resume: Required<ResumeOptions> | undefined
  readonly pubsubTopics: readonly string[]
}

/** @throws {@link InvalidArgumentError} naming the option that is wrong */
export function resolveOptions(options: ServiceNodeOptions): ResolvedOptions {
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined)
  )
  const resolved = {
    peers: [],
    standalone: false,
    sync: false,
    now: systemClock,
    logger: SILENT_LOGGER,
    ...DEFAULT_OPTIONS,
    ...(given as ServiceNodeOptions),
    retention: { ...DEFAULT_OPTIONS.retention, ...options.retention },
    resume: toResume(options),
    rateLimits: { ...DEFAULT_OPTIONS.rateLimits, ...options.rateLimits }
  }
  const { clusterId, shardCount } = resolved
  const shards =
    resolved.shards ??
    (shardCount === undefined ? [0] : Array.from({ length: shardCount }, (_, shard) => shard))
  assertNetworkConfig({ clusterId, shardCount: shardCount ?? MAX_SHARDS })
  assertShards(shards, shardCount)
  for (const name of [
    'maxMessageBytes',
    'maxPageLimit',
    'defaultPageLimit',
    'maxPageBytes',
    'maxConnections'
  ] as const) {
    if (!Number.isInteger(resolved[name]) || resolved[name] < 1) {
      throw new InvalidArgumentError(name, 'must be a positive integer')
    }
  }
  for (const option of ['sync', 'resume'] as const) {
    for (const [name, value] of Object.entries(resolved[option] ?? {})) {
      if (!(Number(value) > 0 || (name === 'jitterMs' && value === 0))) {
        throw new InvalidArgumentError(`${option}.${name}`, 'must be a positive number')
      }
    }
  }
  const pubsubTopics = shards.map((shard) => formatPubsubTopic({ clusterId, shard }))
  return {
    ...resolved,
    shards,
    pubsubTopics,
    listen: resolved.listen ?? defaultListen(options.tls !== undefined)
  }
}

function toResume({
  resume: given,
  databaseFile
}: ServiceNodeOptions): Required<ResumeOptions> | undefined {
  return (given ?? databaseFile !== undefined) === false
    ? undefined
    : { ...DEFAULT_OPTIONS.resume, ...(typeof given === 'object' ? given : undefined) }
}

function assertShards(shards: readonly number[], shardCount: number | undefined): void {
  if (shards.length === 0) {
    throw new InvalidArgumentError('shards', 'must name one shard at least')
  }
  const limit = shardCount ?? MAX_SHARDS
  for (const shard of shards) {
    if (!Number.isInteger(shard) || shard < 0 || shard >= limit) {
      throw new InvalidArgumentError('shards', `must be integers from 0 to ${limit - 1}`)
    }
  }
}

function defaultListen(hasCertificate: boolean): readonly string[] {
  return [
    '/ip4/127.0.0.1/tcp/0/ws',
    '/ip4/127.0.0.1/tcp/0',
    ...(hasCertificate ? ['/ip4/127.0.0.1/tcp/0/tls/ws'] : [])
  ]
}
