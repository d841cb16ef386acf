import { expect } from 'chai'
import { RECONCILIATION_PROTOCOL } from 'waku-light/wire'
import type { SyncInit, SyncProgress, SyncVisibility } from '../../src/sync/index.ts'
import { encodeSyncPayload } from '../../src/wire/sync.ts'
import { closeSyncs, makeMessages, NOW_MS, startSync } from './fixtures.ts'
import { MemoryNode } from './memory-network.ts'

/** A clock that stands still until it is told to go on. */
class Clock {
  nowMs = NOW_MS
  readonly #sleepers = new Set<{ untilMs: number; wake: () => void }>()
  #asleep = Promise.withResolvers<void>()

  readonly now = (): number => this.nowMs

  readonly sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const sleeper = { untilMs: this.nowMs + ms, wake: resolve }
    this.#sleepers.add(sleeper)
    this.#asleep.resolve()
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    try {
      await promise
    } finally {
      this.#sleepers.delete(sleeper)
    }
  }

  /** Resolves once somebody sleeps for so long. */
  async asleepFor(ms: number): Promise<void> {
    while (![...this.#sleepers].some(({ untilMs }) => untilMs === this.nowMs + ms)) {
      this.#asleep = Promise.withResolvers()
      await this.#asleep.promise
    }
  }

  async pass(ms: number): Promise<void> {
    this.nowMs += ms
    for (const { untilMs, wake } of this.#sleepers) {
      if (untilMs <= this.nowMs) {
        wake()
      }
    }
  }
}

const MINUTE = 60_000

describe('createSync by itself', () => {
  afterEach(closeSyncs)

  /** A node with a peer that serves, and what its sync does. */
  async function started(init: Partial<SyncInit> = {}, peerCount = 1) {
    const clock = new Clock()
    const node = new MemoryNode('ours')
    const peers = Array.from({ length: peerCount }, (_, index) => new MemoryNode(`peer${index}`))
    for (const peer of peers) {
      await startSync(peer, makeMessages(1), { serve: true })
      node.connect(peer)
    }
    const events: SyncProgress[] = []
    const ends = (): string[] =>
      events.flatMap(({ type, detail }) => (type === 'sync:end' ? [detail.peerId] : []))
    const ours = await startSync(node, [], {
      automatic: true,
      now: clock.now,
      sleep: clock.sleep,
      random: () => 0.5,
      ...init
    })
    ours.sync.onEvent((event) => events.push(event))
    return { ...ours, clock, node, peers, events, ends }
  }

  /**
   * How often the only peer was asked, every five minutes.
   *
   * @param answers - undefined where it closes without an answer, as it does in the end
   */
  async function askedBy(
    answers: readonly ('mismatch' | 'no-ranges' | undefined)[]
  ): Promise<number[]> {
    const { clock, peers } = await started()
    let asked = 0
    peers[0]?.script(RECONCILIATION_PROTOCOL, async (frames) => {
      const answer = answers[asked++]
      if (answer !== undefined) {
        await frames.read()
        await frames.write(encodeSyncPayload(answer))
      }
    })
    const rounds: number[] = []
    for (let round = 0; round < 8; round++) {
      await clock.asleepFor(5 * MINUTE)
      rounds.push(asked)
      await clock.pass(5 * MINUTE)
    }
    return rounds
  }

  it('begins at once and goes on every five minutes', async () => {
    const { clock, ends, archive } = await started()
    await clock.asleepFor(5 * MINUTE)
    expect(ends()).to.deep.equal(['peer0'])
    expect(await archive.count()).to.equal(1)
    for (let session = 2; session < 5; session++) {
      await clock.pass(5 * MINUTE)
      await clock.asleepFor(5 * MINUTE)
      expect(ends()).to.have.lengthOf(session)
    }
  })

  it('goes on where what is late is taken forever', async () => {
    const { clock, ends } = await started({ lateTransferMs: Infinity })
    await clock.asleepFor(5 * MINUTE)
    await clock.pass(5 * MINUTE)
    await clock.asleepFor(5 * MINUTE)
    expect(ends()).to.have.lengthOf(2)
  })

  it('compares the last hour without the newest 20 seconds', async () => {
    const { clock, events } = await started()
    await clock.asleepFor(5 * MINUTE)
    const start = events.find(({ type }) => type === 'sync:start')
    expect(start)
      .to.have.nested.property('detail.window')
      .that.deep.equals({
        timeStart: BigInt(NOW_MS - 20_000 - 60 * MINUTE) * 1_000_000n,
        timeEnd: BigInt(NOW_MS - 20_000) * 1_000_000n
      })
  })

  it('does as configured', async () => {
    const { clock, events } = await started({ intervalMs: 7_000, rangeMs: 9_000, jitterMs: 0 })
    await clock.asleepFor(7_000)
    const start = events.find(({ type }) => type === 'sync:start')
    expect(start)
      .to.have.nested.property('detail.window')
      .that.deep.equals({
        timeStart: BigInt(NOW_MS - 9_000) * 1_000_000n,
        timeEnd: BigInt(NOW_MS) * 1_000_000n
      })
  })

  it('chooses peers at random', async () => {
    // one for each peer and session: a larger one puts it further to the front of those before
    const values = [0.5, 0.9, 0.1, 0.5, 0.1, 0.2, 0.5, 0.4, 0.8]
    const { clock, ends } = await started({ random: () => values.shift() ?? 0 }, 3)
    for (let session = 1; session < 4; session++) {
      await clock.asleepFor(5 * MINUTE)
      expect(ends()).to.have.lengthOf(session)
      await clock.pass(5 * MINUTE)
    }
    expect(ends().slice(0, 3)).to.deep.equal(['peer1', 'peer0', 'peer2'])
  })

  it('begins at once with a peer that comes', async () => {
    const { clock, node, ends } = await started({}, 2)
    await clock.asleepFor(5 * MINUTE)
    const late = new MemoryNode('late')
    await startSync(late, makeMessages(1), { serve: true })
    await clock.pass(1)
    node.connect(late)
    await clock.asleepFor(5 * MINUTE)
    expect(ends().at(-1)).to.equal('late')
  })

  it('stays alive without a peer, and begins when one comes', async () => {
    const { clock, node, events, ends } = await started({}, 0)
    await clock.asleepFor(5 * MINUTE)
    expect(events).to.have.nested.property('[0].detail.error.code', 'ERR_NO_USABLE_PEER')
    const peer = new MemoryNode('late')
    await startSync(peer, makeMessages(1), { serve: true })
    await clock.pass(1)
    node.connect(peer)
    await clock.asleepFor(5 * MINUTE)
    expect(ends()).to.deep.equal(['late'])
  })

  it('leaves a peer alone for a while that has no topic in common', async () => {
    const asked = await askedBy(['mismatch', 'mismatch', 'mismatch'])
    // after 5, 10 and 20 minutes
    expect(asked).to.deep.equal([1, 2, 2, 3, 3, 3, 3, 4])
  })

  it('forgets that a peer failed once it does not', async () => {
    const asked = await askedBy([undefined, undefined, 'no-ranges', undefined])
    // after 5 and 10 minutes; at once; after 5 and 10 minutes
    expect(asked).to.deep.equal([1, 2, 2, 3, 4, 5, 5, 6])
  })

  it('takes another peer where one fails, and leaves it alone for longer each time', async () => {
    const { clock, node, ends } = await started({ random: () => 0 })
    const bad = new MemoryNode('bad')
    let asked = 0
    bad.script(RECONCILIATION_PROTOCOL, async () => {
      asked++
    })
    // first in the list, and so first with equal random values; it closes without an answer
    await clock.asleepFor(5 * MINUTE)
    await clock.pass(1)
    node.connect(bad)
    await clock.asleepFor(5 * MINUTE)
    expect([asked, ends().length]).to.deep.equal([1, 2])
    const rounds: number[] = []
    for (let round = 0; round < 8; round++) {
      node.prefer(bad)
      await clock.pass(5 * MINUTE)
      await clock.asleepFor(5 * MINUTE)
      rounds.push(asked)
    }
    // after 5, 10 and 20 minutes
    expect(rounds).to.deep.equal([2, 2, 3, 3, 3, 3, 4, 4])
    expect(ends()).to.have.lengthOf(10)
  })

  it('waits while the page is hidden, if asked to', async () => {
    const listeners = new Set<() => void>()
    const waits = Promise.withResolvers<void>()
    const page = {
      visibilityState: 'hidden',
      addEventListener: (_type: string, listener: () => void) => {
        listeners.add(listener)
        waits.resolve()
      },
      removeEventListener: (_type: string, listener: () => void) => listeners.delete(listener)
    }
    const { clock, ends, sync } = await started({
      pauseWhileHidden: true,
      visibility: page as unknown as SyncVisibility
    })
    await waits.promise
    expect(ends()).to.be.empty
    // syncs that are asked for take place all the same
    await sync.syncNow()
    page.visibilityState = 'visible'
    for (const listener of listeners) {
      listener()
    }
    await clock.asleepFor(5 * MINUTE)
    expect([listeners.size, ends().length]).to.deep.equal([0, 2])
  })

  it('waits for its turn among tabs, and gives it up when it is closed', async () => {
    let holder = Promise.resolve()
    const names: string[] = []
    const locks: SyncInit['locks'] = {
      request: async (name, { signal }, callback) => {
        names.push(name)
        const turn = holder
        const { promise, resolve } = Promise.withResolvers<void>()
        holder = promise
        await turn
        signal.throwIfAborted()
        try {
          await callback()
        } finally {
          resolve()
        }
      }
    }
    const first = await started({ locks, lockName: 'mine' })
    await first.clock.asleepFor(5 * MINUTE)
    const second = await started({ locks, lockName: 'mine' })
    expect(second.ends()).to.be.empty
    await first.sync.close()
    await second.clock.asleepFor(5 * MINUTE)
    expect(second.ends()).to.deep.equal(['peer0'])
    expect(names).to.deep.equal(['mine', 'mine'])
  })

  it('forgets what gets too old for it', async () => {
    const { clock, sync, archive } = await started()
    await clock.asleepFor(5 * MINUTE)
    await archive.putMany(makeMessages(10, {}, 0))
    expect(sync.indexSize).to.equal(11)
    await clock.pass(80 * MINUTE)
    await clock.asleepFor(5 * MINUTE)
    expect(sync.indexSize).to.equal(0)
    expect(await archive.count()).to.equal(11)
  })

  it('leaves nothing behind when it is closed', async () => {
    const { clock, node, sync } = await started()
    await clock.asleepFor(5 * MINUTE)
    await sync.close()
    expect([node.listenerCount, node.handlers.size]).to.deep.equal([0, 0])
  })
})
