import { expect } from 'chai'
import type { Row } from '../../src/store/page.ts'
import { toLast } from '../../src/store/walk.ts'

const PROTOCOL = '/any/1'

function rowOf(time: bigint, hash: number): Row {
  const messageHash = Uint8Array.of(hash)
  const message = { payload: messageHash, contentTopic: '', pubsubTopic: '', messageHash }
  return { time, tie: messageHash, message }
}

/** The hashes of rows of one time. */
function rows(time: bigint, from: number, to: number): Row[] {
  return Array.from({ length: to - from }, (_, index) => rowOf(time, from + index))
}

const numbers = (hashes: readonly Uint8Array[] | undefined): (number | undefined)[] | undefined =>
  hashes?.map(([hash]) => hash)

describe('toLast', () => {
  it('keeps the hashes of the last time, also over the end of a page, and of no other', () => {
    const first = toLast([rowOf(1n, 1), rowOf(2n, 2)], PROTOCOL, undefined, true)
    const second = toLast([rowOf(2n, 3)], PROTOCOL, first, true)
    expect(numbers(second?.hashes)).to.deep.equal([2, 3])
    expect(numbers(toLast([rowOf(3n, 4)], PROTOCOL, second, true)?.hashes)).to.deep.equal([4])
    expect(toLast([], PROTOCOL, second, true)).to.equal(second)
  })

  it('keeps of more than 32 those that stand beyond the last one, up to 32', () => {
    for (const forward of [true, false]) {
      const behind = forward ? [200] : [100]
      const beyond = (count: number): Row[] =>
        rows(1n, forward ? 201 : 100 - count, forward ? 201 + count : 100)
      const few = [
        ...rows(1n, 101, 101 + 33 - 5),
        ...beyond(5),
        ...behind.map((hash) => rowOf(1n, hash))
      ]
      const last = toLast(few, PROTOCOL, undefined, forward)
      expect(last?.hashes).to.equal(undefined)
      expect(numbers(last?.beyond)).to.deep.equal(beyond(5).map(({ tie }) => tie[0]))
      // what is beyond is carried on
      const next = toLast(
        [rowOf(1n, (behind[0] as number) + (forward ? 2 : -2))],
        PROTOCOL,
        last,
        forward
      )
      expect(next?.hashes).to.equal(undefined)
      expect(next?.beyond).to.have.length(3)
      for (const [count, length] of [
        [32, 32],
        [33, undefined]
      ] as const) {
        const many = [...beyond(count), ...behind.map((hash) => rowOf(1n, hash))]
        expect(toLast(many, PROTOCOL, undefined, forward)?.beyond?.length).to.equal(length)
      }
    }
  })
})
