import type { Archive } from '../archive/archive.ts'
import type { ResolvedOptions } from '../options.ts'
import { lightPush2 } from './light-push-2.ts'
import { lightPush3 } from './light-push-3.ts'
import type { LightPushConfig } from './light-push-config.ts'
import { metadata } from './metadata.ts'
import type { Service } from './service.ts'
import { storeBeta2 } from './store-beta2.ts'
import { storeBeta4 } from './store-beta4.ts'
import type { StoreConfig } from './store-config.ts'
import { storeQuery3 } from './store-query-3.ts'

/** What the services work with, beside the options. */
export interface ServicesInit extends Pick<LightPushConfig, 'serves' | 'publish'> {
  readonly archive: Archive
}

/** All protocols that the node serves. */
export function createServices(options: ResolvedOptions, init: ServicesInit): readonly Service[] {
  const { clusterId, shards, rateLimits } = options
  const { archive, serves, publish } = init
  const pushConfig: LightPushConfig = {
    ...options,
    rateLimits: rateLimits.lightPush,
    serves,
    publish
  }
  const storeConfig: StoreConfig = {
    ...options,
    rateLimits: rateLimits.store,
    pages: archive.pages
  }
  return [
    metadata(clusterId, shards),
    lightPush3(pushConfig),
    lightPush2(pushConfig),
    storeQuery3(storeConfig),
    storeBeta4(storeConfig),
    storeBeta2(storeConfig)
  ]
}
