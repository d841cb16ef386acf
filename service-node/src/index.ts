/**
 * A small Waku service node to embed: relay, light push and store for development, tests and small private networks.
 *
 * @packageDocumentation
 */
export type { Retention } from './archive/archive.ts'
export type { Clock } from './clock.ts'
export { ServiceNodeError, type ServiceNodeErrorCode } from './errors.ts'
export type { Logger } from './logger.ts'
export {
  DEFAULT_OPTIONS,
  type ResumeOptions,
  type ServiceNodeOptions,
  type SyncOptions
} from './options.ts'
export type { RateLimit, RateLimits } from './rate-limiter.ts'
export { RELAY_PROTOCOL } from './relay.ts'
export type { Resumed } from './resume/node-resume.ts'
export { createServiceNode, type ServiceNode } from './service-node.ts'
