import { createHash } from 'node:crypto'
import { createConnection, createServer, type Server, type Socket } from 'node:net'

/** A TCP server that counts its sockets. */
export interface RawServer {
  readonly port: number
  /** How many sockets are open now. */
  readonly open: () => number
  /** How many were opened since the start. */
  readonly accepted: () => number
  /** Resolves once a number of sockets is open. */
  until(open: number): Promise<void>
  stop(): Promise<void>
}

/** A proxy whose link can die without being closed. */
export interface Proxy extends RawServer {
  /** From now on nothing passes, and nothing is closed. */
  freeze(): void
}

const running = new Set<RawServer>()

/** Accepts TCP connections and says nothing; with `websocket`, it takes part in the upgrade first. */
export async function startBlackHole(mode: 'tcp' | 'websocket' = 'tcp'): Promise<RawServer> {
  return await start((socket) => {
    // what is not read hides that the other side has closed
    socket.resume()
    if (mode === 'websocket') {
      socket.once('data', (request) => {
        const key = /sec-websocket-key: (\S+)/i.exec(request.toString())?.[1] ?? ''
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
            `Sec-WebSocket-Accept: ${accept.digest('base64')}\r\n\r\n`
        )
      })
    }
  })
}

/** Passes everything on to a port on loopback, in both directions. */
export async function startProxy(port: number): Promise<Proxy> {
  const links = new Set<[Socket, Socket]>()
  let frozen = false
  const server = await start((socket) => {
    const far = createConnection({ port, host: '127.0.0.1' })
    links.add([socket, far])
    for (const [from, to] of [
      [socket, far],
      [far, socket]
    ] as const) {
      from.on('data', (data) => frozen || to.write(data))
      from.on('error', () => undefined)
      from.on('close', () => frozen || to.destroy())
    }
  })
  const proxy = {
    ...server,
    freeze: () => {
      frozen = true
    },
    stop: async () => {
      running.delete(proxy)
      for (const [, far] of links) {
        far.destroy()
      }
      await server.stop()
    }
  }
  running.delete(server)
  running.add(proxy)
  return proxy
}

/** A port of loopback on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = await start(() => undefined)
  await server.stop()
  return server.port
}

/** For `afterEach`. */
export async function stopRawServers(): Promise<void> {
  await Promise.all(Array.from(running, (server) => server.stop()))
}

async function start(onSocket: (socket: Socket) => void): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const waiting = new Set<() => void>()
  const changed = (): void => {
    for (const check of waiting) {
      check()
    }
  }
  let accepted = 0
  const server: Server = createServer((socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      sockets.delete(socket)
      changed()
    })
    onSocket(socket)
    changed()
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  const raw: RawServer = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    open: () => sockets.size,
    accepted: () => accepted,
    until: async (open) => {
      const reached = Promise.withResolvers<void>()
      const check = (): void => {
        if (sockets.size === open) {
          waiting.delete(check)
          reached.resolve()
        }
      }
      waiting.add(check)
      check()
      await reached.promise
    },
    stop: async () => {
      running.delete(raw)
      for (const socket of sockets) {
        socket.destroy()
      }
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      await closed.promise
    }
  }
  running.add(raw)
  return raw
}
