import type {
  Connection,
  ConnectionEncrypter,
  Libp2pEvents,
  MultiaddrConnection,
  PeerId,
  PeerStore,
  SecuredConnection,
  Transport,
  TypedEventTarget,
  Upgrader
} from '@libp2p/interface'
import type { webSockets } from '@libp2p/websockets'
import type { Multiaddr } from '@multiformats/multiaddr'
import { withDeadline } from '../lib/deadline.ts'
import { setAhead } from './ahead.ts'
import { AheadConnection } from './ahead-connection.ts'
import { Echo, isBeginning, toHello } from './echo.ts'
import { SpokenProtocols } from './spoken-protocols.ts'
import { type DialOptions, withUpgrade } from './websockets.ts'

type WebSockets = ReturnType<typeof webSockets>
type UpgradeOptions = Parameters<Upgrader['upgradeOutbound']>[1]

/** What libp2p gives its transports, as far as it is needed here. */
type Components = Parameters<WebSockets>[0] & {
  readonly peerStore: Pick<PeerStore, 'get' | 'patch'>
  readonly events: TypedEventTarget<Libp2pEvents>
}

/** How to build {@link SendAhead}. */
export interface SendAheadInit {
  /** For one handshake, in milliseconds: what is left of a dial is for the plain way. */
  readonly handshakeTimeoutMs: number
}

/** One dial whose handshake is sent ahead. */
interface Attempt {
  readonly address: Multiaddr
  readonly upgrader: Upgrader
  /** True once the handshake has failed in a way that the plain one may not. */
  failed: boolean
  connection?: AheadConnection
}

/**
 * Sends the negotiation of the encrypter, the muxer and each outgoing stream ahead. As it is, libp2p waits for the peer's echo
 * of each of them: a cold request takes more than six round trips, and each later one two. This way it is three, and one.
 *
 * It wraps a transport and an encrypter of one libp2p. What the peer does not bear is done again the plain way: a handshake at
 * once, and streams for the rest of the connection. Incoming streams are left alone.
 *
 * @see docs/round-trips.md
 */
export class SendAhead {
  readonly #init: SendAheadInit
  /** By what carries them. */
  readonly #attempts = new WeakMap<object, Attempt>()
  /** Addresses at which the plain way is known to be needed. */
  readonly #plain = new Set<string>()
  /** By peer id. */
  readonly #spoken = new Map<string, SpokenProtocols>()
  #peerStore: Components['peerStore'] | undefined

  constructor(init: SendAheadInit) {
    this.#init = init
  }

  /** For libp2p's `transports`. */
  transport(create: WebSockets): (components: Components) => Transport {
    return (components) => {
      this.#peerStore = components.peerStore
      components.events.addEventListener('peer:identify', ({ detail }) => {
        this.#spokenBy(detail.peerId).list(detail.protocols)
      })
      const transport = create(components)
      const dial = transport.dial.bind(transport)
      transport.dial = async (address, options) => await this.#dial(dial, address, options)
      return transport
    }
  }

  /** For libp2p's `connectionEncrypters`. */
  encrypter<T>(
    create: (components: T) => ConnectionEncrypter
  ): (components: T) => ConnectionEncrypter {
    return (components) => {
      const encrypter = create(components)
      const secure = encrypter.secureOutbound.bind(encrypter)
      encrypter.secureOutbound = async (connection, options) => {
        const attempt = this.#attempts.get(connection)
        try {
          const secured = await secure(connection, options)
          return attempt === undefined ? secured : this.#withMuxer(attempt, secured)
        } catch (error) {
          if (attempt !== undefined) {
            // somebody else answers there; asking again changes nothing
            attempt.failed = (error as Error).name !== 'UnexpectedPeerError'
          }
          throw error
        }
      }
      return encrypter
    }
  }

  async #dial(
    dial: Transport['dial'],
    address: Multiaddr,
    options: DialOptions
  ): Promise<Connection> {
    const key = address.toString()
    if (this.#plain.has(key)) {
      return await dial(address, options)
    }
    const attempt: Attempt = { address, upgrader: options.upgrader, failed: false }
    const upgrade = (connection: MultiaddrConnection, init: UpgradeOptions): Promise<Connection> =>
      this.#upgrade(attempt, connection, init)
    try {
      return await dial(address, withUpgrade(options, upgrade))
    } catch (error) {
      if (!attempt.failed || options.signal.aborted) {
        throw error
      }
    }
    const connection = await dial(address, options)
    this.#plain.add(key)
    return connection
  }

  async #upgrade(
    attempt: Attempt,
    connection: MultiaddrConnection,
    init: UpgradeOptions
  ): Promise<Connection> {
    const { upgrader } = attempt
    this.#attempts.set(connection, attempt)
    attempt.failed = true
    sendEncrypterAhead(upgrader, connection)
    const upgraded = await withDeadline(
      'handshake',
      { signal: init.signal },
      this.#init.handshakeTimeoutMs,
      async (signal) => await upgrader.upgradeOutbound(connection, { ...init, signal })
    )
    if (attempt.connection !== undefined) {
      setAhead(upgraded, attempt.connection)
    }
    return upgraded
  }

  /** The muxer, agreed in the handshake or sent ahead behind it, with streams that are negotiated ahead. */
  #withMuxer(attempt: Attempt, secured: SecuredConnection): SecuredConnection {
    const { connection, remotePeer } = secured
    const [first] = attempt.upgrader.getStreamMuxers().values()
    const factory = secured.streamMuxer ?? first
    if (factory === undefined) {
      return secured
    }
    if (secured.streamMuxer === undefined) {
      const echo = new Echo(connection, factory.protocol, (error) => {
        if (error !== undefined) {
          this.#plain.add(attempt.address.toString())
          attempt.connection?.abort(error)
          connection.abort(error)
        }
      })
      echo.send()
    }
    const streamMuxer = {
      ...factory,
      createStreamMuxer: () => {
        const muxer = factory.createStreamMuxer(connection)
        attempt.connection = new AheadConnection({
          muxer,
          secured: connection,
          spoken: this.#spokenBy(remotePeer),
          forget: (protocol) => this.#forget(remotePeer, protocol),
          now: Date.now
        })
        return muxer
      }
    }
    return { ...secured, streamMuxer }
  }

  #spokenBy(peerId: PeerId): SpokenProtocols {
    const key = peerId.toString()
    const spoken = this.#spoken.get(key) ?? new SpokenProtocols()
    this.#spoken.set(key, spoken)
    return spoken
  }

  /** libp2p notes that a peer speaks what it has opened a stream for, which is too early here. */
  #forget(peerId: PeerId, protocol: string): void {
    const undo = async (): Promise<void> => {
      const peer = await this.#peerStore?.get(peerId)
      const protocols = peer?.protocols.filter((known) => known !== protocol)
      await this.#peerStore?.patch(peerId, { protocols })
    }
    undo().catch(() => undefined)
  }
}

/** Lets libp2p read the echo of its first choice as soon as it has asked for it, and checks the real one when it comes. */
function sendEncrypterAhead(upgrader: Upgrader, connection: MultiaddrConnection): void {
  const [protocol = ''] = upgrader.getConnectionEncrypters().keys()
  const hello = toHello(protocol)
  const { send } = connection
  const { onData } = connection as MultiaddrConnection & { onData(data: Uint8Array): void }
  connection.send = (data) => {
    connection.send = send
    const isHello = data.byteLength === hello.length && isBeginning(data.subarray(), hello)
    if (isHello) {
      const echo = new Echo(connection, protocol, (error) => {
        if (error !== undefined) {
          connection.abort(error)
        }
      })
      echo.sent()
    }
    const canSendMore = connection.send(data)
    if (isHello) {
      queueMicrotask(() => onData.call(connection, hello))
    }
    return canSendMore
  }
}
