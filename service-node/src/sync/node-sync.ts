import type { IdentifyResult } from '@libp2p/interface'
import type { StoreClient } from 'waku-light/store'
import { createSync, type Sync, type SyncNode, type SyncProgress } from 'waku-light/sync'
import { RECONCILIATION_PROTOCOL } from 'waku-light/wire'
import type { Archive } from '../archive/archive.ts'
import { errorMessage } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import type { ResolvedOptions } from '../options.ts'
import type { RelayNode } from '../relay-node.ts'
import { toSyncArchive } from './sync-archive.ts'

/** 64 MB of index. */
const MAX_ENTRIES = 1_000_000

/** What {@link startSync} works with. */
export interface NodeSyncInit {
  readonly options: ResolvedOptions
  readonly archive: Archive
  readonly node: RelayNode
  /** For what cannot be transferred. */
  readonly store: StoreClient
  readonly metrics: Metrics
}

/**
 * Starts to sync, if the options say so, and to serve sync: before the node starts, so that the first peer is told of it.
 * Store queries by hash the node serves anyway.
 */
export async function startSync(init: NodeSyncInit): Promise<Sync | undefined> {
  const { options, archive, node, store } = init
  const { sync: given, now, retention } = options
  if (given === false) {
    return undefined
  }
  const sync = await createSync(
    { node: toSyncNode(node), store },
    {
      ...(given === true ? undefined : given),
      archive: toSyncArchive(archive, options),
      pubsubTopics: options.pubsubTopics,
      serve: true,
      serveLookups: false,
      maxEntries: Math.min(retention.maxCount, MAX_ENTRIES),
      locks: null,
      now: () => Number(now() / 1_000_000n)
    }
  )
  sync.onEvent((event) => record(init, event))
  return sync
}

/** Of two nodes that meet, the one that dialed begins; and only with a peer that says that it syncs. */
function toSyncNode(node: RelayNode): SyncNode {
  return {
    streamHost: node,
    onConnectionChange(listener) {
      const onIdentify = ({ detail }: CustomEvent<IdentifyResult>): void => {
        const { peerId, protocols, connection } = detail
        if (protocols.includes(RECONCILIATION_PROTOCOL) && connection.direction === 'outbound') {
          listener({ peerId: peerId.toString(), connected: true })
        }
      }
      node.addEventListener('peer:identify', onIdentify)
      return () => node.removeEventListener('peer:identify', onIdentify)
    }
  }
}

function record({ metrics, options }: NodeSyncInit, { type, detail }: SyncProgress): void {
  if (type === 'sync:end') {
    const { window: _window, ...data } = detail
    metrics.syncSessions.inc({ role: detail.role, outcome: detail.outcome })
    options.logger.info(data, 'synced')
  } else if (type === 'sync:received') {
    metrics.synced.inc(detail.count)
  } else if (type === 'sync:failed') {
    const { peerId, error } = detail
    options.logger.debug({ peerId, reason: errorMessage(error) }, 'sync failed')
  }
}
