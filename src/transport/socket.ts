import { openSocket } from './open-socket.ts'

/** A websocket that can be ended without the peer's help, as far as the platform allows. */
export interface EndableSocket {
  readonly socket: WebSocket
  /** Settles when the socket is closed. */
  readonly closed: Promise<void>
  /** Ends it at once. */
  end(): void
}

/** How long a peer may take to answer that the socket is to be closed, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1_000

/** What libp2p closes an aborted connection with; it may be received, but not sent. */
const ABNORMAL_CLOSURE = 1006

/**
 * Opens a websocket. Browsers give a peer that does not answer a close some seconds and then drop it; Node waits without
 * limit and does not exit (seen with 22 and 24). There, the socket underneath is destroyed.
 */
export function createSocket(url: string): EndableSocket {
  const { socket, destroy } = openSocket(url)
  socket.binaryType = 'arraybuffer'
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const close = socket.close.bind(socket)
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = (): void => {
    close()
    destroy()
    resolve()
  }
  socket.addEventListener('close', () => {
    clearTimeout(timer)
    resolve()
  })
  socket.close = (code, reason) => {
    if (code === ABNORMAL_CLOSURE) {
      end()
    } else if (socket.readyState < WebSocket.CLOSING) {
      timer = setTimeout(end, CLOSE_TIMEOUT_MS)
      close(code, reason)
    }
  }
  return { socket, closed, end }
}
