import { DEFAULT_OPTIONS } from '../options.ts'
import { LOG_LEVELS } from './cli-options.ts'

const { maxMessageBytes, maxPageLimit, maxConnections, retention, resume } = DEFAULT_OPTIONS

/** What `--help` prints. */
export const HELP = `Usage: waku-light-service-node [options]

A small Waku service node (relay, light push, store) for development, tests and small private networks.

Network
  --listen <multiaddr>            address to listen on; may be repeated
                                  (default: loopback, any free port, by tcp and ws, and wss with a certificate)
  --cluster-id <n>                cluster (default: ${DEFAULT_OPTIONS.clusterId})
  --shard <n>                     shard to relay; may be repeated (default: all of --shard-count, else 0)
  --shard-count <n>               shards of the network: derive the shard where a push names none (autosharding)
  --peer <multiaddr>              peer to connect to and stay connected to; may be repeated
  --standalone                    accept pushes without a relay peer
  --key-file <file>               identity; made if there is none (default: a fresh one at every start)
  --tls-cert <file>               certificate (PEM) for wss
  --tls-key <file>                its key (PEM)

Archive
  --database <file>               SQLite file; one node at a time (default: in memory)
  --retention-hours <n>           delete messages older than this (default: ${retention.maxAgeMs / 3_600_000})
  --retention-count <n>           keep so many messages at most (default: ${retention.maxCount})

Sync and resume
  --sync                          reconcile the archive with those of peers, and answer when they ask
  --sync-interval <s>             between two sessions with random peers, in seconds (default: 300)
  --sync-range <s>                how far back they go, in seconds (default: 3600)
  --resume-hours <n>              how far back to ask peers, after a start, for what was missed; 0 for not at all
                                  (default: ${resume.windowMs / 3_600_000} with --database, else 0)

Limits
  --max-message-bytes <n>         largest message, as the reference node encodes it (default: ${maxMessageBytes})
  --max-page-limit <n>            largest page of a store query (default: ${maxPageLimit})
  --max-connections <n>           (default: ${maxConnections})
  --light-push-rate-limit <n/t>   pushes of all peers together, for example 5/1s; each peer gets 75 % of it
  --store-rate-limit <n/t>        store queries, likewise

Operation
  --admin-port <n>                serve GET /health and GET /metrics (Prometheus); 0 for any free port
  --admin-host <host>             (default: 127.0.0.1)
  --log-level <level>             ${LOG_LEVELS.join(', ')} (default: info)
  --version
  -h, --help

Prints its multiaddrs, one a line, to standard output, and logs to standard error. SIGINT or SIGTERM ends it.
`
