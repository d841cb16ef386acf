import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

/** A proxy that lets things pass in turns, so that round trips can be counted. */
export interface TurnProxy {
  readonly port: number
  /** How often bytes have gone from the node to the client, all that was there at a time, since the last call. */
  takeTurns(): number
}

/**
 * Both ends have nothing more to say if neither said anything in so many looks, so many milliseconds apart. All is in one
 * process: where it stalls, what it was about to say is said before the next look, and one long pause would have passed.
 */
const QUIET_LOOKS = 8
const LOOK_MS = 5

const running = new Set<() => Promise<void>>()

/**
 * Holds what comes, and passes it on only when nothing more comes: first all that clients said, then all that the node said to
 * it. So each turn is one round trip, however long it takes.
 */
export async function startTurnProxy(port: number): Promise<TurnProxy> {
  const sockets = new Set<Socket>()
  let held: { readonly way: 'out' | 'in'; readonly pass: () => void }[] = []
  let turns = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const turn = (): void => {
    const way = held.some((piece) => piece.way === 'out') ? 'out' : 'in'
    const passing = held.filter((piece) => piece.way === way)
    held = held.filter((piece) => piece.way !== way)
    if (way === 'in' && passing.length > 0) {
      turns++
    }
    for (const { pass } of passing) {
      pass()
    }
    if (held.length > 0) {
      wait()
    }
  }
  const wait = (): void => {
    let looks = 0
    const look = (): void => {
      clearTimeout(timer)
      timer = setTimeout(++looks < QUIET_LOOKS ? look : turn, LOOK_MS)
    }
    look()
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
        held.push({ way, pass: () => to.write(data) })
        wait()
      })
      from.on('close', () => to.destroy())
    }
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  running.add(async () => {
    clearTimeout(timer)
    for (const socket of sockets) {
      socket.destroy()
    }
    const closed = Promise.withResolvers<void>()
    server.close(() => closed.resolve())
    await closed.promise
  })
  return {
    port: (server.address() as AddressInfo).port,
    takeTurns: () => {
      const taken = turns
      turns = 0
      return taken
    }
  }
}

/** For `afterEach`. */
export async function stopTurnProxies(): Promise<void> {
  await Promise.all(Array.from(running, (stop) => stop()))
  running.clear()
}
