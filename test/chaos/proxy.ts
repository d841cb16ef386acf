import { once } from 'node:events'
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket
} from 'node:net'
import type { Random } from '../fuzz/random.ts'

/** What a proxy did to the connections that went through it. */
export interface Mischief {
  connections: number
  refused: number
  cut: number
  corrupted: number
  stalled: number
  blackholed: number
}

/** How likely each fault is on one connection, 0 to 1. */
export interface Weather {
  readonly refuse: number
  readonly cut: number
  readonly corrupt: number
  readonly stall: number
  readonly blackhole: number
  /** Longest delay of each way, in milliseconds. */
  readonly maxDelayMs: number
}

/** Within how many bytes of a connection a fault comes: after the handshakes, mostly. */
const FAULT_BYTES = 12_000

/** Longest stall, in milliseconds. */
const MAX_STALL_MS = 400

type Way = 'out' | 'in'

/** What is to happen on one connection, and after how many bytes of one way. */
interface Fate {
  readonly way: Way
  readonly cutAt: number
  readonly corruptAt: number
  readonly stallAt: number
  readonly stallMs: number
  readonly blackholeAt: number
  readonly delayMs: Readonly<Record<Way, number>>
}

/** A TCP proxy before one service node that does to connections what its seed says, until it is told to be honest. */
export class ChaosProxy {
  readonly mischief: Mischief
  readonly #server: Server
  readonly #target: () => number | undefined
  readonly #random: Random
  readonly #weather: Weather
  readonly #links = new Set<Link>()
  #isHonest = false
  #isOut = false

  private constructor(
    server: Server,
    target: () => number | undefined,
    random: Random,
    weather: Weather
  ) {
    this.#server = server
    this.#target = target
    this.#random = random
    this.#weather = weather
    this.mischief = { connections: 0, refused: 0, cut: 0, corrupted: 0, stalled: 0, blackholed: 0 }
  }

  /** @param target - the node's port as of now; undefined while it is down */
  static async start(
    target: () => number | undefined,
    random: Random,
    weather: Weather
  ): Promise<ChaosProxy> {
    const server = createServer((near) => proxy.#accept(near))
    const proxy = new ChaosProxy(server, target, random, weather)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Sockets of clients that are open now. */
  get openCount(): number {
    return [...this.#links].filter(({ isNearOpen }) => isNearOpen).length
  }

  /** Cuts all connections that there are. */
  cutAll(): void {
    for (const link of this.#links) {
      this.mischief.cut++
      link.destroy()
    }
  }

  /** From now on nothing passes on the connections that there are, and nothing is closed. */
  freezeAll(): void {
    for (const link of this.#links) {
      this.mischief.blackholed++
      link.isDead = true
    }
  }

  /** Takes no connection, until it is called with false. */
  refuseAll(isOut: boolean): void {
    this.#isOut = isOut
  }

  /** Ends all faults: connections through which nothing passes are cut, the others live on. */
  calm(): void {
    this.#isHonest = true
    this.#isOut = false
    for (const link of this.#links) {
      if (link.isDead) {
        link.destroy()
      } else {
        link.fate = HONEST
      }
    }
  }

  async close(): Promise<void> {
    for (const link of this.#links) {
      link.destroy()
    }
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(near: Socket): void {
    near.on('error', () => undefined)
    this.mischief.connections++
    const fate = this.#isHonest ? HONEST : this.#draw()
    const port = this.#target()
    if (fate === undefined || this.#isOut || port === undefined) {
      this.mischief.refused++
      near.destroy()
      return
    }
    const link = new Link(near, createConnection({ port, host: '127.0.0.1' }), fate, this.mischief)
    this.#links.add(link)
    link.onEnd = () => this.#links.delete(link)
  }

  /** Undefined: not even accepted. */
  #draw(): Fate | undefined {
    const random = this.#random
    const { refuse, cut, corrupt, stall, blackhole, maxDelayMs } = this.#weather
    const at = (probability: number): number => {
      const place = random.int(FAULT_BYTES)
      return random.chance(probability) ? place : Number.POSITIVE_INFINITY
    }
    const isRefused = random.chance(refuse)
    const way = random.pick(['out', 'in'] as const)
    const fate: Fate = {
      way,
      cutAt: at(cut),
      corruptAt: at(corrupt),
      stallAt: at(stall),
      stallMs: random.int(MAX_STALL_MS),
      blackholeAt: at(blackhole),
      delayMs: { out: random.int(maxDelayMs + 1), in: random.int(maxDelayMs + 1) }
    }
    return isRefused ? undefined : fate
  }
}

const NEVER = Number.POSITIVE_INFINITY

const HONEST: Fate = {
  way: 'in',
  cutAt: NEVER,
  corruptAt: NEVER,
  stallAt: NEVER,
  stallMs: 0,
  blackholeAt: NEVER,
  delayMs: { out: 0, in: 0 }
}

/** One connection through a proxy. */
class Link {
  fate: Fate
  /** Nothing passes any more, and nobody is told. */
  isDead = false
  isNearOpen = true
  onEnd: () => void = () => undefined
  readonly #near: Socket
  readonly #far: Socket
  readonly #mischief: Mischief
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(near: Socket, far: Socket, fate: Fate, mischief: Mischief) {
    this.#near = near
    this.#far = far
    this.fate = fate
    this.#mischief = mischief
    near.on('close', () => {
      this.isNearOpen = false
    })
    this.#join(near, far, 'out')
    this.#join(far, near, 'in')
  }

  destroy(): void {
    for (const timer of this.#timers) {
      clearTimeout(timer)
    }
    this.#near.destroy()
    this.#far.destroy()
    this.onEnd()
  }

  #join(from: Socket, to: Socket, way: Way): void {
    // Each timer lets go the first that waits, so that order holds whatever their lengths.
    const waiting: (() => void)[] = []
    let passed = 0
    let dueMs = 0
    const later = (delayMs: number, pass: () => void): void => {
      waiting.push(pass)
      dueMs = Math.max(dueMs, performance.now() + delayMs)
      const timer = setTimeout(
        () => {
          this.#timers.delete(timer)
          waiting.shift()?.()
        },
        Math.max(0, dueMs - performance.now())
      )
      this.#timers.add(timer)
    }
    from.setNoDelay(true)
    from.on('error', () => undefined)
    from.on('data', (data: Buffer) => {
      const before = passed
      passed += data.length
      const stallMs = this.#befall(way, before, passed, data)
      if (stallMs !== undefined) {
        later(this.fate.delayMs[way] + stallMs, () => this.isDead || to.write(data))
      }
    })
    from.on('close', () => {
      if (!this.isDead) {
        later(this.fate.delayMs[way], () => this.isDead || this.destroy())
      }
    })
  }

  /** What happens to a piece; undefined if it does not pass, else for how long it is held up. */
  #befall(way: Way, start: number, end: number, data: Buffer): number | undefined {
    const { fate } = this
    const isIn = (at: number): boolean => fate.way === way && at >= start && at < end
    if (isIn(fate.blackholeAt)) {
      this.#mischief.blackholed++
      this.isDead = true
    }
    if (this.isDead) {
      return undefined
    }
    if (isIn(fate.cutAt)) {
      this.#mischief.cut++
      this.destroy()
      return undefined
    }
    if (isIn(fate.corruptAt)) {
      this.#mischief.corrupted++
      data[fate.corruptAt - start] = (data[fate.corruptAt - start] ?? 0) ^ 0x55
    }
    if (isIn(fate.stallAt)) {
      this.#mischief.stalled++
      return fate.stallMs
    }
    return 0
  }
}
