import { expect } from 'chai'
import { fromNetworkOptions, toNetworkConfig } from '../../src/transport/network.ts'

function thrown(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  return expect.fail('it did not throw')
}

describe('toNetworkConfig', () => {
  it('takes the shard count of a well-known cluster, whatever the node serves', () => {
    for (const [clusterId, shardCount] of [
      [1, 8],
      [2, 8],
      [3, 8],
      [16, 1]
    ] as const) {
      for (const shards of [[], [5], [0, 1, 2]]) {
        expect(toNetworkConfig({ clusterId, shards })).to.deep.equal({ clusterId, shardCount })
      }
    }
  })

  it('takes shards from 0 on as all there are', () => {
    expect(toNetworkConfig({ clusterId: 66, shards: [0] })).to.deep.equal({
      clusterId: 66,
      shardCount: 1
    })
    expect(toNetworkConfig({ clusterId: 0, shards: [0, 1, 2] })).to.deep.equal({
      clusterId: 0,
      shardCount: 3
    })
  })

  it('takes shards with holes as static ones', () => {
    expect(toNetworkConfig({ clusterId: 66, shards: [32, 64] })).to.deep.equal({
      clusterId: 66,
      pubsubTopics: ['/waku/2/rs/66/32', '/waku/2/rs/66/64']
    })
    expect(toNetworkConfig({ clusterId: 66, shards: [0, 2] })).to.have.property('pubsubTopics')
  })

  it('throws UnsupportedError if the node does not tell enough', () => {
    expect(thrown(() => toNetworkConfig({ shards: [0] }))).to.include({ code: 'ERR_UNSUPPORTED' })
    expect(thrown(() => toNetworkConfig({ clusterId: 66, shards: [] }))).to.include({
      code: 'ERR_UNSUPPORTED'
    })
  })

  it('throws ProtocolViolationError for a cluster or shard out of range', () => {
    expect(toNetworkConfig({ clusterId: 0xffff, shards: [1023] })).to.have.property('pubsubTopics')
    for (const metadata of [
      { clusterId: 0x10000, shards: [0] },
      { clusterId: 66, shards: [1024] },
      { clusterId: 1, shards: [1024] }
    ]) {
      expect(thrown(() => toNetworkConfig(metadata))).to.include({ code: 'ERR_PROTOCOL_VIOLATION' })
    }
  })
})

describe('fromNetworkOptions', () => {
  it('leaves the network open where nothing is given', () => {
    expect(fromNetworkOptions({})).to.equal(undefined)
  })

  it('takes a cluster with its shard count', () => {
    expect(fromNetworkOptions({ clusterId: 0, shardCount: 8 })).to.deep.equal({
      clusterId: 0,
      shardCount: 8
    })
  })

  it('takes pubsub topics, with their cluster or a given one', () => {
    const pubsubTopics = ['/waku/2/rs/5/1', 'unnamed']
    const network = { clusterId: 5, pubsubTopics: ['/waku/2/rs/5/1', 'unnamed'] }
    expect(fromNetworkOptions({ pubsubTopics })).to.deep.equal(network)
    expect(fromNetworkOptions({ pubsubTopics, clusterId: 5 })).to.deep.equal(network)
    const taken = fromNetworkOptions({ pubsubTopics })
    pubsubTopics.pop()
    expect(taken).to.deep.equal(network)
  })

  it('takes pubsub topics of a proxy, as state is that a framework watches', () => {
    const pubsubTopics = new Proxy(['/waku/2/rs/5/1'], {})
    const network = { clusterId: 5, pubsubTopics: ['/waku/2/rs/5/1'] }
    expect(fromNetworkOptions({ pubsubTopics })).to.deep.equal(network)
  })

  it('names the parameter that is wrong or does not go with the others', () => {
    const cases: [string, object][] = [
      ['pubsubTopics', { shardCount: 8, clusterId: 1, pubsubTopics: ['/waku/2/rs/1/0'] }],
      ['clusterId', { clusterId: 1 }],
      ['clusterId', { shardCount: 8 }],
      ['clusterId', { pubsubTopics: ['unnamed'] }],
      ['clusterId', { pubsubTopics: [] }],
      ['pubsubTopics', { clusterId: 1, pubsubTopics: [] }],
      ['pubsubTopics', { clusterId: 1, pubsubTopics: ['/waku/2/rs/2/0'] }],
      ['pubsubTopics', { pubsubTopics: ['/waku/2/rs/1/0', '/waku/2/rs/2/0'] }],
      ['pubsubTopics', { pubsubTopics: ['/waku/2/rs/1/0', 5] }],
      ['clusterId', { clusterId: -1, shardCount: 8 }],
      ['clusterId', { clusterId: 65536, shardCount: 8 }],
      ['clusterId', { clusterId: '1', shardCount: 8 }],
      ['shardCount', { clusterId: 1, shardCount: 0 }],
      ['shardCount', { clusterId: 1, shardCount: 1025 }],
      ['shardCount', { clusterId: 1, shardCount: 1.5 }]
    ]
    for (const [parameter, options] of cases) {
      expect(
        thrown(() => fromNetworkOptions(options)),
        JSON.stringify(options)
      ).to.include({
        code: 'ERR_INVALID_ARGUMENT',
        parameter
      })
    }
  })
})
