import { expect } from 'chai'
import { intersect } from '../../src/sync/scope.ts'

describe('intersect', () => {
  it('wants the very same shards in the older layout, unless we want everything', () => {
    const agrees = (ours: number[], theirs: number[]): boolean =>
      intersect(
        { pubsubTopics: ours.map((shard) => `/waku/2/rs/1/${shard}`), contentTopics: [] },
        { layout: 'shards', clusterId: 1, shards: theirs }
      ) !== undefined
    expect(agrees([0, 1], [1, 0])).to.equal(true)
    expect(agrees([0, 1], [0])).to.equal(false)
    expect(agrees([0], [0, 1])).to.equal(false)
    expect(agrees([], [0])).to.equal(true)
    expect(agrees([], [])).to.equal(false)
  })
})
