// A TCP proxy that makes a node as far away as it is told, and notes when what passes the client's end of it.
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

/** Bytes at the client's end: going out, or coming in. */
export interface Passage {
  readonly way: 'out' | 'in'
  readonly bytes: number
  /** As of `performance.now()`. */
  readonly atMs: number
}

export interface DelayingProxy {
  readonly port: number
  /** What has passed since the last call. */
  takePassages(): Passage[]
  close(): Promise<void>
}

/** Passes everything on to a port of loopback, each piece after a fixed time. Connections are accepted without delay. */
export async function startDelayingProxy(
  port: number,
  oneWayDelayMs: number
): Promise<DelayingProxy> {
  const sockets = new Set<Socket>()
  let passages: Passage[] = []
  const note = (way: Passage['way'], bytes: number): void => {
    passages.push({ way, bytes, atMs: performance.now() })
  }
  const server = createServer((near) => {
    const far = createConnection({ port, host: '127.0.0.1' })
    for (const [from, to, way] of [
      [near, far, 'out'],
      [far, near, 'in']
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => undefined)
      from.on('data', (data) => {
        if (way === 'out') note(way, data.length)
        setTimeout(() => {
          if (way === 'in') note(way, data.length)
          to.write(data)
        }, oneWayDelayMs)
      })
      from.on('close', () => {
        sockets.delete(from)
        setTimeout(() => to.destroy(), oneWayDelayMs)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    takePassages: () => {
      const taken = passages
      passages = []
      return taken
    },
    close: async () => {
      for (const socket of sockets) {
        socket.destroy()
      }
      server.close()
      await once(server, 'close')
    }
  }
}
