import { expect } from 'chai'
import { Standing } from '../../src/transport/standing.ts'

const MINUTE_MS = 60_000

describe('Standing', () => {
  let nowMs = 0
  const create = (): Standing => new Standing(() => nowMs)

  beforeEach(() => {
    nowMs = 1_700_000_000_000
  })

  it('is 0 for what nobody knows, more after a success, less after a failure', () => {
    const [unknown, good, bad] = [create(), create(), create()]
    good.succeeded()
    bad.failed()
    expect(unknown.value).to.equal(0)
    expect(good.value).to.be.above(0)
    expect(bad.value).to.be.below(0)
  })

  it('fades: by half in a minute, to next to nothing in ten', () => {
    const standing = create()
    standing.failed()
    const before = standing.value
    nowMs += MINUTE_MS
    expect(standing.value).to.equal(before / 2)
    nowMs += 9 * MINUTE_MS
    expect(Math.abs(standing.value)).to.be.below(0.01)
  })

  it('is worse for each failure in a row, with an end, and forgets them with a success', () => {
    const standing = create()
    const values = Array.from({ length: 20 }, () => {
      standing.failed()
      return standing.value
    })
    expect(values[1]).to.be.below(values[0] ?? 0)
    expect(values.at(-1)).to.equal(values.at(-2))
    standing.succeeded()
    expect(standing.value).to.equal(1)
    standing.failed()
    expect(standing.value).to.equal(values[0])
  })

  it('rests longer each time in a row; many answers at once are one time', () => {
    const standing = create()
    expect(standing.restMs).to.equal(0)
    const rests = Array.from({ length: 8 }, () => {
      standing.rest()
      const { restMs } = standing
      standing.rest()
      standing.rest()
      expect(standing.restMs).to.equal(restMs)
      nowMs += restMs
      expect(standing.restMs).to.equal(0)
      return restMs
    })
    expect(rests.slice(0, 3)).to.deep.equal([1000, 2000, 4000])
    expect(rests.at(-1)).to.equal(30_000)
    standing.succeeded()
    standing.rest()
    expect(standing.restMs).to.equal(1000)
  })

  it('bears a clock that is set back', () => {
    const standing = create()
    standing.failed()
    standing.rest()
    nowMs -= 1000 * MINUTE_MS
    expect(standing.value).to.equal(-2)
    expect(standing.restMs).to.equal(1000)
  })
})
