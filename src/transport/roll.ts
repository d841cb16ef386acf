import type { Connection } from '@libp2p/interface'
import type { PeerFailure } from '../errors.ts'
import { withDeadline } from '../lib/deadline.ts'
import { Listeners } from '../lib/listeners.ts'
import { until } from '../lib/until.ts'
import type { Links } from './links.ts'
import type { Peer } from './peer.ts'
import type { Dialer, RequestQueue } from './peers-options.ts'
import { ranked } from './ranking.ts'
import { type Service, servicesOf } from './services.ts'

/** How long a node may take to say what it speaks, in milliseconds. */
const IDENTIFY_TIMEOUT_MS = 5_000

/** The service nodes: which of them are connected, what they say of themselves, and in which order to try them. */
export class Roll {
  readonly #peers: readonly Peer[]
  readonly #links: Pick<Links, 'openTo'>
  readonly #listeners = new Listeners<void>()

  constructor(peers: readonly Peer[], links: Pick<Links, 'openTo'>) {
    this.#peers = peers
    this.#links = links
  }

  /** Takes note of what comes and goes, until the signal is aborted. */
  listen(libp2p: Dialer, signal: AbortSignal): void {
    signal.addEventListener('abort', () => this.#listeners.clear())
    libp2p.addEventListener(
      'peer:identify',
      ({ detail }) => {
        const peer = this.ownerOf(detail.connection)
        if (peer !== undefined) {
          peer.protocols = detail.protocols
          this.changed()
        }
      },
      { signal }
    )
    libp2p.addEventListener('connection:open', () => this.changed(), { signal })
    libp2p.addEventListener(
      'connection:close',
      ({ detail }) => {
        const peer = this.ownerOf(detail)
        if (peer !== undefined && this.#links.openTo(peer) === undefined) {
          peer.protocols = undefined // it may be another version, or another node, when it is back
        }
        this.changed()
      },
      { signal }
    )
  }

  /** Whose connection it is. */
  ownerOf(connection: Connection): Peer | undefined {
    return this.#peers.find((candidate) => candidate.owns(connection))
  }

  /** The node of that peer id, or of that address. */
  named(peerId: string): Peer | undefined {
    return this.#peers.find((candidate) => candidate.isCalled(peerId))
  }

  /** See {@link ServicePeers.candidates}. */
  candidates(protocols: readonly string[] = []): readonly Peer[] {
    return ranked(this.#peers, protocols, (peer) => this.#links.openTo(peer) !== undefined)
  }

  /** Those that are not out of the question. */
  get usable(): readonly Peer[] {
    return this.#peers.filter(({ refusal }) => refusal === undefined)
  }

  /** See {@link ManagedServicePeers.isConnected}. */
  get isConnected(): boolean {
    return this.connected.length > 0
  }

  /** Those of them that are connected. */
  get connected(): readonly Peer[] {
    return this.usable.filter((peer) => this.#links.openTo(peer) !== undefined)
  }

  /** See {@link ManagedServicePeers.isSettled}. */
  get isSettled(): boolean {
    const { connected, usable, services = [] } = this
    return connected.length > 0 && (services.length > 0 || connected.length === usable.length)
  }

  /** See {@link ManagedServicePeers.services}. */
  get services(): readonly Service[] | undefined {
    const told = this.connected.map(({ protocols }) => protocols)
    const services = servicesOf(told.flatMap((protocols) => protocols ?? []))
    return services.length === 0 && (told.length === 0 || told.includes(undefined))
      ? undefined
      : services
  }

  /** See {@link ManagedServicePeers.refusals}. */
  get refusals(): readonly PeerFailure[] | undefined {
    const refused = this.#peers.flatMap(({ peerId, refusal: error }) =>
      error ? { peerId, error } : []
    )
    return refused.length === this.#peers.length ? refused : undefined
  }

  /** See {@link ManagedServicePeers.queues}. */
  get queues(): readonly RequestQueue[] {
    return this.#peers.flatMap(({ peerId, services }) =>
      Array.from(services, ([service, { turnstile }]) => {
        const { running, waiting } = turnstile
        return { peerId, service, running, waiting }
      }).filter(({ running }) => running > 0)
    )
  }

  /** See {@link ManagedServicePeers.onChange}. */
  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** To be called when one of these may have changed. */
  changed(): void {
    this.#listeners.tell()
  }

  /** What a node says that it speaks, once it says so; nothing if its connection ends before. */
  async identified(
    peer: Peer,
    connection: Connection,
    signal: AbortSignal
  ): Promise<readonly string[]> {
    const isTold = (): boolean => peer.protocols !== undefined || connection.status !== 'open'
    await withDeadline('identify', { signal }, IDENTIFY_TIMEOUT_MS, (inner) =>
      until(this, isTold, inner)
    )
    return peer.protocols ?? []
  }
}
