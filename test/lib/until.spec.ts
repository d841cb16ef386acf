import { expect } from 'chai'
import { Listeners } from '../../src/lib/listeners.ts'
import { until } from '../../src/lib/until.ts'
import { caught, countedSignal } from '../transport/helpers/caught.ts'

/** Something that tells when it has changed, and how many listen. */
function changing() {
  const listeners = new Listeners<void>()
  let count = 0
  return {
    count: () => count,
    changed: () => listeners.tell(),
    onChange: (listener: () => void) => {
      count++
      const end = listeners.add(listener)
      return () => {
        count--
        end()
      }
    }
  }
}

describe('until', () => {
  it('resolves at once where the condition holds', async () => {
    const state = changing()
    await until(state, () => true, new AbortController().signal)
    expect(state.count()).to.equal(0)
  })

  it('resolves after the change that makes it hold, and leaves no listener', async () => {
    const state = changing()
    const { signal, listeners } = countedSignal()
    let isThere = false
    let isOver = false
    const waiting = until(state, () => isThere, signal).then(() => {
      isOver = true
    })
    state.changed()
    await new Promise((resolve) => setTimeout(resolve))
    expect(isOver).to.equal(false)
    isThere = true
    state.changed()
    await waiting
    expect([state.count(), listeners()]).to.deep.equal([0, 0])
  })

  it('rejects with the reason of the signal, and leaves no listener', async () => {
    const state = changing()
    const counted = countedSignal()
    const waiting = caught(until(state, () => false, counted.signal))
    const reason = new Error('mine')
    counted.abort(reason)
    expect(await waiting).to.equal(reason)
    expect([state.count(), counted.listeners()]).to.deep.equal([0, 0])
  })
})
