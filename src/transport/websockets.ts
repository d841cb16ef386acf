import type { Transport, Upgrader } from '@libp2p/interface'
import type { webSockets } from '@libp2p/websockets'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ConnectionError } from '../errors.ts'
import { withSignals } from '../lib/deadline.ts'
import { toUrl } from './addresses.ts'
import { createSocket, type EndableSocket } from './socket.ts'
import { watchTraffic } from './traffic.ts'

type WebSockets = ReturnType<typeof webSockets>
/** What libp2p gives its transports for a dial. */
export type DialOptions = Parameters<Transport['dial']>[1]

/** The seam of @libp2p/websockets at which its sockets are made. */
interface WithConnect extends Transport {
  _connect(address: Multiaddr, options: { signal?: AbortSignal }): Promise<WebSocket>
}

/** A websocket transport that knows its sockets. */
export interface ClosingWebSockets {
  /** For libp2p's `transports`. */
  readonly transport: WebSockets
  /** Closes all sockets; those whose peer does not answer are ended after a while. */
  close(): Promise<void>
}

/**
 * The websocket transport of libp2p, with the opening and closing of sockets done here: the original (10.1.21) leaves a
 * socket open when a dial is aborted or the handshake after it fails, rejects with a bare event, and closes an aborted
 * connection with a code (1006) that the platform refuses, so that it stays open too.
 *
 * @param webSockets - makes the original
 */
export function closingWebSockets(webSockets: WebSockets): ClosingWebSockets {
  const sockets = new Set<EndableSocket>()
  return {
    transport: (components) => {
      const transport = webSockets(components) as WithConnect
      const dial = transport.dial.bind(transport)
      transport._connect = async (address, { signal }) => {
        signal?.throwIfAborted() // a socket that ends before anybody waits for it would reject to nobody
        const socket = createSocket(String(toUrl(address)))
        sockets.add(socket)
        socket.closed.then(
          () => sockets.delete(socket),
          () => undefined
        )
        return await opened(socket, signal)
      }
      transport.dial = async (address, options) => {
        const upgrade: Upgrader['upgradeOutbound'] = async (connection, init) => {
          try {
            const upgraded = await options.upgrader.upgradeOutbound(connection, init)
            watchTraffic(upgraded, connection)
            return upgraded
          } catch (error) {
            connection.abort(
              error instanceof Error ? error : new ConnectionError('handshake failed')
            )
            throw error
          }
        }
        return await dial(address, withUpgrade(options, upgrade))
      }
      return transport
    },
    close: async () => {
      const closing = [...sockets].map(async ({ socket, closed }) => {
        socket.close()
        await closed
      })
      await Promise.all(closing)
    }
  }
}

/** Dial options with which connections are upgraded another way. */
export function withUpgrade(
  options: DialOptions,
  upgradeOutbound: Upgrader['upgradeOutbound']
): DialOptions {
  const upgrader = Object.assign(Object.create(options.upgrader) as Upgrader, { upgradeOutbound })
  return { ...options, upgrader }
}

/** The socket once it is open; it is ended if it does not come to that. */
async function opened(
  { socket, end }: EndableSocket,
  signal: AbortSignal | undefined
): Promise<WebSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (event: Event): void =>
    reject(new ConnectionError(`${socket.url} did not open${detail(event)}`))
  socket.addEventListener('open', () => resolve())
  socket.addEventListener('error', fail)
  socket.addEventListener('close', fail)
  try {
    await withSignals([signal], () => promise)
    return socket
  } catch (error) {
    end()
    throw error
  }
}

/** Node says why in its error event; browsers say nothing. */
function detail(event: Event): string {
  const { message } = event as { message?: unknown }
  return typeof message === 'string' && message !== '' ? ` (${message})` : ''
}
