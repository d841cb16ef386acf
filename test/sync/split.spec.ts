import { expect } from 'chai'
import { splitRange } from '../../src/sync/split.ts'
import { toIndex } from './pair.ts'
import { toEntry } from './twin.ts'

const at = (...times: number[]): ReturnType<typeof toIndex> =>
  toIndex(times.map((time, number) => toEntry(BigInt(time), number)))
const times = (count: number, time: number): number[] => Array<number>(count).fill(time)

describe('splitRange', () => {
  it('cuts at times of entries, into parts of about the same number of them', () => {
    const index = at(...Array.from({ length: 100 }, (_, number) => 1_000 + 10 * number))
    const bounds = { lower: 0n, upper: 5_000n }
    expect(splitRange(index, bounds, 4)).to.deep.equal([1_250n, 1_500n, 1_750n])
    expect(splitRange(index, bounds, 1)).to.deep.equal([])
    expect(splitRange(index, { lower: 1_000n, upper: 1_020n }, 2)).to.deep.equal([1_010n])
  })

  it('makes no part narrower than 8 ns', () => {
    const index = at(...Array.from({ length: 40 }, (_, number) => number))
    const cuts = splitRange(index, { lower: 0n, upper: 40n }, 40)
    expect(cuts).to.deep.equal([8n, 16n, 24n, 32n])
    expect(splitRange(index, { lower: 0n, upper: 39n }, 40)).to.deep.equal([8n, 16n, 24n])
    expect(splitRange(index, { lower: 0n, upper: 15n }, 40)).to.deep.equal([])
    expect(splitRange(index, { lower: 0n, upper: 16n }, 40)).to.deep.equal([8n])
  })

  it('parts a crowd at one end of the range from the others', () => {
    const bounds = { lower: 0n, upper: 1_000n }
    expect(splitRange(at(...times(99, 0), 500), bounds, 4)).to.deep.equal([500n])
    expect(splitRange(at(3, ...times(99, 999)), bounds, 4)).to.deep.equal([992n])
  })

  it('does not cut where nothing lies, or all within less than 8 ns', () => {
    const bounds = { lower: 0n, upper: 1_000n }
    expect(splitRange(at(), bounds, 4)).to.deep.equal([])
    expect(splitRange(at(...times(50, 500), ...times(50, 507)), bounds, 4)).to.deep.equal([])
    expect(splitRange(at(...times(50, 500), ...times(50, 508)), bounds, 2)).to.deep.equal([508n])
  })
})
