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
  const tap = tapSockets()
  const socket = open(url, tap.options)
  socket.binaryType = 'arraybuffer'
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const close = socket.close.bind(socket)
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = (): void => {
    close()
    tap.destroy()
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

interface Tap {
  /** Second argument for Node's `WebSocket`; undefined elsewhere. */
  readonly options: object | undefined
  /** Destroys the sockets that were seen. */
  destroy(): void
}

interface Destroyable {
  destroy(): void
}

interface Dispatcher {
  dispatch(options: unknown, handler: object): unknown
}

/** Node's `WebSocket` (undici) takes a dispatcher, whose handler is given the socket when the upgrade is done. */
function tapSockets(): Tap {
  const global = globalThis as unknown as Record<symbol, Dispatcher | undefined>
  // They are there once undici is loaded, which naming its WebSocket does.
  const [dispatcher] =
    typeof WebSocket === 'function'
      ? [1, 2].flatMap((version) => global[Symbol.for(`undici.globalDispatcher.${version}`)] ?? [])
      : []
  const seen: Destroyable[] = []
  const get = (handler: Record<string, unknown>, name: string): unknown => {
    const method = handler[name]
    return typeof method !== 'function'
      ? method
      : (...args: unknown[]): unknown => {
          if (/^on(Request)?Upgrade$/.test(name)) {
            seen.push(...args.filter(isDestroyable))
          }
          return method.apply(handler, args) as unknown
        }
  }
  const dispatch = (options: unknown, handler: Record<string, unknown>): unknown =>
    dispatcher?.dispatch(options, new Proxy(handler, { get }))
  return {
    options: dispatcher && { dispatcher: { dispatch } },
    destroy: () => {
      for (const socket of seen) {
        socket.destroy()
      }
    }
  }
}

function isDestroyable(value: unknown): value is Destroyable {
  return typeof (value as Partial<Destroyable> | undefined)?.destroy === 'function'
}

/** Another implementation of `WebSocket`, put in place of Node's, takes no dispatcher. */
function open(url: string, options: object | undefined): WebSocket {
  try {
    return new WebSocket(url, options as unknown as string[])
  } catch {
    return new WebSocket(url)
  }
}
