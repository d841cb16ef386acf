import type { Connection } from '@libp2p/interface'
import { expect } from 'chai'
import { Liveness } from '../../src/transport/liveness.ts'
import { withCountedTimers } from './helpers/caught.ts'

/** A connection of which the test says what comes, and how pings end. */
function setUp(intervalMs: number) {
  let heardAt = 0
  let pings = 0
  let asked = Promise.withResolvers<PromiseWithResolvers<void>>()
  const aborted = Promise.withResolvers<Error>()
  const target = new EventTarget()
  const connection = Object.assign(target, {
    abort: (error: Error) => {
      aborted.resolve(error)
      target.dispatchEvent(new Event('close'))
    }
  }) as unknown as Connection
  const liveness = new Liveness({
    intervalMs,
    timeoutMs: 60_000,
    heardAtMs: () => heardAt,
    ping: async () => {
      pings++
      const answer = Promise.withResolvers<void>()
      asked.resolve(answer)
      await answer.promise
    }
  })
  liveness.watch(connection)
  return {
    liveness,
    connection,
    aborted: aborted.promise,
    pings: () => pings,
    hear: () => {
      heardAt = Math.max(heardAt + 1, performance.now())
    },
    /** Waits for a ping; returns what ends it. */
    async asked(): Promise<PromiseWithResolvers<void>> {
      const answer = await asked.promise
      asked = Promise.withResolvers()
      return answer
    }
  }
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
}

describe('Liveness', () => {
  it('asks a silent connection again and again, and aborts it when it says nothing', async () => {
    const test = setUp(1)
    for (let count = 0; count < 3; count++) {
      ;(await test.asked()).resolve()
    }
    ;(await test.asked()).reject(new Error('no answer'))
    expect(await test.aborted).to.include({ message: 'no answer' })
    await turn()
    expect(test.pings()).to.equal(4)
    test.connection.dispatchEvent(new Event('close'))
  })

  it('does not ask while something comes', async () => {
    const test = setUp(50)
    const hearing = setInterval(test.hear)
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(test.pings()).to.equal(0)
    clearInterval(hearing)
    ;(await test.asked()).resolve()
    test.connection.dispatchEvent(new Event('close'))
  })

  it('bears a ping without an answer where anything else came meanwhile', async () => {
    const test = setUp(1)
    const answer = await test.asked()
    test.hear()
    answer.reject(new Error('it stands in line behind a large answer'))
    ;(await test.asked()).reject(new Error('no answer'))
    await test.aborted
    test.connection.dispatchEvent(new Event('close'))
  })

  it('asks at once when told to, once at a time, be it that it asks by itself never', async () => {
    const test = setUp(Infinity)
    await turn()
    expect(test.pings()).to.equal(0)
    test.hear()
    test.liveness.check()
    test.liveness.check()
    ;(await test.asked()).resolve()
    await turn()
    expect(test.pings()).to.equal(1)
    test.liveness.check()
    ;(await test.asked()).reject(new Error('no answer'))
    await test.aborted
    test.liveness.check()
    expect(test.pings()).to.equal(2)
    test.connection.dispatchEvent(new Event('close'))
  })

  it('has one timer for a connection, however often it is told to ask', async () => {
    await withCountedTimers(async (pending) => {
      const before = pending()
      const test = setUp(59_000)
      test.hear()
      expect(pending()).to.equal(before + 1)
      for (let count = 0; count < 3; count++) {
        test.liveness.check()
        ;(await test.asked()).resolve()
        await turn()
        expect(pending()).to.equal(before + 1)
      }
      test.connection.dispatchEvent(new Event('close'))
      expect(pending()).to.equal(before)
    }, 50_000) // shorter ones are of others in the page
  })

  it('asks soon where a request is not answered, and not where anything comes', async () => {
    const never = setUp(Infinity)
    never.liveness.requested(never.connection, 300)
    const test = setUp(20_000)
    test.liveness.requested(test.connection, 300)
    test.hear()
    test.liveness.requested(test.connection, 300)
    const startedAt = performance.now()
    ;(await test.asked()).resolve()
    expect(performance.now() - startedAt).to.be.above(500)
    expect(test.pings()).to.equal(1)
    // each request is one of its own
    test.hear()
    test.liveness.requested(test.connection, 300)
    ;(await test.asked()).reject(new Error('no answer'))
    await test.aborted
    test.liveness.requested(test.connection, 300)
    expect(never.pings()).to.equal(0)
  }).timeout(6_000)

  it('gives a large request the time that a slow link takes for it', async () => {
    const large = setUp(20_000)
    const small = setUp(20_000)
    large.hear()
    large.liveness.requested(large.connection, 150_000)
    large.liveness.requested(large.connection, 300) // behind it
    small.hear()
    small.liveness.requested(small.connection, 300)
    ;(await small.asked()).resolve()
    expect(large.pings()).to.equal(0)
    for (const test of [small, large]) {
      test.connection.dispatchEvent(new Event('close'))
    }
  })

  it('leaves a connection that ends', async () => {
    const test = setUp(1)
    test.connection.dispatchEvent(new Event('close'))
    await turn()
    await turn()
    expect(test.pings()).to.equal(0)
    const asked = setUp(1)
    const answer = await asked.asked()
    asked.connection.dispatchEvent(new Event('close'))
    answer.resolve()
    await turn()
    await turn()
    expect(asked.pings()).to.equal(1)
  })
})
