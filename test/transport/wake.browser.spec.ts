import { expect } from 'chai'
import { createLightNode, type LightNode } from 'waku-light/node'
import { serviceNodes } from '../browser/service-nodes.ts'

/** Nothing listens there, and browsers let it be dialed. */
const CLOSED = '/ip4/127.0.0.1/tcp/1023/ws'

const NEVER_MS = 1_000_000_000

/** Makes a page look hidden, or seen. */
function setVisibility(value: 'hidden' | 'visible'): void {
  Object.defineProperty(document, 'visibilityState', { value, configurable: true })
  document.dispatchEvent(new Event('visibilitychange'))
}

async function until(node: LightNode, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const check = (): void => {
    if (holds()) {
      resolve()
    }
  }
  const end = node.onStateChange(check)
  check()
  await promise
  end()
}

describe('a light node in a page', () => {
  let node: LightNode | undefined

  afterEach(async () => {
    delete (document as { visibilityState?: unknown }).visibilityState
    await node?.close()
  })

  for (const [name, wake] of [
    ['online again', () => globalThis.dispatchEvent(new Event('online'))],
    ['seen again', () => setVisibility('visible')]
  ] as const) {
    it(`dials at once when the page is ${name}, whatever the pause`, async () => {
      node = await createLightNode({
        serviceNodes: [CLOSED],
        clusterId: 66,
        shardCount: 1,
        minRedialMs: NEVER_MS,
        maxRedialMs: NEVER_MS
      })
      const current = node
      let tries = 0
      node.onStateChange(({ nextRetryAtMs }) => {
        tries += nextRetryAtMs === undefined ? 0 : 1
      })
      await until(current, () => current.state.nextRetryAtMs !== undefined)
      const before = tries
      setVisibility('hidden')
      expect(current.state.nextRetryAtMs).to.be.a('number')
      wake()
      await until(current, () => current.state.nextRetryAtMs === undefined)
      await until(current, () => current.state.nextRetryAtMs !== undefined)
      expect(tries).to.equal(before + 1)
    })
  }

  it('asks for a sign of life when the page is seen again, and keeps a link that gives one', async () => {
    const { addresses, clusterId, shardCount } = await serviceNodes()
    node = await createLightNode({
      serviceNodes: addresses[0] ?? [],
      clusterId,
      shardCount,
      pingIntervalMs: Infinity
    })
    await node.ready('store')
    const changes: unknown[] = []
    node.onConnectionChange((change) => changes.push(change))
    setVisibility('hidden')
    setVisibility('visible')
    await node.ready('store')
    expect(changes).to.deep.equal([])
  })

  it('listens to nothing after it is closed', async () => {
    const added: string[] = []
    const counted = [globalThis, document].map((target) => {
      const { addEventListener } = target
      target.addEventListener = function (
        this: EventTarget,
        type: string,
        listener: never,
        options?: AddEventListenerOptions
      ) {
        if (/online|offline|visibilitychange/.test(type)) {
          added.push(type)
          options?.signal?.addEventListener('abort', () => added.splice(added.indexOf(type), 1))
        }
        addEventListener.call(target, type, listener, options)
      } as typeof addEventListener
      return () => {
        target.addEventListener = addEventListener
      }
    })
    try {
      const closing = await createLightNode({
        serviceNodes: [CLOSED],
        clusterId: 66,
        shardCount: 1
      })
      expect([...added].sort()).to.deep.equal(['offline', 'online', 'visibilitychange'])
      await closing.close()
      expect(added).to.deep.equal([])
    } finally {
      for (const undo of counted) {
        undo()
      }
    }
  })
})
