import type { Connection } from '@libp2p/interface'
import { isWakuLightError, ProtocolViolationError } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import { fromMilliseconds } from '../lib/time.ts'
import { RECONCILIATION_PROTOCOL } from '../wire/sync.ts'
import { MAX_TRANSFER_BYTES, TRANSFER_PROTOCOL } from '../wire/sync-transfer.ts'
import type { SyncStore } from './components.ts'
import { type Reconciliation, reconcile } from './driver.ts'
import { Frames, type SyncStream } from './frames.ts'
import type { Holdings } from './holdings.ts'
import type { SyncSettings } from './init.ts'
import type { Intake, Intakes } from './intake.ts'
import { fetchMessages, type MessageSink, receiveMessages, sendMessages } from './moving.ts'
import type { SyncPeers } from './peers.ts'
import type { SyncProgress, SyncResult, SyncRole } from './progress.ts'
import { toScope } from './scope.ts'
import { servedWindow } from './served-window.ts'
import {
  REFERENCE_NODE_OPTIONS,
  SYNC_SESSION_DEFAULTS,
  SyncSession,
  type SyncSessionOptions,
  type SyncWindow
} from './sync-session.ts'

/** How {@link Sessions} is made. */
export interface SessionsInit {
  readonly settings: SyncSettings
  readonly holdings: Holdings
  readonly peers: SyncPeers
  readonly intakes: Intakes
  readonly store: SyncStore | undefined
  readonly tell: (event: SyncProgress) => void
  /** Ends all sessions. */
  readonly signal: AbortSignal
}

/** How far ahead of ours a clock may be whose peer asks for a session. */
const AHEAD_MS = 60_000

type Tell = (event: SyncProgress) => void

/** Sessions with peers, on either side, from the first payload to the last message. */
export class Sessions {
  readonly #init: SessionsInit
  readonly #served = new Set<string>()

  constructor(init: SessionsInit) {
    this.#init = init
  }

  /**
   * Opens a session; once more in the older layout with a peer that does not answer to the newer.
   *
   * @throws {@link UnsupportedError}, {@link ConnectionError}, {@link TimeoutError}, {@link ProtocolViolationError},
   * {@link InvalidMessageError}, {@link LimitExceededError}, or the signal's own reason
   */
  async initiate(
    peerId: string,
    window: SyncWindow,
    options: { readonly signal: AbortSignal; readonly timeoutMs?: number; readonly tell: Tell }
  ): Promise<SyncResult> {
    const { settings, holdings, peers } = this.#init
    return await this.#run('initiator', peerId, window, options, async (run, signal) => {
      const index = await holdings.select(window, signal)
      for (const layout of ['topics', 'shards'] as const) {
        if (toScope(settings, layout) !== undefined) {
          const stream = await peers.open(peerId, RECONCILIATION_PROTOCOL, signal)
          const session = new SyncSession({
            index,
            filter: settings,
            window,
            layout,
            options: run.options
          })
          const frames = new Frames(stream, run.options.maxPayloadBytes)
          const found = await this.#talk(run, frames, session, session.open(), signal)
          if (found.outcome !== 'unanswered' || found.rounds > 0) {
            return found
          }
        }
      }
      const reason = 'the peer closed the stream without an answer'
      throw new ProtocolViolationError('no-answer', reason, peerId)
    })
  }

  /** Answers a session that a peer opened. Never rejects. */
  async respond(stream: SyncStream, { remotePeer }: Pick<Connection, 'remotePeer'>): Promise<void> {
    const { settings, holdings, tell, signal } = this.#init
    const peerId = remotePeer.toString()
    const frames = new Frames(stream, this.#options(false).maxPayloadBytes)
    if (this.#served.has(peerId) || this.#served.size >= settings.maxServedSessions) {
      await frames.close(signal)
      return
    }
    this.#served.add(peerId)
    try {
      const first = await withDeadline(
        'sync reply',
        { signal },
        settings.replyTimeoutMs,
        (within) => frames.read(within)
      )
      const nowMs = settings.now()
      const served = {
        timeStart: fromMilliseconds(nowMs - settings.servedRangeMs),
        timeEnd: fromMilliseconds(nowMs + AHEAD_MS)
      }
      const window = first && servedWindow(first, served, this.#options(false))
      if (window === undefined) {
        await frames.close(signal)
        return
      }
      await this.#run('responder', peerId, window, { signal, tell }, async (run, linked) => {
        const index = await holdings.select(window, linked)
        const session = new SyncSession({ index, filter: settings, window, options: run.options })
        return await this.#talk(run, frames, session, undefined, linked, first)
      })
    } catch (error) {
      await this.#leave(frames, error, signal)
    } finally {
      this.#served.delete(peerId)
    }
  }

  /** Takes what a peer transfers, as far as there is a session with it. Never rejects. */
  async receive(stream: SyncStream, { remotePeer }: Pick<Connection, 'remotePeer'>): Promise<void> {
    const { intakes, tell, signal } = this.#init
    const peerId = remotePeer.toString()
    const frames = new Frames(stream, MAX_TRANSFER_BYTES)
    try {
      const find = (): readonly Intake[] => {
        const found = intakes.of(peerId)
        if (found.length === 0) {
          throw new ProtocolViolationError('no-session', 'a transfer without a session', peerId)
        }
        return found
      }
      find()
      await receiveMessages(frames, find, this.#sink(peerId, tell), signal)
      await frames.close(signal)
    } catch (error) {
      frames.abort('the transfer is not taken')
      if (!signal.aborted) {
        tell({ type: 'sync:failed', detail: { peerId, error } })
      }
    }
  }

  async #run(
    role: SyncRole,
    peerId: string,
    window: SyncWindow,
    options: { readonly signal: AbortSignal; readonly timeoutMs?: number; readonly tell: Tell },
    reconcileOn: (run: Run, signal: AbortSignal) => Promise<Reconciliation>
  ): Promise<SyncResult> {
    const { settings, peers, intakes } = this.#init
    const { tell } = options
    const { maxMessages, maxMessageBytes: maxBytes } = settings
    const intake = intakes.add({ peerId, window, filter: settings, maxMessages, maxBytes, tell })
    try {
      return await withDeadline('sync', options, settings.timeoutMs, async (signal) => {
        tell({ type: 'sync:start', detail: { peerId, role, window } })
        const isReference = await peers.isReference(peerId)
        const run: Run = { intake, tell, options: this.#options(isReference), bytes: [0, 0] }
        const found = await reconcileOn(run, signal)
        const sent = await this.#move(intake, found, tell, signal)
        const [missing, unsent] = [intake.missing.length, found.toSend.length - sent]
        const result: SyncResult = {
          peerId,
          role,
          window,
          outcome:
            found.outcome === 'unanswered' || missing + unsent > 0 ? 'partial' : found.outcome,
          rounds: found.rounds,
          sentBytes: run.bytes[0],
          receivedBytes: run.bytes[1],
          received: intake.received,
          sent,
          missing,
          unsent
        }
        tell({ type: 'sync:end', detail: result })
        return result
      })
    } catch (error) {
      tell({ type: 'sync:failed', detail: { peerId, error } })
      throw error
    } finally {
      intakes.end(intake)
    }
  }

  /** Reconciles on a stream, and closes it: without an answer where the peer breaks the rules, as it knows no other sign. */
  async #talk(
    run: Run,
    frames: Frames,
    session: SyncSession,
    first: Uint8Array | undefined,
    signal: AbortSignal,
    opening?: Uint8Array
  ): Promise<Reconciliation> {
    const { replyTimeoutMs } = this.#init.settings
    const onRound = (rounds: number): void =>
      run.tell({ type: 'sync:round', detail: { peerId: run.intake.peerId, rounds } })
    try {
      const found = await reconcile(
        { frames, session, first, opening, replyTimeoutMs, onRound },
        signal
      )
      run.intake.settle(found.toFetch, found.outcome !== 'unanswered')
      await frames.close(signal)
      return found
    } catch (error) {
      await this.#leave(frames, error, signal)
      throw error
    } finally {
      run.bytes[0] += frames.sentBytes
      run.bytes[1] += frames.receivedBytes
    }
  }

  async #leave(frames: Frames, error: unknown, signal: AbortSignal): Promise<void> {
    if (isWakuLightError(error) && /INVALID_MESSAGE|VIOLATION|LIMIT/.test(error.code)) {
      await frames.close(signal)
    } else {
      frames.abort('the session failed')
    }
  }

  /** Sends what the peer lacks, and takes what we lack: first what it transfers, then from stores. */
  async #move(
    intake: Intake,
    { toSend }: Reconciliation,
    tell: Tell,
    signal: AbortSignal
  ): Promise<number> {
    const { settings, peers, store } = this.#init
    const { archive, sleep, transferIdleMs } = settings
    const { peerId } = intake
    const open = (): Promise<SyncStream> => peers.open(peerId, TRANSFER_PROTOCOL, signal)
    const [sent] = await Promise.all([
      sendMessages(open, archive, toSend, signal),
      intake.wait((idle) => sleep(transferIdleMs, idle), signal)
    ])
    if (store !== undefined && intake.missing.length > 0) {
      const others = peers.ids().filter((id) => id !== peerId)
      await fetchMessages(store, intake, [peerId, ...others], this.#sink(peerId, tell), signal)
    }
    return sent
  }

  #sink(peerId: string, tell: Tell): MessageSink {
    const { settings, holdings } = this.#init
    return {
      reject: (reason) => tell({ type: 'sync:rejected', detail: { peerId, reason } }),
      store: async (intake, messages, by) => {
        if (messages.length > 0) {
          const added = await settings.archive.putMany(messages)
          // the archive tells of them as well, maybe later
          holdings.add(messages)
          intake.stored(messages, added.length, by)
        }
      }
    }
  }

  #options(isReference: boolean): SyncSessionOptions {
    return {
      ...SYNC_SESSION_DEFAULTS,
      ...(isReference ? REFERENCE_NODE_OPTIONS : undefined),
      ...this.#init.settings.session
    }
  }
}

/** One session under way. */
interface Run {
  readonly intake: Intake
  readonly tell: Tell
  readonly options: SyncSessionOptions
  /** Sent and received. */
  readonly bytes: [number, number]
}
