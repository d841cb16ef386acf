import type { Transport } from '@libp2p/interface'
import { webSockets } from '@libp2p/websockets'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ConnectionError } from '../errors.ts'

type WebSocketsComponents = Parameters<ReturnType<typeof webSockets>>[0]

/** The seam of @libp2p/websockets at which its sockets are made. */
interface WithConnect extends Transport {
  _connect(address: Multiaddr, options: { signal?: AbortSignal }): Promise<WebSocket>
}

/**
 * The websocket transport of libp2p, with the opening of a socket done here: the original leaves a socket open when a dial
 * is aborted, rejects with a bare event, and closes an aborted connection with a code (1006) that the platform refuses, so
 * that it stays open too.
 */
export function closingWebSockets(): (components: WebSocketsComponents) => Transport {
  return (components) => {
    const transport = webSockets()(components) as WithConnect
    transport._connect = async (address, { signal }) => await open(toUrl(address), signal)
    return transport
  }
}

/** The URL of a websocket multiaddr: host, port, and ws or wss. */
function toUrl(address: Multiaddr): string {
  const parts = address.getComponents()
  const [host] = parts
  const port = parts.find(({ name }) => name === 'tcp')?.value
  const secure = parts.some(({ name }) => name === 'wss' || name === 'tls')
  const authority = host?.name === 'ip6' ? `[${host.value}]` : host?.value
  return `${secure ? 'wss' : 'ws'}://${authority}${port === undefined ? '' : `:${port}`}`
}

async function open(url: string, signal: AbortSignal | undefined): Promise<WebSocket> {
  signal?.throwIfAborted()
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  const close = socket.close.bind(socket)
  socket.close = (code, reason) => (code === 1006 ? close() : close(code, reason))

  const listeners = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const options = { signal: listeners.signal }
  socket.addEventListener('open', () => resolve(), options)
  socket.addEventListener(
    'error',
    (event) => reject(new ConnectionError(`${url} did not open${detail(event)}`)),
    options
  )
  socket.addEventListener(
    'close',
    () => reject(new ConnectionError(`${url} did not open`)),
    options
  )
  signal?.addEventListener('abort', () => reject(signal.reason), options)
  try {
    await promise
    return socket
  } catch (error) {
    close()
    throw error
  } finally {
    listeners.abort()
  }
}

/** Node says why in its error event; browsers say nothing. */
function detail(event: Event): string {
  const { message } = event as { message?: unknown }
  return typeof message === 'string' && message !== '' ? ` (${message})` : ''
}
