import { expect } from 'chai'
import { InvalidArgumentError } from 'waku-light/errors'
import { fromMilliseconds, NANOSECONDS_PER_MS, toDate, toNanoseconds } from 'waku-light/message'
import { distinctTimes } from '../../src/lib/time.ts'
import vectors from '../vectors/timestamps.json' with { type: 'json' }

const dated = vectors.flatMap(({ nanoseconds, date, source }) =>
  date === undefined ? [] : [{ nanoseconds: BigInt(nanoseconds), date: new Date(date), source }]
)

describe('toNanoseconds', () => {
  for (const { nanoseconds, date, source } of dated) {
    it(`is ${nanoseconds} for ${date.toISOString()} (${source})`, () => {
      expect(toNanoseconds(date, 'time')).to.equal(nanoseconds)
    })
  }

  it('keeps a bigint as it is, up to the bounds of 64 bits', () => {
    for (const time of [0n, 1n, -1n, 1700000001000000001n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      expect(toNanoseconds(time, 'time')).to.equal(time)
    }
  })

  it('names the parameter for anything else', () => {
    const wrong = [
      1700000001000,
      '2026-01-01',
      undefined,
      null,
      {},
      new Date(Number.NaN),
      2n ** 63n,
      -(2n ** 63n) - 1n,
      new Date(8.64e15),
      new Date(-8.64e15)
    ]
    for (const time of wrong) {
      expect(() => toNanoseconds(time as Date, 'criteria.timeStart'))
        .to.throw(InvalidArgumentError)
        .with.property('parameter', 'criteria.timeStart')
    }
  })
})

describe('fromMilliseconds', () => {
  it('is exact where a product of numbers would not be', () => {
    expect(fromMilliseconds(1700000001001)).to.equal(1700000001001000000n)
    expect(BigInt(1700000001001 * 1_000_000)).to.not.equal(1700000001001000000n)
    expect(fromMilliseconds(1)).to.equal(NANOSECONDS_PER_MS)
  })

  it('drops a fraction of a millisecond, towards the past', () => {
    expect(fromMilliseconds(1.9)).to.equal(1_000_000n)
    expect(fromMilliseconds(-1.1)).to.equal(-2_000_000n)
  })

  it('names the parameter for what is no finite number', () => {
    for (const time of [Number.NaN, Number.POSITIVE_INFINITY, 5n, '5', undefined]) {
      expect(() => fromMilliseconds(time as number))
        .to.throw(InvalidArgumentError)
        .with.property('parameter', 'milliseconds')
    }
  })
})

describe('toDate', () => {
  for (const { nanoseconds, date, source } of dated) {
    it(`is ${date.toISOString()} for ${nanoseconds} (${source})`, () => {
      expect(toDate(nanoseconds).getTime()).to.equal(date.getTime())
    })
  }

  it('drops what is finer than a millisecond, towards the past', () => {
    expect(toDate(1_999_999n).getTime()).to.equal(1)
    expect(toDate(-1n).getTime()).to.equal(-1)
    expect(toDate(-1_000_001n).getTime()).to.equal(-2)
  })

  it('is a valid date for every 64-bit time', () => {
    expect(toDate(2n ** 63n - 1n).toISOString()).to.equal('2262-04-11T23:47:16.854Z')
    expect(toDate(-(2n ** 63n)).toISOString()).to.equal('1677-09-21T00:12:43.145Z')
  })
})

describe('distinctTimes', () => {
  function timesAt(...clock: number[]): bigint[] {
    const left = [...clock]
    const next = distinctTimes(() => left.shift() as number)
    return clock.map(() => next())
  }

  it('gives the time, and a nanosecond more for each one that has the same', () => {
    expect(timesAt(5, 5, 5, 6)).to.deep.equal([5_000_000n, 5_000_001n, 5_000_002n, 6_000_000n])
  })

  it('goes on where a clock was set back by less than a second, and believes it where by more', () => {
    const late = 2_000_000_000n
    expect(timesAt(2_000, 1_001)).to.deep.equal([late, late + 1n])
    expect(timesAt(2_000, 1_000)).to.deep.equal([late, late / 2n])
  })
})
