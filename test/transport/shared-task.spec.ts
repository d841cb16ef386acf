import { expect } from 'chai'
import { SharedTask } from '../../src/transport/shared-task.ts'
import { caught, countedSignal } from './helpers/caught.ts'

const { signal } = new AbortController()

/** A task that is settled by hand, and what it was given. */
function manual(): {
  readonly shared: SharedTask<string>
  readonly runs: { readonly signal: AbortSignal; readonly end: PromiseWithResolvers<string> }[]
} {
  const runs: { signal: AbortSignal; end: PromiseWithResolvers<string> }[] = []
  const shared = new SharedTask((inner) => {
    const end = Promise.withResolvers<string>()
    runs.push({ signal: inner, end })
    return end.promise
  })
  return { shared, runs }
}

describe('SharedTask', () => {
  it('runs once for all who wait at the same time, and anew afterwards', async () => {
    const { shared, runs } = manual()
    const both = [shared.join(signal), shared.join(signal)]
    runs[0]?.end.resolve('one')
    expect(await Promise.all(both)).to.deep.equal(['one', 'one'])
    const next = shared.join(signal)
    runs[1]?.end.resolve('two')
    expect(await next).to.equal('two')
    expect(runs.map((run) => run.signal.aborted)).to.deep.equal([false, false])
  })

  it('rejects for all with what the task throws, and runs anew afterwards', async () => {
    const { shared, runs } = manual()
    const both = [shared.join(signal), shared.join(signal)]
    const broken = new Error('broken')
    runs[0]?.end.reject(broken)
    expect(await Promise.all(both.map(caught))).to.deep.equal([broken, broken])
    const next = shared.join(signal)
    runs[1]?.end.resolve('two')
    expect(await next).to.equal('two')
  })

  it('begins anew for those who wait, and takes nothing of what was given up', async () => {
    const { shared, runs } = manual()
    shared.restart()
    expect(runs).to.have.length(0)
    const both = [shared.join(signal), shared.join(signal)]
    shared.restart()
    expect(runs.map((run) => run.signal.aborted)).to.deep.equal([true, false])
    runs[0]?.end.resolve('late')
    const late = shared.join(signal)
    runs[1]?.end.resolve('anew')
    expect(await Promise.all([...both, late])).to.deep.equal(['anew', 'anew', 'anew'])
    expect(runs).to.have.length(2)

    const controller = new AbortController()
    const given = caught(shared.join(controller.signal))
    shared.restart()
    controller.abort(new Error('mine'))
    await given
    expect(runs.map((run) => run.signal.aborted)).to.deep.equal([true, false, true, true])
  })

  it('goes on while anybody waits, and is aborted when nobody does', async () => {
    const { shared, runs } = manual()
    const [one, two] = [countedSignal(), countedSignal()]
    const waiting = [shared.join(one.signal), shared.join(two.signal)]
    const outcomes = Promise.all(waiting.map(caught))
    const reason = new Error('mine')
    one.abort(reason)
    expect(await caught(waiting[0] as Promise<string>)).to.equal(reason)
    expect(runs[0]?.signal.aborted).to.equal(false)
    two.abort(reason)
    expect(await outcomes).to.deep.equal([reason, reason])
    expect(runs[0]?.signal.aborted).to.equal(true)
    expect([one.listeners(), two.listeners()]).to.deep.equal([0, 0])

    const next = shared.join(signal)
    runs[0]?.end.reject(new Error('late'))
    runs[1]?.end.resolve('two')
    expect(await next).to.equal('two')
  })

  it('does not run for a signal that is aborted already', async () => {
    const { shared, runs } = manual()
    const reason = new Error('mine')
    expect(await caught(shared.join(AbortSignal.abort(reason)))).to.equal(reason)
    expect(runs).to.have.length(0)
  })
})
