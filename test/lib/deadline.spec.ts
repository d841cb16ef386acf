import { expect } from 'chai'
import { delay, withDeadline, withSignals } from '../../src/lib/deadline.ts'
import { caught, countedSignal, withCountedTimers } from '../transport/helpers/caught.ts'

const never = (): Promise<never> => new Promise(() => undefined)

describe('withSignals', () => {
  it('resolves with what the function returns, and leaves no listener', async () => {
    const one = countedSignal()
    const two = countedSignal()
    const during = await withSignals([one.signal, undefined, two.signal], async () => [
      one.listeners(),
      two.listeners()
    ])
    expect(during).to.deep.equal([1, 1])
    expect([one.listeners(), two.listeners()]).to.deep.equal([0, 0])
  })

  it('rejects with the reason itself, whatever that is', async () => {
    for (const reason of [new Error('mine'), 'a string', { any: 'thing' }]) {
      const controller = new AbortController()
      const running = withSignals([new AbortController().signal, controller.signal], never)
      controller.abort(reason)
      const got: unknown = await running.catch((error: unknown) => error)
      expect(got).to.equal(reason)
    }
  })

  it('settles in the turn of the abort, though the function goes on', async () => {
    const controller = new AbortController()
    let settled = false
    const running = withSignals([controller.signal], never).catch(() => {
      settled = true
    })
    controller.abort()
    for (let microtask = 0; microtask < 5; microtask++) {
      await Promise.resolve()
    }
    expect(settled).to.equal(true)
    await running
  })

  it('aborts the signal that the function gets with the same reason', async () => {
    const controller = new AbortController()
    const reason = new Error('mine')
    let inner: AbortSignal | undefined
    const running = withSignals([controller.signal], (signal) => {
      inner = signal
      return never()
    })
    controller.abort(reason)
    await caught(running)
    expect(inner?.reason).to.equal(reason)
  })

  it('does not run the function if a signal is aborted already, and adds no listener', async () => {
    const first = countedSignal()
    const reason = new Error('before')
    let ran = false
    const error = await caught(
      withSignals([first.signal, AbortSignal.abort(reason)], async () => {
        ran = true
      })
    )
    expect(error).to.equal(reason)
    expect(ran).to.equal(false)
    expect(first.listeners()).to.equal(0)
  })

  it('leaves no listener when the function throws, at once or later', async () => {
    const { signal, listeners } = countedSignal()
    const broken = new Error('broken')
    const throwing: (() => Promise<never>)[] = [
      () => {
        throw broken
      },
      () => Promise.reject(broken)
    ]
    for (const run of throwing) {
      expect(await caught(withSignals([signal], run))).to.equal(broken)
      expect(listeners()).to.equal(0)
    }
  })

  it('takes note of a rejection that comes after the abort', async () => {
    const controller = new AbortController()
    const late = Promise.withResolvers<void>()
    const running = withSignals([controller.signal], () => late.promise)
    controller.abort()
    await caught(running)
    late.reject(new Error('late'))
    // an unhandled rejection fails the run
    await new Promise((resolve) => setTimeout(resolve, 0))
  })

  it('changes nothing when a signal is aborted afterwards', async () => {
    const controller = new AbortController()
    let inner: AbortSignal | undefined
    expect(
      await withSignals([controller.signal], async (signal) => {
        inner = signal
        return 7
      })
    ).to.equal(7)
    controller.abort()
    expect(inner?.aborted).to.equal(false)
  })
})

describe('withDeadline', () => {
  it('rejects with a TimeoutError that names the operation, and leaves no timer', async () => {
    await withCountedTimers(async (pending) => {
      const { signal, listeners } = countedSignal()
      const error = await caught(withDeadline('push', { signal, timeoutMs: 1 }, 10_000, never))
      expect(error).to.include({ code: 'ERR_TIMEOUT', operation: 'push', timeoutMs: 1 })
      expect([pending(), listeners()]).to.deep.equal([0, 0])
    })
  })

  it('uses the default where no timeout is given', async () => {
    expect(await caught(withDeadline('push', {}, 1, never))).to.include({ timeoutMs: 1 })
  })

  it('leaves no timer on any other exit', async () => {
    await withCountedTimers(async (pending) => {
      const during = await withDeadline('push', {}, 10_000, async () => pending())
      expect(during).to.equal(1)
      await caught(withDeadline('push', {}, 10_000, () => Promise.reject(new Error('no'))))
      await caught(withDeadline('push', { signal: AbortSignal.abort() }, 10_000, never))
      expect(pending()).to.equal(0)
    })
  })

  it('starts no timer for Infinity, nor for more than a timer can wait', async () => {
    await withCountedTimers(async (pending) => {
      for (const timeoutMs of [Infinity, 2 ** 31]) {
        expect(await withDeadline('push', { timeoutMs }, 1, async () => pending())).to.equal(0)
      }
    })
  })

  it('refuses a timeout or signal that is none, before it runs anything', async () => {
    let ran = 0
    const run = async (): Promise<void> => {
      ran++
    }
    for (const timeoutMs of [0, -1, Number.NaN, '5' as never, null as never]) {
      const error = await caught(withDeadline('push', { timeoutMs }, 1, run))
      expect(error, String(timeoutMs)).to.include({
        code: 'ERR_INVALID_ARGUMENT',
        parameter: 'timeoutMs'
      })
    }
    for (const signal of [new AbortController() as never, null as never, {} as never]) {
      const error = await caught(withDeadline('push', { signal }, 1, run))
      expect(error).to.include({ code: 'ERR_INVALID_ARGUMENT', parameter: 'signal' })
    }
    expect(ran).to.equal(0)
  })
})

describe('delay', () => {
  it('ends early with the reason of the signal, and leaves neither timer nor listener', async () => {
    await withCountedTimers(async (pending) => {
      const counted = countedSignal()
      const waiting = delay(10_000, counted.signal)
      expect([pending(), counted.listeners()]).to.deep.equal([1, 1])
      const reason = new Error('enough')
      counted.abort(reason)
      expect(await caught(waiting)).to.equal(reason)
      expect([pending(), counted.listeners()]).to.deep.equal([0, 0])
    })
  })

  it('waits for the signal alone where no timer can wait that long', async () => {
    await withCountedTimers(async (pending) => {
      for (const ms of [2 ** 31, Infinity]) {
        const controller = new AbortController()
        const waiting = delay(ms, controller.signal)
        expect(pending()).to.equal(0)
        controller.abort(new Error('enough'))
        await caught(waiting)
      }
    })
  })
})
