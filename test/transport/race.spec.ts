import { expect } from 'chai'
import { race, type Start } from '../../src/transport/race.ts'
import { caught, countedSignal, withCountedTimers } from './helpers/caught.ts'

/** Long enough never to pass in a test. */
const LONG_MS = 60_000

const fails =
  (message: string): Start<string> =>
  async () => {
    throw new Error(message)
  }

/** Never ends; keeps the signal it was given. */
function hanging(): {
  readonly start: Start<string>
  readonly signal: () => AbortSignal | undefined
} {
  let given: AbortSignal | undefined
  return {
    start: (signal) => {
      given = signal
      return new Promise(() => undefined)
    },
    signal: () => given
  }
}

describe('race', () => {
  const { signal } = new AbortController()

  it('starts the next one at once when one fails, and none after a success', async () => {
    let started = 0
    const counting = (start: Start<string>): Start<string> => {
      return async (inner) => {
        started++
        return await start(inner)
      }
    }
    const starts = [fails('one'), fails('two'), async () => 'three', fails('four')].map(counting)
    expect(await race(starts, LONG_MS, signal)).to.equal('three')
    expect(started).to.equal(3)
  })

  it('starts the next one beside one that says nothing, and ends the loser', async () => {
    const [first, second] = [hanging(), hanging()]
    expect(await race([first.start, second.start, async () => 'three'], 1, signal)).to.equal(
      'three'
    )
    for (const loser of [first, second]) {
      expect(loser.signal()?.reason).to.include({ code: 'ERR_CONNECTION' })
    }
  })

  it('takes a slow first one where the others fail', async () => {
    const slow = Promise.withResolvers<string>()
    const racing = race([() => slow.promise, fails('two'), fails('three')], 0, signal)
    setTimeout(() => slow.resolve('one'), 10)
    expect(await racing).to.equal('one')
  })

  it('drops what comes in spite of the end', async () => {
    const dropped: string[] = []
    const late = Promise.withResolvers<string>()
    const starts: Start<string>[] = [() => late.promise, async () => 'two']
    expect(await race(starts, 0, signal, (value) => dropped.push(value))).to.equal('two')
    late.resolve('one')
    await late.promise
    await Promise.resolve()
    expect(dropped).to.deep.equal(['one'])
  })

  it('leaves no timer behind', async () => {
    await withCountedTimers(async (pending) => {
      const before = pending()
      expect(await race([async () => 'one', fails('two')], LONG_MS, signal)).to.equal('one')
      await caught(race([fails('one'), fails('two')], LONG_MS, signal))
      expect(pending()).to.equal(before)
    })
  })

  it('rejects with all reasons in order', async () => {
    const error = await caught(race([fails('one'), fails('two')], LONG_MS, signal))
    expect(error).to.be.instanceOf(AggregateError)
    const { errors } = error as AggregateError
    expect(errors.map(({ message }) => message)).to.deep.equal(['one', 'two'])
    expect(((await caught(race([], LONG_MS, signal))) as AggregateError).errors).to.deep.equal([])
  })

  it('ends with the reason of the signal, in the same turn, and so do those under way', async () => {
    const counted = countedSignal()
    const { start, signal: given } = hanging()
    const racing = race([start], LONG_MS, counted.signal)
    const reason = new Error('mine')
    counted.abort(reason)
    expect(await caught(racing)).to.equal(reason)
    expect(given()?.reason).to.equal(reason)
    expect(counted.listeners()).to.equal(0)
    expect(await caught(race([start], LONG_MS, AbortSignal.abort(reason)))).to.equal(reason)
  })
})
