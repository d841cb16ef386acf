import { expect } from 'chai'
import { ClusterMismatchError, ConnectionError } from '../../src/errors.ts'
import { Keeper, type KeeperInit } from '../../src/transport/keeper.ts'
import { caught } from './helpers/caught.ts'

type Connect = (signal: AbortSignal) => Promise<void>

const hang: Connect = () => new Promise(() => undefined)
const fail: Connect = async () => {
  throw new ConnectionError('no route')
}

/** A keeper over scripted dials; its pauses end when the test says so. */
function setUp(...connects: Connect[]) {
  let nowMs = 1000
  const listeners = new Set<() => void>()
  const peers: KeeperInit['peers'] & { isSettled: boolean; refusals: undefined | [] } = {
    isSettled: false,
    refusals: undefined,
    connect: async (signal) => {
      dials++
      await Promise.resolve() // the test has its hands on all of this
      await (connects.shift() ?? hang)(signal)
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
  let dials = 0
  const pauses: number[] = []
  let paused = Promise.withResolvers<() => void>()
  const keeper: Keeper = new Keeper({
    peers,
    onChange: () => states.push([keeper.lastError?.message, keeper.nextRetryAtMs]),
    now: () => nowMs,
    minBackoffMs: 100,
    maxBackoffMs: 1000,
    random: () => 1,
    sleep: async (ms, signal) => {
      pauses.push(ms)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      paused.resolve(resolve)
      await promise
    }
  })
  const states: [string | undefined, number | undefined][] = []
  const closing = new AbortController()
  const running = caught(keeper.run(closing.signal))
  return {
    keeper,
    states,
    pauses,
    dials: () => dials,
    /** Waits for a pause; returns what ends it. */
    async pause(): Promise<() => void> {
      const end = await paused.promise
      paused = Promise.withResolvers()
      return end
    },
    connected(isSettled: boolean): void {
      peers.isSettled = isSettled
      this.changed()
    },
    refuse(refusals: [] | undefined): void {
      peers.refusals = refusals
      this.changed()
    },
    changed(): void {
      for (const listener of listeners) {
        listener()
      }
    },
    pass(ms: number): void {
      nowMs += ms
    },
    listeners: () => listeners.size,
    async close(): Promise<void> {
      const reason = new Error('closed')
      closing.abort(reason)
      expect(await running).to.equal(reason)
      expect(listeners.size).to.equal(0)
    }
  }
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
}

describe('Keeper', () => {
  it('dials again after pauses that grow, up to a bound, and tells when', async () => {
    const test = setUp(...Array.from({ length: 6 }, () => fail))
    for (let count = 0; count < 6; count++) {
      const end = await test.pause()
      expect(test.keeper.nextRetryAtMs).to.equal(1000 + (test.pauses.at(-1) ?? 0))
      end()
    }
    await turn()
    expect(test.pauses).to.deep.equal([100, 200, 400, 800, 1000, 1000])
    expect(test.dials()).to.equal(7)
    expect(test.keeper.lastError?.message).to.equal('no route')
    expect(test.keeper.nextRetryAtMs).to.equal(undefined)
    await test.close()
  })

  it('does nothing while a node is connected, and dials soon when the last one is gone', async () => {
    const test = setUp(fail, fail, async () => test.connected(true))
    ;(await test.pause())()
    ;(await test.pause())()
    await turn()
    expect(test.keeper.lastError).to.equal(undefined)
    expect(test.dials()).to.equal(3)
    test.changed()
    await turn()
    expect(test.dials()).to.equal(3)
    test.pass(60_000)
    test.connected(false)
    ;(await test.pause())()
    await turn()
    expect(test.pauses).to.deep.equal([100, 200, 100])
    expect(test.dials()).to.equal(4)
    await test.close()
  })

  it('does not hammer a node that takes connections and ends them at once', async () => {
    const flap: Connect = async () => undefined
    const test = setUp(flap, flap, flap, flap)
    for (let count = 0; count < 4; count++) {
      ;(await test.pause())()
    }
    expect(test.pauses).to.deep.equal([100, 200, 400, 800])
    await test.close()
  })

  it('does not hold failures before a good connection against what comes after it', async () => {
    const test = setUp(fail, fail, fail, async () => test.connected(true))
    for (let count = 0; count < 3; count++) {
      ;(await test.pause())()
    }
    await turn()
    test.pass(3_000)
    test.connected(false)
    ;(await test.pause())()
    expect(test.pauses).to.deep.equal([100, 200, 400, 100])
    await test.close()
  })

  it('sees a connection that a call has made, and ends its pause for it', async () => {
    const test = setUp(fail, async () => undefined)
    await test.pause()
    test.connected(true)
    await turn()
    expect(test.keeper.lastError).to.equal(undefined)
    expect(test.keeper.nextRetryAtMs).to.equal(undefined)
    test.pass(3_000)
    test.connected(false)
    ;(await test.pause())()
    expect(test.pauses).to.deep.equal([100, 100])
    await test.close()
  })

  it('pauses where it fails although a node is connected, as one may be that tells no network', async () => {
    const test = setUp(fail, fail, fail)
    test.connected(true)
    for (let count = 0; count < 3; count++) {
      const end = await test.pause()
      expect(test.dials()).to.equal(count + 1)
      end()
    }
    await turn()
    expect(test.pauses).to.deep.equal([100, 200, 400])
    await test.close()
  })

  it('begins anew, and with short pauses, when it is woken', async () => {
    const test = setUp(fail, fail, fail, fail, hang, fail)
    for (let count = 0; count < 3; count++) {
      ;(await test.pause())()
    }
    await test.pause()
    test.keeper.wake() // in a pause
    await turn()
    expect(test.dials()).to.equal(5)
    test.keeper.wake() // in a dial that hangs
    ;(await test.pause())()
    expect(test.dials()).to.equal(6)
    expect(test.pauses).to.deep.equal([100, 200, 400, 800, 100])
    await test.close()
  })

  it('begins with short pauses when it is woken in a dial', async () => {
    const test = setUp(fail, fail, hang, fail)
    ;(await test.pause())()
    ;(await test.pause())()
    await turn()
    test.keeper.wake()
    await test.pause()
    expect(test.pauses).to.deep.equal([100, 200, 100])
    await test.close()
  })

  it('takes a connection that lasted three seconds for a good one', async () => {
    for (const [lastedMs, pauseMs] of [
      [2_999, 200],
      [3_000, 100]
    ] as const) {
      const test = setUp(
        async () => undefined,
        async () => test.connected(true)
      )
      ;(await test.pause())()
      await turn()
      test.pass(lastedMs)
      test.connected(false)
      await test.pause()
      expect(test.pauses).to.deep.equal([100, pauseMs])
      await test.close()
    }
  })

  it('goes on to the next node at once when one is of another network', async () => {
    const test = setUp(
      async () => {
        throw new ClusterMismatchError(1, 2, 'peer')
      },
      async () => test.connected(true)
    )
    await turn()
    expect(test.dials()).to.equal(2)
    expect(test.pauses).to.deep.equal([])
    await test.close()
  })

  it('rests while all nodes are out of the question', async () => {
    const test = setUp(async () => {
      test.refuse([])
      throw new ConnectionError('no')
    })
    await turn()
    test.keeper.wake()
    await turn()
    expect(test.dials()).to.equal(1)
    expect(test.pauses).to.deep.equal([])
    test.refuse(undefined)
    ;(await test.pause())()
    await turn()
    expect(test.dials()).to.equal(2)
    await test.close()
  })
})
