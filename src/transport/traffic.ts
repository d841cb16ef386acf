import type { Connection, MessageStream } from '@libp2p/interface'

interface Heard {
  atMs: number
}

const HEARD = /* @__PURE__ */ new WeakMap<Connection, Heard>()

/** Keeps in mind when something came on a connection; to be called when it is up, as what comes goes to all who listen by then. */
export function watchTraffic(connection: Connection, wire: MessageStream): void {
  const heard = { atMs: performance.now() }
  HEARD.set(connection, heard)
  wire.addEventListener('message', () => {
    heard.atMs = performance.now()
  })
}

/** When something came the last time, on the clock of `performance.now`; 0 where nobody watches. */
export function heardAtMs(connection: Connection): number {
  return HEARD.get(connection)?.atMs ?? 0
}
