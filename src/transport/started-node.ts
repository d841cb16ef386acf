import type { Libp2p } from '@libp2p/interface'
import { ClosedError, hasErrorCode, NoUsablePeerError, type PeerFailure } from '../errors.ts'
import { delay, withDeadline } from '../lib/deadline.ts'
import { Listeners } from '../lib/listeners.ts'
import { onWake } from '../lib/wake.ts'
import type { NetworkConfig } from '../message/topics.ts'
import type { CallOptions } from '../options.ts'
import { Keeper } from './keeper.ts'
import { Liveness } from './liveness.ts'
import { type ConnectionChange, type LightNode, NODE_DEFAULTS } from './node-options.ts'
import type { ManagedServicePeers, RequestQueue } from './peers-options.ts'
import { ping } from './ping.ts'
import type { ServicePeer, StreamHost } from './service-peers.ts'
import { assertService, type Service } from './services.ts'
import { isSameState, type NodeState, stateOf } from './state.ts'
import { heardAtMs, onRequest } from './traffic.ts'
import type { ClosingWebSockets } from './websockets.ts'

/** What a light node is made of. */
export interface StartedInit {
  readonly libp2p: Libp2p
  readonly servicePeers: ManagedServicePeers
  readonly sockets: ClosingWebSockets
  readonly pingIntervalMs: number
  readonly pingTimeoutMs: number
  readonly minRedialMs: number
  readonly maxRedialMs: number
}

/** A light node over a libp2p that has started. */
export function toLightNode(init: StartedInit): LightNode {
  return new StartedLightNode(init)
}

class StartedLightNode implements LightNode {
  readonly servicePeers: ManagedServicePeers
  readonly peerId: string
  readonly streamHost: StreamHost
  readonly #libp2p: Libp2p
  readonly #sockets: ClosingWebSockets
  readonly #listeners = new Listeners<ConnectionChange>()
  readonly #stateListeners = new Listeners<NodeState>()
  readonly #liveness: Liveness
  readonly #keeper: Keeper
  readonly #keeping: Promise<unknown>
  readonly #ending = new AbortController()
  #connected: ReadonlySet<string> = new Set()
  #state: NodeState
  #isTelling = false
  #closing: Promise<void> | undefined

  constructor(init: StartedInit) {
    const { libp2p, servicePeers, sockets } = init
    this.#libp2p = libp2p
    this.streamHost = libp2p
    this.#sockets = sockets
    this.servicePeers = servicePeers
    this.peerId = libp2p.peerId.toString()
    this.#liveness = new Liveness({
      intervalMs: init.pingIntervalMs,
      timeoutMs: init.pingTimeoutMs,
      ping,
      heardAtMs
    })
    this.#keeper = new Keeper({
      peers: servicePeers,
      onChange: this.#onState,
      minBackoffMs: init.minRedialMs,
      maxBackoffMs: init.maxRedialMs,
      random: Math.random,
      sleep: delay,
      now: Date.now
    })
    this.#state = this.state
    const { signal } = this.#ending
    libp2p.addEventListener('connection:open', ({ detail: connection }) => {
      this.#liveness.watch(connection)
      onRequest(connection, (bytes) => this.#liveness.requested(connection, bytes))
      this.#onChange()
    })
    libp2p.addEventListener('connection:close', this.#onChange)
    servicePeers.onChange(this.#onState)
    onWake(() => this.reconnect(), signal)
    globalThis.addEventListener?.(
      'offline',
      () => {
        this.#liveness.check() // links within the machine live on
        this.#onState()
      },
      { signal }
    )
    this.#keeping = this.#keeper.run(signal).catch(() => undefined)
  }

  get state(): NodeState {
    return this.#ending.signal.aborted
      ? { status: 'closed', services: [] }
      : stateOf({ peers: this.servicePeers, keeper: this.#keeper })
  }

  get queues(): readonly RequestQueue[] {
    return this.servicePeers.queues
  }

  get connectedPeers(): readonly string[] {
    const open = this.#libp2p.getConnections().filter(({ status }) => status === 'open')
    return [...new Set(open.map(({ remotePeer }) => remotePeer.toString()))]
  }

  async network(options: CallOptions = {}): Promise<NetworkConfig> {
    return await withDeadline('network', options, NODE_DEFAULTS.networkTimeoutMs, (signal) =>
      this.servicePeers.network(signal)
    )
  }

  async ready(service: Service, options: CallOptions = {}): Promise<ServicePeer> {
    assertService(service)
    const failures = new Map<string, PeerFailure>()
    const onFailure = (failure: PeerFailure): void => {
      failures.set(failure.peerId, failure)
    }
    try {
      return await withDeadline('ready', options, NODE_DEFAULTS.readyTimeoutMs, async (signal) => {
        for (let rounds = 0; ; rounds++) {
          const { waking } = this.#keeper
          try {
            return await this.servicePeers.find(service, signal, onFailure)
          } catch (error) {
            const { refusals } = this.servicePeers
            if (refusals !== undefined || !hasErrorCode(error, 'ERR_NO_USABLE_PEER')) {
              throw error
            }
          }
          const isThere = (): boolean => this.servicePeers.services?.includes(service) === true
          const pauseMs = this.#keeper.backoffMs(rounds)
          if (isThere() || (await this.#keeper.pause(pauseMs, isThere, waking, signal))) {
            rounds = -1
          }
        }
      })
    } catch (error) {
      if (!hasErrorCode(error, 'ERR_TIMEOUT') || error.operation !== 'ready') {
        throw error
      }
      const { servicePeers } = this
      throw new NoUsablePeerError(
        servicePeers.candidates().map(({ peerId }) => failures.get(peerId) ?? { peerId, error })
      )
    }
  }

  reconnect(): void {
    this.#liveness.check()
    this.servicePeers.redial()
    this.#keeper.wake()
    this.#onState()
  }

  onConnectionChange(listener: (change: ConnectionChange) => void): () => void {
    return this.#listeners.add(listener)
  }

  onStateChange(listener: (state: NodeState) => void): () => void {
    return this.#stateListeners.add(listener)
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#closing ??= this.#close()
    this.#onState()
    await this.#closing
  }

  async #close(): Promise<void> {
    await this.servicePeers.close()
    await this.#keeping
    // A graceful close waits for the peer, which may be gone.
    const timer = setTimeout(() => this.#abort(), NODE_DEFAULTS.closeTimeoutMs)
    try {
      await this.#libp2p.stop()
    } finally {
      clearTimeout(timer)
      this.#abort()
      await this.#sockets.close()
      this.#listeners.clear()
      this.#stateListeners.clear()
    }
  }

  #abort(): void {
    for (const connection of this.#libp2p.getConnections()) {
      connection.abort(new ClosedError())
    }
  }

  readonly #onState = (): void => {
    if (this.#isTelling) {
      return // a listener changes things: all are told of that when all have been told of this
    }
    this.#isTelling = true
    for (let { state } = this; !isSameState(this.#state, state); { state } = this) {
      this.#state = state
      this.#stateListeners.tell(state)
    }
    this.#isTelling = false
  }

  /** Events come for each connection, and for one that breaks more than once; changes are told once a peer. */
  readonly #onChange = (): void => {
    const before = this.#connected
    const now = new Set(this.connectedPeers)
    this.#connected = now
    for (const peerId of new Set([...before, ...now])) {
      const connected = now.has(peerId)
      if (before.has(peerId) !== connected) {
        this.#listeners.tell({ peerId, connected })
      }
    }
  }
}
