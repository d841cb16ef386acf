import type { Connection, Stream } from '@libp2p/interface'
import {
  ClosedError,
  hasErrorCode,
  InvalidArgumentError,
  isWakuLightError,
  NoUsablePeerError,
  type PeerFailure
} from '../errors.ts'
import { withDeadline, withSignals } from '../lib/deadline.ts'
import { report } from '../lib/report.ts'
import { fromMilliseconds, type TimeInput, toNanoseconds } from '../lib/time.ts'
import type { CallOptions } from '../options.ts'
import { STORE_QUERY_3_PROTOCOL } from '../wire/store-query-3.ts'
import { RECONCILIATION_PROTOCOL } from '../wire/sync.ts'
import { TRANSFER_PROTOCOL } from '../wire/sync-transfer.ts'
import type { SyncComponents } from './components.ts'
import { Frames } from './frames.ts'
import { Holdings } from './holdings.ts'
import { type SyncInit, type SyncSettings, toSyncSettings } from './init.ts'
import { Intakes } from './intake.ts'
import { answerLookup, MAX_LOOKUP_BYTES } from './lookups.ts'
import { SyncPeers } from './peers.ts'
import type { SyncProgress, SyncResult } from './progress.ts'
import { Backoff, Scheduler } from './scheduler.ts'
import { Sessions } from './sessions.ts'
import type { SyncWindow } from './sync-session.ts'

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
  const settings = toSyncSettings(init)
  const { archive, maxEntries, now } = settings
  const since = fromMilliseconds(now() - keepMs(settings))
  const holdings = await Holdings.open({ archive, maxEntries }, since)
  const sync = new RunningSync(components, settings, holdings)
  try {
    await sync.start()
  } catch (error) {
    await sync.close()
    throw error
  }
  return sync
}

/** Of one protocol on one connection; more are reset by libp2p. */
const MAX_INBOUND_STREAMS = 8

/** How far back the index goes. Pruning happens at an interval. */
function keepMs({ rangeMs, jitterMs, intervalMs }: SyncSettings): number {
  return rangeMs + jitterMs + Math.min(2 * intervalMs, rangeMs)
}

class RunningSync implements Sync {
  readonly #components: SyncComponents
  readonly #settings: SyncSettings
  readonly #holdings: Holdings
  readonly #peers: SyncPeers
  readonly #intakes: Intakes
  readonly #sessions: Sessions
  readonly #backoff: Backoff
  readonly #scheduler: Scheduler
  readonly #closing = new AbortController()
  readonly #listeners = new Set<(event: SyncProgress) => void>()
  readonly #handled: string[] = []
  #unsubscribe: (() => void) | undefined
  #work: Promise<void> | undefined
  #closed: Promise<void> | undefined

  constructor(components: SyncComponents, settings: SyncSettings, holdings: Holdings) {
    const { node, store } = components
    const { signal } = this.#closing
    this.#components = components
    this.#settings = settings
    this.#holdings = holdings
    this.#peers = new SyncPeers(node)
    this.#intakes = new Intakes(settings.lateTransferMs, settings.now)
    this.#sessions = new Sessions({
      settings,
      holdings,
      store,
      signal,
      peers: this.#peers,
      intakes: this.#intakes,
      tell: this.#tell
    })
    this.#backoff = new Backoff(settings)
    this.#scheduler = new Scheduler({ settings, signal, run: this.#scheduled.bind(this) })
  }

  get indexSize(): number {
    return this.#holdings.size
  }

  async start(): Promise<void> {
    const { serve, serveLookups } = this.#settings
    await this.#handle(TRANSFER_PROTOCOL, (...peer) => this.#sessions.receive(...peer))
    if (serve) {
      await this.#handle(RECONCILIATION_PROTOCOL, (...peer) => this.#sessions.respond(...peer))
    }
    if (serveLookups) {
      await this.#handle(STORE_QUERY_3_PROTOCOL, (...peer) => this.#lookUp(...peer))
    }
    this.#unsubscribe = this.#components.node.onConnectionChange?.(({ peerId, connected }) => {
      if (connected) {
        this.#backoff.forget(peerId)
        this.#scheduler.wake(peerId)
      }
    })
    if (!this.#settings.automatic) {
      return
    }
    this.#work = this.#scheduler.work().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) {
        this.#tell({ type: 'sync:failed', detail: { error } })
      }
    })
  }

  async syncNow(options: SyncNowOptions = {}): Promise<SyncResult> {
    const window = this.#window(options)
    const { signal, timeoutMs, peer, onProgress } = options
    const tell = (event: SyncProgress): void => {
      this.#tell(event)
      report(onProgress, event)
    }
    return await withDeadline('sync', { signal, timeoutMs }, this.#settings.timeoutMs, (within) =>
      withSignals([this.#closing.signal, within], async (linked) => {
        const call = { signal: linked, timeoutMs: Infinity, tell }
        return peer === undefined
          ? await this.#first(await this.#peers.capable(this.#settings.random), window, call)
          : await this.#sessions.initiate(peer, window, call)
      })
    )
  }

  onEvent(listener: (event: SyncProgress) => void): () => void {
    const own = (event: SyncProgress): void => listener(event)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close()
    await this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort(new ClosedError('sync'))
    this.#unsubscribe?.()
    await this.#components.node.streamHost.unhandle(this.#handled)
    await this.#work
    this.#holdings.close()
    this.#listeners.clear()
  }

  async #scheduled(arrived: string | undefined, signal: AbortSignal): Promise<void> {
    const { now, random } = this.#settings
    this.#holdings.prune(fromMilliseconds(now() - keepMs(this.#settings)))
    const capable = await this.#peers.capable(random)
    const preferred = capable.filter((id) => id === arrived)
    const ids = [...preferred, ...capable.filter((id) => id !== arrived)].filter(
      (id) => this.#backoff.allows(id) && !this.#intakes.isActive(id)
    )
    try {
      await this.#first(ids, this.#window({}), { signal, tell: this.#tell })
    } catch (error) {
      signal.throwIfAborted()
      this.#tell({ type: 'sync:failed', detail: { error } })
    }
  }

  /** Syncs with the first peer that can; mismatch is an answer only where no peer gives a better one. */
  async #first(
    peerIds: readonly string[],
    window: SyncWindow,
    call: Parameters<Sessions['initiate']>[2]
  ): Promise<SyncResult> {
    const failures: PeerFailure[] = []
    let mismatch: SyncResult | undefined
    for (const peerId of peerIds) {
      try {
        const result = await this.#sessions.initiate(peerId, window, call)
        if (result.outcome !== 'mismatch') {
          this.#backoff.forget(peerId)
          return result
        }
        mismatch ??= result
        this.#backoff.failed(peerId, undefined)
      } catch (error) {
        call.signal.throwIfAborted()
        if (!isWakuLightError(error) || /ERR_STORAGE|ERR_CLOSED/.test(error.code)) {
          throw error
        }
        this.#backoff.failed(peerId, error)
        failures.push({ peerId, error })
      }
    }
    if (mismatch !== undefined) {
      return mismatch
    }
    throw new NoUsablePeerError(failures)
  }

  #window({ from, to }: SyncNowOptions): SyncWindow {
    const { now, rangeMs, jitterMs } = this.#settings
    const timeEnd = to === undefined ? fromMilliseconds(now() - jitterMs) : toNanoseconds(to, 'to')
    const timeStart =
      from === undefined ? timeEnd - fromMilliseconds(rangeMs) : toNanoseconds(from, 'from')
    if (timeStart < 0n || timeEnd - timeStart < 8n) {
      throw new InvalidArgumentError('from', 'must be before `to`, and not before 1970')
    }
    return { timeStart, timeEnd }
  }

  async #handle(
    protocol: string,
    handler: (stream: Stream, connection: Connection) => Promise<void>
  ): Promise<void> {
    // each may fill its buffer of 4 MiB
    const limits = { maxInboundStreams: MAX_INBOUND_STREAMS }
    await this.#components.node.streamHost.handle(protocol, handler, limits)
    this.#handled.push(protocol)
  }

  /** Looks up messages for a peer with a session. Never rejects. */
  async #lookUp(stream: Stream, { remotePeer }: Connection): Promise<void> {
    const { replyTimeoutMs, archive } = this.#settings
    const frames = new Frames(stream, MAX_LOOKUP_BYTES)
    const { signal } = this.#closing
    try {
      await withDeadline('look-up', { signal }, replyTimeoutMs, async (within) => {
        const request = await frames.read(within)
        const isKnown = this.#intakes.of(remotePeer.toString()).length > 0
        if (request !== undefined) {
          await frames.write(await answerLookup(request, isKnown ? archive : undefined), within)
        }
        await frames.close(within)
      })
    } catch (error) {
      frames.abort('the look-up failed')
      if (hasErrorCode(error, 'ERR_STORAGE')) {
        this.#tell({ type: 'sync:failed', detail: { peerId: remotePeer.toString(), error } })
      }
    }
  }

  readonly #tell = (event: SyncProgress): void => {
    for (const listener of this.#listeners) {
      report(listener, event)
    }
  }
}
