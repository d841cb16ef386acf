import type { Connection, MessageStream } from '@libp2p/interface'

interface Traffic {
  heardAtMs: number
  onRequest?: (bytes: number) => void
}

const TRAFFIC = /* @__PURE__ */ new WeakMap<Connection, Traffic>()

/** Keeps in mind when something came on a connection; to be called when it is up, as what comes goes to all who listen by then. */
export function watchTraffic(connection: Connection, wire: MessageStream): void {
  const traffic = trafficOf(connection)
  traffic.heardAtMs = performance.now()
  wire.addEventListener('message', () => {
    traffic.heardAtMs = performance.now()
  })
}

/** When something came the last time, on the clock of `performance.now`; 0 where nobody watches. */
export function heardAtMs(connection: Connection): number {
  return TRAFFIC.get(connection)?.heardAtMs ?? 0
}

/** Has somebody called for each request on a connection, with its length in bytes. */
export function onRequest(connection: Connection, listener: (bytes: number) => void): void {
  trafficOf(connection).onRequest = listener
}

/** To be called when a request has left, to which there should be an answer. */
export function requested(connection: Connection, bytes: number): void {
  TRAFFIC.get(connection)?.onRequest?.(bytes)
}

function trafficOf(connection: Connection): Traffic {
  const traffic = TRAFFIC.get(connection) ?? { heardAtMs: 0 }
  TRAFFIC.set(connection, traffic)
  return traffic
}
