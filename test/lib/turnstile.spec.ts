import { expect } from 'chai'
import { Turnstile } from '../../src/lib/turnstile.ts'
import { caught, countedSignal } from '../transport/helpers/caught.ts'

const { signal } = new AbortController()

describe('Turnstile', () => {
  it('runs no more than its limit at a time, first come first served', async () => {
    const turnstile = new Turnstile(3, 100)
    const order: number[] = []
    let running = 0
    let most = 0
    const tasks = Array.from({ length: 50 }, async (_, index) =>
      turnstile.run(async () => {
        order.push(index)
        most = Math.max(most, ++running)
        await Promise.resolve()
        running--
        return index
      }, signal)
    )
    expect(await Promise.all(tasks)).to.deep.equal(Array.from({ length: 50 }, (_, index) => index))
    expect(order).to.deep.equal([...order].sort((a, b) => a - b))
    expect(most).to.equal(3)
  })

  it('gives the place of a failed task to the next', async () => {
    const turnstile = new Turnstile(1, 100)
    const failing = turnstile.run(() => Promise.reject(new Error('no')), signal)
    const next = turnstile.run(async () => 'ran', signal)
    expect((await caught(failing)).message).to.equal('no')
    expect(await next).to.equal('ran')
  })

  it('rejects a task that is aborted while it waits, with the reason, and leaves no listener', async () => {
    const turnstile = new Turnstile(1, 100)
    const first = Promise.withResolvers<void>()
    const running = turnstile.run(() => first.promise, signal)
    const counted = countedSignal()
    let ran = false
    const waiting = turnstile.run(async () => {
      ran = true
    }, counted.signal)
    const behind = turnstile.run(async () => 'ran', signal)
    const reason = new Error('mine')
    counted.abort(reason)
    expect(await caught(waiting)).to.equal(reason)
    expect(counted.listeners()).to.equal(0)
    first.resolve()
    await running
    expect(await behind).to.equal('ran')
    expect(ran).to.equal(false)
  })

  it('loses no place when a task is let in and aborted in one turn', async () => {
    const turnstile = new Turnstile(1, 100)
    const first = Promise.withResolvers<void>()
    const running = turnstile.run(() => first.promise, signal)
    const controller = new AbortController()
    const waiting = turnstile.run(async () => 'never', controller.signal)
    first.resolve()
    await running
    controller.abort(new Error('mine'))
    await waiting.catch(() => undefined)
    expect(await turnstile.run(async () => 'ran', signal)).to.equal('ran')

    const second = Promise.withResolvers<void>()
    const again = turnstile.run(() => second.promise, signal)
    const abortedFirst = new AbortController()
    const queued = turnstile.run(async () => 'never', abortedFirst.signal)
    second.promise.then(
      () => abortedFirst.abort(new Error('mine')),
      () => undefined
    )
    second.resolve()
    await again
    await queued.catch(() => undefined)
    expect(await turnstile.run(async () => 'ran', signal)).to.equal('ran')
  })

  it('refuses a task when too many wait', async () => {
    const turnstile = new Turnstile(1, 2)
    const first = Promise.withResolvers<void>()
    const tasks = [0, 1, 2].map(() => turnstile.run(() => first.promise, signal))
    const error = await caught(turnstile.run(async () => undefined, signal))
    expect(error).to.include({ code: 'ERR_LIMIT_EXCEEDED', limit: 2 })
    first.resolve()
    await Promise.all(tasks)
  })

  it('does not run a task whose signal is aborted already', async () => {
    const reason = new Error('mine')
    let ran = false
    const task = new Turnstile(1, 2).run(async () => {
      ran = true
    }, AbortSignal.abort(reason))
    expect(await caught(task)).to.equal(reason)
    expect(ran).to.equal(false)
  })
})
