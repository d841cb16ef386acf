import type { OpenSocket, openSocket as openInBrowser } from './open-socket.browser.ts'

interface Destroyable {
  destroy(): void
}

interface Dispatcher {
  dispatch(options: unknown, handler: object): unknown
}

/**
 * Opens a websocket. Node's `WebSocket` (undici) takes a dispatcher, whose handler is given the socket when the upgrade is done.
 * Bundles for browsers get `open-socket.browser.ts` in place of this file (`browser` in package.json).
 */
export const openSocket: typeof openInBrowser = (url): OpenSocket => {
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
          if (/^on(Request)?Upgrade$/.test(String(name))) {
            seen.push(...args.filter(isDestroyable))
          }
          return method.apply(handler, args) as unknown
        }
  }
  const dispatch = (options: unknown, handler: Record<string, unknown>): unknown =>
    dispatcher?.dispatch(options, new Proxy(handler, { get }))
  return {
    socket: open(url, dispatcher && { dispatcher: { dispatch } }),
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
