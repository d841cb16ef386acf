import { expect } from 'chai'
import { InvalidArgumentError } from 'waku-light/errors'
import {
  assertNetworkConfig,
  formatPubsubTopic,
  parseContentTopic,
  parsePubsubTopic,
  toPubsubTopic,
  toShard
} from 'waku-light/message'
import vectors from '../vectors/sharding.json' with { type: 'json' }
import { recorded } from '../wire/recorded.ts'

function throwsFor(parameter: string, call: () => unknown): void {
  expect(call).to.throw(InvalidArgumentError).with.property('parameter', parameter)
}

describe('parseContentTopic', () => {
  it('takes a topic of four parts apart, its generation being 0', () => {
    expect(parseContentTopic('/toychat/2/huilong/proto')).to.deep.equal({
      generation: 0,
      application: 'toychat',
      version: '2',
      name: 'huilong',
      encoding: 'proto'
    })
  })

  it('takes the generation where there are five', () => {
    expect(parseContentTopic('/7/toychat/2/huilong/proto')).to.include({
      generation: 7,
      application: 'toychat'
    })
    expect(parseContentTopic('/0/0/0/0/0')).to.include({
      generation: 0,
      application: '0',
      encoding: '0'
    })
  })

  it('names the parameter for anything else', () => {
    const malformed = [
      '',
      'bogus',
      '/',
      '/a/1/b',
      '/0/a/1/b/proto/x',
      '//1/b/proto',
      '/a//b/proto',
      '/a/1//proto',
      '/a/1/b/',
      '/x/a/1/b/proto',
      '//a/1/b/proto',
      '/-1/a/1/b/proto',
      '/1.5/a/1/b/proto',
      '/1234567890/a/1/b/proto',
      ' /a/1/b/proto',
      undefined,
      null,
      5
    ]
    for (const topic of malformed) {
      throwsFor('contentTopic', () => parseContentTopic(topic as string))
      throwsFor('criteria.contentTopics[1]', () =>
        parseContentTopic(topic as string, 'criteria.contentTopics[1]')
      )
    }
  })
})

describe('toShard', () => {
  for (const { source, application, version, shardCount, shard } of vectors) {
    it(`puts ${application}/${version} on shard ${shard} of ${shardCount} (${source})`, () => {
      expect(toShard(`/${application}/${version}/any/proto`, shardCount)).to.equal(shard)
      expect(toShard(`/0/${application}/${version}/other/json`, shardCount)).to.equal(shard)
    })
  }

  it('rejects what the reference node rejects, and takes what it takes', () => {
    const cases = recorded('lightpush3').filter(({ id }) =>
      /auto-(ct|generation|topic-absent)/.test(id)
    )
    expect(cases).to.have.length(13)
    for (const { note, decoded } of cases) {
      const quoted = /content topic "(.*?)"/.exec(note)?.[1]
      const topic = quoted ?? '/toychat/2/huilong/proto'
      if (decoded.status_code === 200) {
        expect(toShard(topic, 8), note).to.equal(3)
      } else {
        throwsFor('contentTopic', () => toShard(topic, 8))
      }
    }
  })

  it('rejects a generation other than 0', () => {
    throwsFor('topic', () => toShard('/1/toychat/2/huilong/proto', 8, 'topic'))
  })

  it('names the shard count where it is out of range', () => {
    for (const shardCount of [0, -1, 1.5, 1025, Number.NaN, Number.POSITIVE_INFINITY, '8']) {
      throwsFor('shardCount', () => toShard('/a/1/b/proto', shardCount as number))
    }
    expect(toShard('/a/1/b/proto', 1024)).to.be.within(0, 1023)
  })
})

describe('formatPubsubTopic and parsePubsubTopic', () => {
  it('are inverse to each other', () => {
    for (const shard of [
      { clusterId: 0, shard: 0 },
      { clusterId: 16, shard: 7 },
      { clusterId: 65535, shard: 65535 }
    ]) {
      expect(parsePubsubTopic(formatPubsubTopic(shard))).to.deep.equal(shard)
    }
    expect(formatPubsubTopic({ clusterId: 1, shard: 3 })).to.equal('/waku/2/rs/1/3')
  })

  it('give undefined for topics of another form', () => {
    for (const topic of [
      '',
      'foo',
      '/waku/2/default-waku/proto',
      '/waku/2/rs/1',
      '/waku/2/rs/1/',
      '/waku/2/rs/1/3/4',
      '/waku/2/rs/65536/0',
      '/waku/2/rs/0/65536',
      '/waku/2/rs/-1/0',
      '/waku/2/rs/1/3 ',
      '/waku/2/rs/1/3\n',
      '/waku/2/rs/1/0x3',
      '/waku/1/rs/1/3'
    ]) {
      expect(parsePubsubTopic(topic), topic).to.equal(undefined)
    }
  })
})

describe('toPubsubTopic', () => {
  it('derives the shard under automatic sharding', () => {
    expect(toPubsubTopic('/toychat/2/huilong/proto', { clusterId: 1, shardCount: 8 })).to.equal(
      '/waku/2/rs/1/3'
    )
  })

  it('is the one topic of static sharding, whatever the content topic', () => {
    expect(
      toPubsubTopic('anything', { clusterId: 16, pubsubTopics: ['/waku/2/rs/16/5'] })
    ).to.equal('/waku/2/rs/16/5')
  })

  it('names the content topic where it is malformed, and the pubsub topic where it cannot be told', () => {
    throwsFor('topics[0]', () =>
      toPubsubTopic('bogus', { clusterId: 1, shardCount: 8 }, 'topics[0]')
    )
    for (const pubsubTopics of [[], ['/waku/2/rs/1/0', '/waku/2/rs/1/1']]) {
      throwsFor('pubsubTopic', () => toPubsubTopic('/a/1/b/proto', { clusterId: 1, pubsubTopics }))
    }
  })
})

describe('assertNetworkConfig', () => {
  it('accepts both kinds at their bounds, and named topics of no cluster', () => {
    for (const clusterId of [0, 65535]) {
      assertNetworkConfig({ clusterId, shardCount: 1 })
      assertNetworkConfig({ clusterId, shardCount: 1024 })
      assertNetworkConfig({
        clusterId,
        pubsubTopics: [`/waku/2/rs/${clusterId}/0`, '/waku/2/default-waku/proto']
      })
    }
  })

  const wrong: readonly [string, object][] = [
    ['clusterId', { clusterId: -1, shardCount: 8 }],
    ['clusterId', { clusterId: 65536, shardCount: 8 }],
    ['clusterId', { clusterId: '1', shardCount: 8 }],
    ['clusterId', { shardCount: 8 }],
    ['shardCount', { clusterId: 1, shardCount: 0 }],
    ['shardCount', { clusterId: 1, shardCount: 1025 }],
    ['shardCount', { clusterId: 1, shardCount: undefined }],
    ['pubsubTopics', { clusterId: 1 }],
    ['pubsubTopics', { clusterId: 1, pubsubTopics: [] }],
    ['pubsubTopics', { clusterId: 1, pubsubTopics: '/waku/2/rs/1/0' }],
    ['pubsubTopics', { clusterId: 1, pubsubTopics: [''] }],
    ['pubsubTopics', { clusterId: 1, pubsubTopics: [5] }],
    ['pubsubTopics', { clusterId: 1, pubsubTopics: ['/waku/2/rs/1/0', '/waku/2/rs/2/0'] }]
  ]
  for (const [parameter, network] of wrong) {
    it(`names ${parameter} for ${JSON.stringify(network)}`, () => {
      throwsFor(parameter, () => assertNetworkConfig(network as never))
    })
  }
})
