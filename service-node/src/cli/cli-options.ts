import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { multiaddr } from '@multiformats/multiaddr'
import { errorMessage } from '../errors.ts'
import type { ServiceNodeOptions } from '../options.ts'
import type { RateLimit } from '../rate-limiter.ts'

/** Levels of the log. */
export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const

/** To run a node. */
export interface RunCommand {
  readonly kind: 'run'
  readonly options: ServiceNodeOptions
  readonly logLevel: string
}

/** What the command line asks for. */
export type Command = RunCommand | { readonly kind: 'help' | 'version' }

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const DEFINITIONS = {
  listen: { type: 'string', multiple: true },
  'cluster-id': { type: 'string' },
  shard: { type: 'string', multiple: true },
  'shard-count': { type: 'string' },
  database: { type: 'string' },
  peer: { type: 'string', multiple: true },
  standalone: { type: 'boolean' },
  'max-message-bytes': { type: 'string' },
  'max-page-limit': { type: 'string' },
  'max-connections': { type: 'string' },
  'light-push-rate-limit': { type: 'string' },
  'store-rate-limit': { type: 'string' },
  'retention-hours': { type: 'string' },
  'retention-count': { type: 'string' },
  'key-file': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  sync: { type: 'boolean' },
  'sync-interval': { type: 'string' },
  'sync-range': { type: 'string' },
  'resume-hours': { type: 'string' },
  'admin-port': { type: 'string' },
  'admin-host': { type: 'string' },
  'log-level': { type: 'string', default: 'info' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' }
} as const

type Name = keyof typeof DEFINITIONS

const MS_PER_SECOND = 1_000
const MS_PER_HOUR = 3_600_000

/** @throws {@link UsageError} for an option that does not exist, or a value that makes no sense */
export function parseCommand(args: string[]): Command {
  const values = parseValues(args)
  if (values.help === true) {
    return { kind: 'help' }
  }
  if (values.version === true) {
    return { kind: 'version' }
  }
  const logLevel = values['log-level']
  if (!LOG_LEVELS.some((level) => level === logLevel)) {
    throw new UsageError(`--log-level must be one of ${LOG_LEVELS.join(', ')}`)
  }
  const integer = (name: Name, max?: number): number | undefined =>
    toInteger(name, values[name] as string | undefined, max)
  const hours = integer('retention-hours')
  const maxCount = integer('retention-count')
  const port = integer('admin-port', 0xffff)
  if (port === undefined && values['admin-host'] !== undefined) {
    throw new UsageError('--admin-host needs --admin-port')
  }
  const [intervalS, rangeS] = [integer('sync-interval'), integer('sync-range')]
  if (values.sync !== true && (intervalS ?? rangeS) !== undefined) {
    throw new UsageError('--sync-interval and --sync-range need --sync')
  }
  const resumeHours = integer('resume-hours')
  const options: ServiceNodeOptions = {
    listen: toAddresses('listen', values.listen),
    clusterId: integer('cluster-id', 0xffff),
    shards: values.shard?.map((text) => toInteger('shard', text, 1023) ?? 0),
    shardCount: integer('shard-count', 1024),
    databaseFile: values.database,
    peers: toAddresses('peer', values.peer),
    standalone: values.standalone,
    maxMessageBytes: integer('max-message-bytes'),
    maxPageLimit: integer('max-page-limit'),
    maxConnections: integer('max-connections'),
    rateLimits: {
      ...toRateLimits(
        'lightPush',
        toRateLimit('light-push-rate-limit', values['light-push-rate-limit'])
      ),
      ...toRateLimits('store', toRateLimit('store-rate-limit', values['store-rate-limit']))
    },
    retention: {
      ...(hours === undefined ? undefined : { maxAgeMs: hours * MS_PER_HOUR }),
      ...(maxCount === undefined ? undefined : { maxCount })
    },
    sync: values.sync && {
      ...(intervalS === undefined ? undefined : { intervalMs: intervalS * MS_PER_SECOND }),
      ...(rangeS === undefined ? undefined : { rangeMs: rangeS * MS_PER_SECOND })
    },
    resume:
      resumeHours === undefined
        ? undefined
        : resumeHours > 0 && { windowMs: resumeHours * MS_PER_HOUR },
    keyFile: values['key-file'],
    tls: readTls(values['tls-cert'], values['tls-key']),
    admin: port === undefined ? undefined : { port, host: values['admin-host'] }
  }
  return { kind: 'run', options, logLevel }
}

function parseValues(args: string[]) {
  try {
    return parseArgs({ args, options: DEFINITIONS, allowPositionals: false }).values
  } catch (error) {
    // Node's text goes on for lines about how to escape; the first sentence says it.
    throw new UsageError(errorMessage(error).split(/\. |\n/)[0])
  }
}

function toInteger(
  name: Name,
  text: string | undefined,
  max = Number.MAX_SAFE_INTEGER
): number | undefined {
  if (text === undefined) {
    return undefined
  }
  if (!/^\d{1,16}$/.test(text) || Number(text) > max) {
    throw new UsageError(`--${name} must be an integer from 0 to ${max}, not '${text}'`)
  }
  return Number(text)
}

function toAddresses(name: Name, texts: string[] | undefined): string[] | undefined {
  for (const text of texts ?? []) {
    try {
      multiaddr(text)
    } catch {
      throw new UsageError(`--${name} must be a multiaddr, not '${text}'`)
    }
  }
  return texts
}

function toRateLimit(name: Name, text: string | undefined): RateLimit | undefined {
  if (text === undefined) {
    return undefined
  }
  const match = /^(\d{1,9})\/(\d{1,9})(ms|s|m)$/.exec(text)
  const unitMs = { ms: 1, s: 1000, m: 60_000 }[match?.[3] ?? ''] ?? 0
  const limit = { count: Number(match?.[1]), periodMs: Number(match?.[2]) * unitMs }
  if (!(limit.count > 0 && limit.periodMs > 0)) {
    throw new UsageError(`--${name} must be a count and a period, for example 5/1s, not '${text}'`)
  }
  return limit
}

/** As the reference node has it: one peer gets three quarters of what all get together. */
function toRateLimits(service: 'lightPush' | 'store', perService: RateLimit | undefined) {
  if (perService === undefined) {
    return undefined
  }
  const count = Math.max(1, Math.floor(perService.count * 0.75))
  return { [service]: { perService, perPeer: { ...perService, count } } }
}

function readTls(
  certFile: string | undefined,
  keyFile: string | undefined
): { cert: string; key: string } | undefined {
  if (certFile === undefined && keyFile === undefined) {
    return undefined
  }
  if (certFile === undefined || keyFile === undefined) {
    throw new UsageError('--tls-cert and --tls-key belong together')
  }
  try {
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  } catch (error) {
    throw new UsageError(`certificate or key: ${errorMessage(error)}`)
  }
}
