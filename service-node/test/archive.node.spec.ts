import { join } from 'node:path'
import { expect } from 'chai'
import { toHex } from 'waku-light/message'
import { decodeWakuMessage } from 'waku-light/wire'
import { Archive } from '../src/archive/archive.ts'
import { isArchivable, toArchivedMessage } from '../src/archive/archived-message.ts'
import { type KeyQuery, keyStatement } from '../src/archive/page-query.ts'
import type { PageQuery } from '../src/archive/page-reader.ts'
import { openDatabase } from '../src/archive/schema.ts'
import { CONTENT_TOPIC, encodeMessage, makeMessage, NOW, TOPIC } from './helpers/messages.ts'
import { Resources } from './helpers/resources.ts'

const OTHER_TOPIC = '/waku/2/rs/42/1'
const OTHER_CONTENT_TOPIC = '/toychat/2/other/proto'
const FOREVER = { maxAgeMs: 1e12, maxCount: 1e9 }

const QUERY: PageQuery = {
  order: 'timestamp-hash',
  contentTopics: [],
  forward: true,
  limit: 100,
  includeData: true,
  maxBytes: 1e9
}

function row(
  fields: { timestamp?: bigint; payload?: Uint8Array<ArrayBuffer>; contentTopic?: string } = {},
  pubsubTopic = TOPIC,
  now = NOW
) {
  const encoded = encodeMessage({ timestamp: NOW, ...fields })
  return toArchivedMessage(pubsubTopic, decodeWakuMessage(encoded), encoded, now)
}

describe('Archive', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  function open(file = ':memory:', retention = FOREVER): Archive {
    const archive = new Archive({ file, retention, now: () => NOW })
    resources.add(() => archive.close())
    return archive
  }

  /** Walks all pages, checking that each cursor leads on, and returns hashes in the order of delivery. */
  function walk(archive: Archive, query: Partial<PageQuery>): string[] {
    const pages: string[][] = []
    let after: PageQuery['after']
    for (;;) {
      const page = archive.pages.readPage({ ...QUERY, ...query, after })
      const hashes = page.rows.map(({ hash = new Uint8Array() }) => toHex(hash))
      pages.push(hashes)
      if (page.next === undefined) {
        return (query.forward === false ? pages.reverse() : pages).flat()
      }
      expect(hashes).to.not.be.empty
      after = page.last
    }
  }

  async function fill(archive: Archive) {
    // Five to a timestamp, two content topics, two pubsub topics, in no order.
    const rows = Array.from({ length: 60 }, (_, index) =>
      row(
        {
          timestamp: NOW + BigInt((index * 7) % 12),
          contentTopic: index % 3 === 0 ? OTHER_CONTENT_TOPIC : CONTENT_TOPIC
        },
        index % 4 === 0 ? OTHER_TOPIC : TOPIC,
        NOW + BigInt(index) * 40_000_000_000n
      )
    )
    await Promise.all(rows.map((each) => archive.insert(each)))
    return rows
  }

  type Row = ReturnType<typeof row>

  function sorted(rows: Row[], digestOrder = false): string[] {
    return [...rows]
      .sort((a, b) =>
        a.timestamp !== b.timestamp
          ? Number(a.timestamp - b.timestamp)
          : Buffer.compare(digestOrder ? a.digest : a.hash, digestOrder ? b.digest : b.hash)
      )
      .map(({ hash }) => toHex(hash))
  }

  for (const forward of [true, false]) {
    const direction = forward ? 'forward' : 'backward'

    it(`pages by (timestamp, hash), ${direction}, through equal timestamps`, async () => {
      const archive = open()
      const rows = await fill(archive)
      for (const limit of [1, 3, 5, 59, 60]) {
        expect(walk(archive, { forward, limit }), `limit ${limit}`).to.deep.equal(sorted(rows))
      }
    })

    it(`pages by (stored time, digest), ${direction}`, async () => {
      const archive = open()
      const rows = await fill(archive)
      const order = 'timestamp-digest'
      expect(walk(archive, { order, forward, limit: 7 })).to.deep.equal(sorted(rows, true))
    })

    it(`pages by (float of the received time, digest), ${direction}`, async () => {
      const archive = open()
      const rows = await fill(archive)
      const expected = [...rows]
        .sort((a, b) => a.receivedTime - b.receivedTime || Buffer.compare(a.digest, b.digest))
        .map(({ hash }) => toHex(hash))
      expect(new Set(rows.map(({ receivedTime }) => receivedTime)).size).to.be.within(10, 30)
      expect(walk(archive, { order: 'received-digest', forward, limit: 7 })).to.deep.equal(expected)
    })

    it(`filters by topics and time, ${direction}, in pages of any size`, async () => {
      const archive = open()
      const rows = await fill(archive)
      const matches = (filter: (each: Row) => boolean) => sorted(rows.filter(filter))
      for (const limit of [2, 100]) {
        expect(walk(archive, { forward, limit, pubsubTopic: TOPIC })).to.deep.equal(
          matches(({ pubsubTopic }) => pubsubTopic === TOPIC)
        )
        expect(
          walk(archive, { forward, limit, contentTopics: [OTHER_CONTENT_TOPIC] })
        ).to.deep.equal(matches(({ contentTopic }) => contentTopic === OTHER_CONTENT_TOPIC))
        const contentTopics = [OTHER_CONTENT_TOPIC, CONTENT_TOPIC, OTHER_CONTENT_TOPIC]
        const range = { timeFrom: NOW + 3n, timeTo: NOW + 6n }
        const both = walk(archive, { forward, limit, pubsubTopic: TOPIC, contentTopics, ...range })
        expect(both).to.have.length.greaterThan(5)
        expect(both).to.deep.equal(
          matches(
            ({ pubsubTopic, timestamp }) =>
              pubsubTopic === TOPIC && timestamp >= NOW + 3n && timestamp <= NOW + 6n
          )
        )
      }
    })
  }

  it('takes a cursor outside of the time range as a position', async () => {
    const archive = open()
    const rows = await fill(archive)
    const range = { timeFrom: NOW + 3n, timeTo: NOW + 6n }
    const inRange = sorted(
      rows.filter(({ timestamp }) => timestamp >= NOW + 3n && timestamp <= NOW + 6n)
    )
    const read = (time: bigint, forward: boolean): number => {
      const after = { time, hash: new Uint8Array(32) }
      return archive.pages.readPage({ ...QUERY, ...range, forward, after }).rows.length
    }
    expect(read(NOW, true)).to.equal(inRange.length)
    expect(read(NOW + 9n, true)).to.equal(0)
    expect(read(NOW, false)).to.equal(0)
    expect(read(NOW + 9n, false)).to.equal(inRange.length)
  })

  it('looks messages up by hash, each once, in order and in pages', async () => {
    const archive = open()
    const rows = await fill(archive)
    const asked = [...rows.slice(10, 25), ...rows.slice(20, 30)].reverse().map(({ hash }) => hash)
    const hashes = [new Uint8Array(32), ...asked]
    for (const forward of [true, false]) {
      expect(walk(archive, { hashes, forward, limit: 6 })).to.deep.equal(sorted(rows.slice(10, 30)))
    }
  })

  it('returns each message byte by byte, with its pubsub topic', async () => {
    const archive = open()
    const encoded = Uint8Array.from([
      ...encodeMessage({ version: 2, meta: Uint8Array.of(1, 2), timestamp: NOW }),
      0xf0,
      0x07,
      0x01
    ])
    await archive.insert(toArchivedMessage(OTHER_TOPIC, decodeWakuMessage(encoded), encoded, NOW))
    const [found] = archive.pages.readPage(QUERY).rows
    expect(toHex(found?.message ?? new Uint8Array())).to.equal(toHex(encoded))
    expect(found?.pubsubTopic).to.equal(OTHER_TOPIC)
  })

  it('ends a page before it gets larger than its limit in bytes, but not empty', async () => {
    const archive = open()
    const payload = (byte: number) => new Uint8Array(1000).fill(byte)
    for (const byte of [1, 2, 3]) {
      await archive.insert(row({ payload: payload(byte), timestamp: NOW + BigInt(byte) }))
    }
    const page = archive.pages.readPage({ ...QUERY, maxBytes: 2500 })
    expect(page.rows).to.have.lengthOf(2)
    expect(page.next?.time).to.equal(NOW + 3n)
    expect(archive.pages.readPage({ ...QUERY, maxBytes: 10 }).rows).to.have.lengthOf(1)
  })

  it('keeps a message once', async () => {
    const archive = open()
    const each = row()
    await Promise.all([archive.insert(each), archive.insert(each)])
    await archive.insert(each)
    expect(archive.count).to.equal(1)
    expect(archive.pages.readPage(QUERY).rows).to.have.lengthOf(1)
  })

  it('deletes the oldest beyond its count', async () => {
    const archive = open(':memory:', { ...FOREVER, maxCount: 2 })
    for (const offset of [5n, 1n, 3n]) {
      await archive.insert(row({ timestamp: NOW + offset }))
    }
    expect(archive.count).to.equal(2)
    expect(archive.pages.readPage(QUERY).rows.map(({ time }) => time)).to.deep.equal([
      NOW + 3n,
      NOW + 5n
    ])
  })

  it('deletes what is older than its age', async () => {
    const archive = open(':memory:', { ...FOREVER, maxAgeMs: 1 })
    await archive.insert(row({ timestamp: NOW - 1_000_001n }))
    await archive.insert(row({ timestamp: NOW - 999_999n }))
    archive.prune()
    expect(archive.count).to.equal(1)
    expect(archive.pages.readPage(QUERY).rows[0]?.time).to.equal(NOW - 999_999n)
  })

  it('is the same after it was closed and opened again', async () => {
    const file = join(resources.directory(), 'archive.db')
    const first = open(file)
    const rows = await fill(first)
    first.close()
    const second = open(file)
    expect(second.count).to.equal(60)
    expect(walk(second, { limit: 7 })).to.deep.equal(sorted(rows))
  })

  it('commits what is pending when it is closed', async () => {
    const file = join(resources.directory(), 'archive.db')
    const first = open(file)
    const inserted = first.insert(row())
    first.close()
    await inserted
    expect(open(file).count).to.equal(1)
  })

  it('refuses a file that another archive has open', () => {
    const file = join(resources.directory(), 'archive.db')
    const first = open(file)
    expect(() => open(file))
      .to.throw('in use by another')
      .with.property('code', 'ERR_DATABASE_IN_USE')
    first.close()
    expect(open(file).count).to.equal(0)
  })

  it('refuses a file that is no archive', () => {
    const file = join(resources.directory(), 'missing', 'archive.db')
    expect(() => open(file))
      .to.throw()
      .with.property('code', 'ERR_DATABASE')
  })

  it('stores nothing of a transaction that fails, and goes on when there is room again', async () => {
    const archive = open()
    await archive.insert(row())
    archive.limitPages(40)
    const big = Array.from({ length: 5 }, (_, byte) =>
      row({ payload: new Uint8Array(100_000).fill(byte) })
    )
    const results = await Promise.allSettled(big.map((each) => archive.insert(each)))
    expect(results.map(({ status }) => status)).to.deep.equal(Array(5).fill('rejected'))
    expect(archive.lastError?.message).to.match(/full/)
    expect(archive.count).to.equal(1)
    expect(archive.pages.readPage(QUERY).rows).to.have.lengthOf(1)
    archive.limitPages(1_000_000)
    await archive.insert(row())
    expect(archive.count).to.equal(2)
    expect(archive.lastError).to.equal(undefined)
  })

  it('keeps marks, each set together with messages or not at all', async () => {
    const file = join(resources.directory(), 'archive.db')
    const first = open(file)
    const value = Uint8Array.of(1, 2)
    const both = [row(), row()]
    expect(
      await first.insertAll([both[0]!, both[0]!, both[1]!], new Map([['a', value]]))
    ).to.deep.equal([true, false, true])
    first.limitPages(40)
    const big = row({ payload: new Uint8Array(200_000) })
    const failed = await first.insertAll([big], new Map([['a', undefined]])).catch((e: Error) => e)
    expect(failed).to.have.property('code', 'ERR_DATABASE')
    first.close()
    const second = open(file)
    expect([second.count, second.getMark('a')]).to.deep.equal([2, value])
    await second.insertAll([], new Map([['a', undefined]]))
    expect(second.getMark('a')).to.equal(undefined)
  })

  it('opens a file of a release that had no marks', async () => {
    const file = join(resources.directory(), 'archive.db')
    const database = openDatabase(file)
    database.exec('DROP TABLE marks')
    database.close()
    const archive = open(file)
    await archive.insertAll([], new Map([['a', Uint8Array.of(1)]]))
    expect(archive.getMark('a')).to.deep.equal(Uint8Array.of(1))
  })
})

describe('keyStatement', () => {
  it('is answered along an index, without sorting', () => {
    const database = openDatabase(':memory:')
    const plan = (query: Partial<KeyQuery>): string => {
      const { sql, values } = keyStatement({
        order: 'timestamp-hash',
        forward: true,
        limit: 9,
        ...query
      })
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
      return steps.map(({ detail }) => detail).join('; ')
    }
    const hash = new Uint8Array(32)
    const after = { time: NOW, hash }
    const range = { timeFrom: NOW - 9n, timeTo: NOW + 9n }
    expect(plan({})).to.equal('SCAN messages USING COVERING INDEX by_timestamp_hash')
    expect(plan({ after, ...range })).to.equal(
      'SEARCH messages USING COVERING INDEX by_timestamp_hash ((timestamp,hash)>(?,?) AND timestamp<?)'
    )
    expect(plan({ pubsubTopic: TOPIC, forward: false, after, ...range })).to.match(
      /by_pubsub_topic \(pubsub_topic=\? AND timestamp>\? AND \(timestamp,hash\)<\(\?,\?\)\)$/
    )
    expect(plan({ pubsubTopic: TOPIC, contentTopic: CONTENT_TOPIC, after })).to.match(
      /INDEX by_content_topic \(content_topic=\? AND \(timestamp,hash\)>\(\?,\?\)\)$/
    )
    const digest = hash
    expect(plan({ order: 'timestamp-digest', after: { time: NOW, digest, hash } })).to.match(
      /by_timestamp_digest \(\(timestamp,digest,hash\)>\(\?,\?,\?\)\)$/
    )
    const received = { time: 1, digest }
    expect(
      plan({ order: 'received-digest', contentTopic: CONTENT_TOPIC, after: received })
    ).to.match(
      /by_content_topic_received \(content_topic=\? AND \(received_time,digest\)>\(\?,\?\)\)$/
    )
    database.close()
  })
})

describe('isArchivable', () => {
  it('refuses what is ephemeral, has no time, or is more than 20 s off', () => {
    const second = 1_000_000_000n
    expect(isArchivable(makeMessage({ timestamp: NOW }), NOW)).to.equal(true)
    expect(isArchivable(makeMessage({ timestamp: NOW - 20n * second }), NOW)).to.equal(true)
    expect(isArchivable(makeMessage({ timestamp: NOW + 20n * second }), NOW)).to.equal(true)
    expect(isArchivable(makeMessage({ timestamp: NOW - 20n * second - 1n }), NOW)).to.equal(false)
    expect(isArchivable(makeMessage({ timestamp: NOW + 20n * second + 1n }), NOW)).to.equal(false)
    expect(isArchivable(makeMessage({ timestamp: undefined }), NOW)).to.equal(false)
    expect(isArchivable(makeMessage({ timestamp: 0n }), 0n)).to.equal(false)
    expect(isArchivable(makeMessage({ timestamp: NOW, ephemeral: true }), NOW)).to.equal(false)
  })
})
