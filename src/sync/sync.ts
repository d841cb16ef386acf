import type { StreamHandler } from '@libp2p/interface'
import { ClosedError, hasErrorCode } from '../errors.ts'
import { assertMethod } from '../lib/checks.ts'
import { withDeadline, withSignals } from '../lib/deadline.ts'
import { Listeners } from '../lib/listeners.ts'
import { report } from '../lib/report.ts'
import { fromMilliseconds, type TimeInput } from '../lib/time.ts'
import type { CallOptions } from '../options.ts'
import { STORE_QUERY_3_PROTOCOL } from '../wire/store-query-3.ts'
import { RECONCILIATION_PROTOCOL } from '../wire/sync.ts'
import { MAX_TRANSFER_BYTES, TRANSFER_PROTOCOL } from '../wire/sync-transfer.ts'
import { askFirst, toWindow } from './asking.ts'
import { Backoff } from './backoff.ts'
import type { SyncComponents } from './components.ts'
import type { SyncContext } from './context.ts'
import { toOptions } from './driver.ts'
import { createFrames } from './frames.ts'
import { openHoldings } from './holdings.ts'
import { type SyncInit, toSyncSettings } from './init.ts'
import { Intakes } from './intake.ts'
import { MAX_LOOKUP_BYTES, serveLookup } from './lookups.ts'
import { receive } from './moving.ts'
import { capablePeers } from './peers.ts'
import type { SyncProgress, SyncResult, Tell } from './progress.ts'
import { startScheduler } from './scheduler.ts'
import { respond, runSession } from './sessions.ts'

/** Options of {@link Sync.syncNow}. */
export interface SyncNowOptions extends CallOptions<SyncProgress> {
  /** Peer id of the only peer to sync with. Left out: a random one that can, another one if it fails. */
  readonly peer?: string
  /** From this time on. @default the configured range */
  readonly from?: TimeInput
  /** Before this time. @default now, without the newest messages */
  readonly to?: TimeInput
}

/** Sync of an archive with those of peers. */
export interface Sync {
  /** Entries of the index: what a session over the configured range compares. */
  readonly indexSize: number
  /**
   * Syncs once, now.
   *
   * @throws {@link NoUsablePeerError} with a reason for each peer that was tried; with `peer`, that peer's own error
   * @throws {@link TimeoutError}, {@link ClosedError}, or the signal's own reason
   */
  syncNow(options?: SyncNowOptions): Promise<SyncResult>
  /** Tells what happens in all sessions, whoever began them; returns a function that ends this. */
  onEvent(listener: (event: SyncProgress) => void): () => void
  /** Ends all sessions with {@link ClosedError} and lets go of node and archive; safe to call again. */
  close(): Promise<void>
}

/**
 * Starts to sync an archive with those of peers: at once, after reconnecting, and every five minutes over the last hour.
 *
 * It takes transfers from peers with which it has a session. It answers sessions only with `serve`.
 *
 * @throws {@link InvalidArgumentError} for options that are wrong, and what the archive throws when it is read
 *
 * @example
 * ```ts
 * const sync = await createSync({ node, store: new StoreClient(node) }, { archive })
 * sync.onEvent(({ type, detail }) => console.log(type, detail))
 * const { outcome, received } = await sync.syncNow({ from: new Date(Date.now() - 6 * 3_600_000) })
 * ```
 * @see WAKU-STORE-SYNC
 */
export async function createSync(components: SyncComponents, init: SyncInit): Promise<Sync> {
  assertMethod('components.node.streamHost', components?.node?.streamHost, 'handle')
  const { node, store } = components
  const settings = toSyncSettings(init)
  const { now, random, rangeMs, jitterMs, intervalMs, timeoutMs } = settings
  // how far back the index goes; pruning happens at an interval
  const keptMs = rangeMs + jitterMs + Math.min(2 * intervalMs, rangeMs)
  const keptSince = (): bigint => fromMilliseconds(now() - keptMs)

  const closing = new AbortController()
  const { signal } = closing
  const listeners = new Listeners<SyncProgress>()
  const tell: Tell = (event) => listeners.tell(event)
  const holdings = await openHoldings(settings, keptSince())
  const intakes = new Intakes(now)
  const served = new Set<string>()
  const context = { node, store, settings, holdings, intakes, served, tell, signal }
  const backoff = new Backoff(settings)
  const handled: string[] = []
  let stop: (() => Promise<void>) | undefined
  let closed: Promise<void> | undefined

  const close = async (): Promise<void> => {
    closing.abort(new ClosedError('sync'))
    try {
      await Promise.all([node.streamHost.unhandle(handled), stop?.()])
    } finally {
      holdings.close()
      listeners.clear()
    }
  }
  try {
    await handleStreams(context, handled)
    stop = startScheduler(context, backoff, () => holdings.prune(keptSince()))
  } catch (error) {
    await close()
    throw error
  }

  return {
    get indexSize() {
      return holdings.index.size
    },

    async syncNow(options = {}) {
      const { peer, onProgress } = options
      const window = toWindow(settings, options)
      const tellAll = (event: SyncProgress): void => {
        tell(event)
        report(onProgress, event)
      }
      return await withDeadline('sync', options, timeoutMs, (within) =>
        withSignals([signal, within], async (linked) => {
          const call = { signal: linked, timeoutMs: Infinity, tell: tellAll }
          return peer === undefined
            ? await askFirst(context, backoff, await capablePeers(node, random), window, call)
            : await runSession(context, peer, window, call)
        })
      )
    },

    onEvent: (listener) => listeners.add(listener),

    async close() {
      closed ??= close()
      await closed
    }
  }
}

/** Of one protocol on one connection; more are reset by libp2p. Each may fill its buffer of 4 MiB. */
const MAX_INBOUND_STREAMS = 8

/**
 * Takes the streams of peers.
 *
 * @param handled - where the protocols are put that have a handler
 */
async function handleStreams(context: SyncContext, handled: string[]): Promise<void> {
  const { node, settings, tell, signal } = context
  const handlers = [
    [TRANSFER_PROTOCOL, MAX_TRANSFER_BYTES, receive, true],
    [RECONCILIATION_PROTOCOL, toOptions(settings).maxPayloadBytes, respond, settings.serve],
    [STORE_QUERY_3_PROTOCOL, MAX_LOOKUP_BYTES, serveLookup, settings.serveLookups]
  ] as const
  for (const [protocol, maxBytes, handler, isWanted] of handlers) {
    const handle: StreamHandler = async (stream, { remotePeer }) => {
      const peerId = remotePeer.toString()
      const frames = createFrames(stream, maxBytes)
      try {
        await handler(context, frames, peerId)
        await frames.close(signal)
      } catch (error) {
        frames.abort()
        // what is wrong with a look-up is the peer's to know, unless it is our archive
        if (!signal.aborted && (handler === receive || hasErrorCode(error, 'ERR_STORAGE'))) {
          tell({ type: 'sync:failed', detail: { peerId, error } })
        }
      }
    }
    if (isWanted) {
      await node.streamHost.handle(protocol, handle, { maxInboundStreams: MAX_INBOUND_STREAMS })
      handled.push(protocol)
    }
  }
}
