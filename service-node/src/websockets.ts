import type { EventEmitter } from 'node:events'
import type { Server, Socket } from 'node:net'
import type { Listener, Transport } from '@libp2p/interface'
import { webSockets } from '@libp2p/websockets'

type WebSockets = ReturnType<typeof webSockets>

/** Within which a connection must have become a websocket, in milliseconds. */
const UPGRADE_TIMEOUT_MS = 10_000

/** The seams of the listener of @libp2p/websockets. */
interface WebSocketListener extends Listener {
  readonly server: Server
  onWsServerConnection(socket: EventEmitter, request: unknown): void
}

/**
 * The websocket transport of libp2p, whose listener (10.1.21) is mended here. It does not listen to errors of its sockets, so
 * that a frame that is none, from anybody, would end the process; `ws` closes such a socket by itself. And it does not know
 * of a connection before its first byte, so that a silent one would stay open for ever, and closing would wait for it.
 */
export function carefulWebSockets(init: Parameters<typeof webSockets>[0]): WebSockets {
  const create = webSockets(init)
  return (components) => {
    const transport: Transport = create(components)
    const createListener = transport.createListener.bind(transport)
    transport.createListener = (options) => careful(createListener(options) as WebSocketListener)
    return transport
  }
}

function careful(listener: WebSocketListener): Listener {
  const sockets = new Set<Socket>()
  listener.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // `ws` takes the timeout back.
    socket.setTimeout(UPGRADE_TIMEOUT_MS, () => socket.destroy())
  })
  const onConnection = listener.onWsServerConnection.bind(listener)
  listener.onWsServerConnection = (socket, request) => {
    socket.on('error', () => undefined)
    onConnection(socket, request)
  }
  const close = listener.close.bind(listener)
  listener.close = async () => {
    const closing = close()
    for (const socket of sockets) {
      socket.destroy()
    }
    await closing
  }
  return listener
}
