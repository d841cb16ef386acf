import { expect } from 'chai'
import { LightPushClient, StoreClient } from 'waku-light'
import { createLightNode } from 'waku-light/node'
import { serviceNodes } from '../browser/service-nodes.ts'

const CONTENT_TOPIC = '/close-counts/1/all/proto'

/** libp2p's dial queue tells with timers of a millisecond that it is empty. */
const DEBOUNCE_MS = 1

interface Counts {
  /** Timers that will still fire, sockets that are not closed, and listeners on the page. */
  readonly left: () => {
    readonly timers: number
    readonly sockets: number
    readonly listeners: number
  }
  undo(): void
}

/** Counts what is begun from now on and does not end. */
function count(): Counts {
  const timers = new Set<unknown>()
  const sockets = new Set<WebSocket>()
  const listeners = new Set<object>()
  const undos: (() => void)[] = []
  const replace = <T extends object, K extends keyof T>(
    target: T,
    name: K,
    value: unknown
  ): void => {
    const before = Object.getOwnPropertyDescriptor(target, name)
    Object.defineProperty(target, name, { value, configurable: true, writable: true })
    undos.push(() => {
      if (before === undefined) {
        delete target[name]
      } else {
        Object.defineProperty(target, name, before)
      }
    })
  }
  const {
    setTimeout: set,
    clearTimeout: clear,
    setInterval: repeat,
    clearInterval: end
  } = globalThis
  replace(globalThis, 'setTimeout', (run: (...all: unknown[]) => void, ...rest: never[]) => {
    const timer = set(
      (...all: unknown[]) => {
        timers.delete(timer)
        run(...all)
      },
      ...rest
    )
    if (((rest as number[])[0] ?? 0) > DEBOUNCE_MS) {
      timers.add(timer)
    }
    return timer
  })
  replace(globalThis, 'setInterval', (...all: Parameters<typeof repeat>) => {
    const timer = repeat(...all)
    timers.add(timer)
    return timer
  })
  for (const [name, stop] of [
    ['clearTimeout', clear],
    ['clearInterval', end]
  ] as const) {
    replace(globalThis, name, (timer: never) => {
      timers.delete(timer)
      stop(timer)
    })
  }
  replace(
    globalThis,
    'WebSocket',
    class extends globalThis.WebSocket {
      constructor(...all: ConstructorParameters<typeof WebSocket>) {
        super(...all)
        sockets.add(this)
      }
    }
  )
  for (const target of [globalThis, globalThis.document] as (EventTarget | undefined)[]) {
    const add = target?.addEventListener
    const remove = target?.removeEventListener
    if (target !== undefined && add !== undefined && remove !== undefined) {
      replace(target, 'addEventListener', (type: string, listener: never, options?: unknown) => {
        listeners.add(listener)
        const { signal } = (options ?? {}) as AddEventListenerOptions
        signal?.addEventListener('abort', () => listeners.delete(listener))
        add.call(target, type, listener, options as AddEventListenerOptions)
      })
      replace(target, 'removeEventListener', (type: string, listener: never) => {
        listeners.delete(listener)
        remove.call(target, type, listener)
      })
    }
  }
  return {
    left: () => ({
      timers: timers.size,
      sockets: [...sockets].filter(({ readyState }) => readyState !== WebSocket.CLOSED).length,
      listeners: listeners.size
    }),
    undo: () => {
      for (const undo of undos.reverse()) {
        undo()
      }
    }
  }
}

describe('what is left after close', () => {
  it('is no timer, no socket and no listener, with calls of all kinds under way', async () => {
    const { addresses, clusterId, shardCount } = await serviceNodes()
    const counts = count()
    try {
      const node = await createLightNode({ serviceNodes: addresses.flat(), clusterId, shardCount })
      const lightPush = new LightPushClient(node)
      const store = new StoreClient(node)
      await node.ready('store')
      const push = (): Promise<unknown> =>
        lightPush.push({ contentTopic: CONTENT_TOPIC, payload: Uint8Array.of(1) })
      expect(await push()).to.include({ status: 'published' })
      const tail = store.follow({ contentTopics: [CONTENT_TOPIC] })[Symbol.asyncIterator]()
      const calls = [
        ...Array.from({ length: 50 }, push),
        tail.next(),
        store.last({ contentTopics: [CONTENT_TOPIC] }, 5),
        node.ready('sync')
      ].map((call) => call.catch((error: Error) => error))
      const { left } = counts
      expect(left().sockets).to.be.at.least(1)
      expect(left().timers).to.be.at.least(1)
      await node.close()
      await Promise.all(calls)
      expect(left()).to.deep.equal({ timers: 0, sockets: 0, listeners: 0 })
    } finally {
      counts.undo()
    }
  }).retries(2) // others in the page may begin something meanwhile; what is left behind is left each time
})
