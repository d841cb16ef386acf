import { expect } from 'chai'
import fc from 'fast-check'
import { compareOrder } from '../../src/archive/entries.ts'
import { invertKey, toKey, toTimeKey } from '../../src/archive/keys.ts'
import { compareBytes } from '../../src/lib/bytes.ts'
import { PROPERTY } from '../helpers/collect.ts'

const position = fc.record({
  timestamp: fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -3n, max: 3n }),
    fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n)
  ),
  messageHash: fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(255))
  )
})

describe(`toKey (seed ${PROPERTY.seed})`, () => {
  it('sorts as places do, and the other way round when inverted', () => {
    const property = fc.property(position, position, (a, b) => {
      const order = Math.sign(compareOrder(a, b))
      expect(Math.sign(compareBytes(toKey(a), toKey(b)))).to.equal(order)
      expect(Math.sign(compareBytes(invertKey(toKey(b)), invertKey(toKey(a))))).to.equal(order)
    })
    fc.assert(property, { seed: PROPERTY.seed })
  })
})

describe('toTimeKey', () => {
  it('sorts before every key of its time, and after every key of an earlier one', () => {
    const property = fc.property(position, ({ timestamp, messageHash }) => {
      const key = toKey({ timestamp, messageHash })
      expect(compareBytes(toTimeKey(timestamp), key)).to.be.at.most(0)
      expect(compareBytes(toTimeKey(timestamp + 1n), key)).to.be.at.least(0)
    })
    fc.assert(property, { seed: PROPERTY.seed })
  })

  it('takes times that are out of range as the nearest', () => {
    expect([...toTimeKey(-(2n ** 63n) - 5n)]).to.deep.equal(Array(40).fill(0))
    expect([...toTimeKey(2n ** 63n)]).to.deep.equal(Array(40).fill(255))
  })
})
