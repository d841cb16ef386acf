import { expect } from 'chai'
import type { Archive, ArchiveCriteria } from 'waku-light/archive'
import type { StoredMessage } from 'waku-light/store'
import { collect, failure, failureOf, hashesOf } from '../helpers/collect.ts'
import { history, stored, textsOf } from './messages.ts'

/** What every implementation of an archive does. */
export function archiveContract(name: string, create: () => Promise<Archive>): void {
  describe(`${name}, as an archive`, () => {
    let archive: Archive

    beforeEach(async () => {
      archive = await create()
    })

    afterEach(async () => {
      await archive.close()
    })

    const walk = async (criteria?: ArchiveCriteria): Promise<string[]> =>
      textsOf(await collect(archive.walk(criteria)))

    describe('putMany', () => {
      it('stores messages whole and says which were new, in the order given', async () => {
        const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
        const full = stored(5n, 'full', {
          version: 1,
          meta: bytes('meta'),
          rateLimitProof: bytes('proof')
        })
        const [first, second] = [stored(7n, 'b'), stored(6n, 'a')]
        expect(await archive.putMany([first, full])).to.deep.equal([first, full])
        expect(await archive.putMany([second, first, second])).to.deep.equal([second])
        expect(await collect(archive.walk())).to.deep.equal([full, second, first])
        expect(await archive.count()).to.equal(3)
      })

      it('takes nothing, and takes many', async () => {
        expect(await archive.putMany([])).to.deep.equal([])
        const many = history(2_500)
        expect(await archive.putMany(many)).to.have.length(2_500)
        expect(await archive.putMany(many)).to.deep.equal([])
        expect(await collect(archive.walk())).to.deep.equal(many)
      })

      it('adds what is new among what is not', async () => {
        const many = history(100)
        await archive.putMany(many.filter((_, index) => index % 7 === 0))
        const fresh = await archive.putMany(many)
        expect(fresh).to.deep.equal(many.filter((_, index) => index % 7 !== 0))
        expect(await collect(archive.walk())).to.deep.equal(many)
      })

      it('serves concurrent calls, each new message to the first that brings it', async () => {
        const many = history(60)
        const calls = [many.slice(0, 40), many.slice(20), many.slice(10, 50)]
        const results = await Promise.all(calls.map((part) => archive.putMany(part)))
        expect(results.map(({ length }) => length)).to.deep.equal([40, 20, 0])
        const singles = history(200, 1_800_000_000n)
        const added = await Promise.all(singles.map((message) => archive.putMany([message])))
        expect(added.flat()).to.deep.equal(singles)
        expect(await archive.count()).to.equal(260)
      })

      it('keeps copies: frames they were views of are not kept, nor changes made later', async () => {
        const frame = new Uint8Array(100_000)
        const message = stored(1n, '', { payload: frame.subarray(10, 13) })
        await archive.putMany([message])
        frame.fill(9)
        const [kept] = await archive.get([message.messageHash])
        expect([...(kept?.payload ?? [])]).to.deep.equal([0, 0, 0])
        expect(kept?.payload.buffer.byteLength).to.equal(3)
      })

      it('leaves ephemeral messages out', async () => {
        const messages = [stored(1n, 'a', { ephemeral: true }), stored(2n, 'b')]
        expect(textsOf(await archive.putMany(messages))).to.deep.equal(['b'])
        expect(await walk()).to.deep.equal(['b'])
      })

      it('rejects what is no message, and stores nothing of that call', async () => {
        const good = stored(1n, 'a')
        const bad: unknown[] = [
          undefined,
          { ...good, messageHash: new Uint8Array(31) },
          { ...good, payload: 'text' },
          { ...good, pubsubTopic: undefined },
          { ...good, contentTopic: 5 },
          { ...good, timestamp: 2n ** 63n },
          { ...good, timestamp: 5 },
          { ...good, meta: [] }
        ]
        for (const one of bad) {
          const messages = [good, one] as StoredMessage[]
          await failureOf('ERR_INVALID_ARGUMENT', () => archive.putMany(messages))
        }
        await failureOf('ERR_INVALID_ARGUMENT', () =>
          archive.putMany([good], { marks: { a: () => {} } })
        )
        await failureOf('ERR_INVALID_ARGUMENT', () =>
          archive.putMany(undefined as unknown as StoredMessage[])
        )
        expect(await archive.count()).to.equal(0)
      })
    })

    describe('has and get', () => {
      it('answer in the order asked, as often as asked', async () => {
        const many = history(50)
        await archive.putMany(many)
        const [a, b] = [many[3] as StoredMessage, many[40] as StoredMessage]
        const absent = new Uint8Array(32).fill(7)
        const asked = [b.messageHash, absent, a.messageHash, b.messageHash]
        expect(await archive.has(asked)).to.deep.equal([true, false, true, true])
        expect(await archive.get(asked)).to.deep.equal([b, undefined, a, b])
        expect(await archive.has([])).to.deep.equal([])
        expect(await archive.get([])).to.deep.equal([])
      })

      it('reject what is no hash', async () => {
        await failureOf('ERR_INVALID_ARGUMENT', () => archive.has([new Uint8Array(31)]))
        await failureOf('ERR_INVALID_ARGUMENT', () => archive.get(['a' as unknown as Uint8Array]))
      })
    })

    describe('walk', () => {
      it('goes by time, then by hash, in either direction', async () => {
        const same = Array.from({ length: 30 }, (_, index) => stored(5n, `same ${index}`))
        const edges = [-(2n ** 63n), -1n, 2n ** 63n - 1n].map((time) => stored(time, `${time}`))
        const untimed = stored(undefined, 'no time')
        await archive.putMany([...same, ...edges, untimed])
        const [oldest, negative, newest] = edges.map(({ messageHash }) =>
          hashesOf([{ messageHash }])
        )
        const expected = [
          ...(oldest ?? []),
          ...(negative ?? []),
          ...hashesOf([untimed]),
          ...hashesOf(same).sort(),
          ...(newest ?? [])
        ]
        expect(hashesOf(await collect(archive.walk()))).to.deep.equal(expected)
        expect(hashesOf(await collect(archive.walk({ direction: 'backward' })))).to.deep.equal(
          expected.reverse()
        )
      })

      it('filters by time, content topics and pubsub topic', async () => {
        await archive.putMany([
          stored(1n, 'a'),
          stored(2n, 'b', { contentTopic: '/app/1/b/proto' }),
          stored(3n, 'c', { pubsubTopic: '/waku/2/rs/66/2' }),
          stored(4n, 'd', { contentTopic: '/app/1/d/proto' }),
          stored(1_000_000n, 'e')
        ])
        expect(await walk({ timeStart: 2n, timeEnd: 4n })).to.deep.equal(['b', 'c'])
        expect(await walk({ timeStart: 2n, timeEnd: 2n })).to.deep.equal([])
        expect(await walk({ timeStart: new Date(1) })).to.deep.equal(['e'])
        expect(await walk({ contentTopics: ['/app/1/b/proto', '/app/1/d/proto'] })).to.deep.equal([
          'b',
          'd'
        ])
        expect(await walk({ pubsubTopic: '/waku/2/rs/66/2' })).to.deep.equal(['c'])
        expect(await walk({ contentTopics: ['/app/1/none/proto'] })).to.deep.equal([])
        expect(await walk({ contentTopics: [] })).to.have.length(5)
      })

      it('goes on after a place, which need not be there', async () => {
        const many = history(90)
        await archive.putMany(many)
        const place = many[50] as StoredMessage
        expect(await collect(archive.walk({ after: place }))).to.deep.equal(many.slice(51))
        const before = await collect(archive.walk({ after: place, direction: 'backward' }))
        expect(before).to.deep.equal(many.slice(0, 50).reverse())
        const between = { timestamp: place.timestamp ?? 0n, messageHash: new Uint8Array(32) }
        expect(await collect(archive.walk({ after: between }))).to.deep.equal(many.slice(50))
      })

      it('gives each message once whatever is added and removed meanwhile', async () => {
        const many = history(400)
        await archive.putMany(many)
        for (const direction of ['forward', 'backward'] as const) {
          const seen: string[] = []
          for await (const message of archive.walk({ direction })) {
            seen.push(...hashesOf([message]))
            if (seen.length === 130) {
              await archive.putMany(history(50, 1_700_000_100n))
              await archive.putMany(history(40, 1_600_000_000n))
              await archive.prune({ before: 1_700_000_030_500_000_000n })
            }
          }
          expect(new Set(seen).size).to.equal(seen.length)
          const kept = hashesOf(many.slice(31))
          expect(kept.filter((hash) => !seen.includes(hash))).to.deep.equal([])
        }
      })

      it('may be left early', async () => {
        await archive.putMany(history(100))
        const seen: StoredMessage[] = []
        for await (const message of archive.walk({ direction: 'backward' })) {
          seen.push(message)
          if (seen.length === 3) break
        }
        expect(textsOf(seen)).to.deep.equal(['m99', 'm98', 'm97'])
        expect(await archive.count()).to.equal(100)
      })

      it('rejects bad criteria at the call', () => {
        const bad: unknown[] = [
          { direction: 'up' },
          { timeStart: 5n, timeEnd: 4n },
          { timeStart: 5 },
          { contentTopics: 'a' },
          { after: { timestamp: 5n } },
          { after: { timestamp: 5, messageHash: new Uint8Array(32) } }
        ]
        for (const criteria of bad) {
          expect(() => archive.walk(criteria as ArchiveCriteria))
            .to.throw()
            .with.property('parameter')
        }
      })
    })

    describe('walkKeys', () => {
      it('is the same walk without content', async () => {
        const messages = [stored(undefined, 'a'), stored(2n, 'b', { contentTopic: '/app/1/b/x' })]
        await archive.putMany(messages)
        const keys = messages.map(({ timestamp = 0n, messageHash, pubsubTopic, contentTopic }) => ({
          timestamp,
          messageHash,
          pubsubTopic,
          contentTopic
        }))
        expect(await collect(archive.walkKeys())).to.deep.equal(keys)
        expect(await collect(archive.walkKeys({ timeStart: 1n }))).to.deep.equal(keys.slice(1))
      })
    })

    describe('prune', () => {
      it('removes what is older than a time', async () => {
        const many = history(100)
        await archive.putMany(many)
        expect(await archive.prune({ before: many[33]?.timestamp ?? 0n })).to.equal(33)
        expect(await collect(archive.walk())).to.deep.equal(many.slice(33))
        expect(await archive.has(many.slice(32, 34).map((m) => m.messageHash))).to.deep.equal([
          false,
          true
        ])
        expect(await archive.prune({ before: 0n })).to.equal(0)
        expect(await archive.putMany(many)).to.deep.equal(many.slice(0, 33))
      })

      it('removes the oldest until no more than a number are left', async () => {
        const many = history(100)
        await archive.putMany(many)
        expect(await archive.prune({ maxCount: 100 })).to.equal(0)
        expect(await archive.prune({ maxCount: 71 })).to.equal(29)
        expect(await collect(archive.walk())).to.deep.equal(many.slice(29))
        const before = many[50]?.timestamp ?? 0n
        expect(await archive.prune({ maxCount: 60, before })).to.equal(21)
        expect(await archive.prune({ maxCount: 40, before })).to.equal(10)
        expect(await archive.prune({ maxCount: 0 })).to.equal(40)
        expect(await archive.count()).to.equal(0)
      })

      it('leaves as many as it is told where several remove at once', async () => {
        const many = history(100)
        await archive.putMany(many)
        const prunes: Promise<number>[] = []
        for (let count = 0; count < 5; count++) {
          prunes.push(archive.prune({ maxCount: 60 }))
          await archive.count() // so that each is a step behind the one before
        }
        const counts = await Promise.all(prunes)
        expect(counts.reduce((a, b) => a + b)).to.equal(40)
        expect(await collect(archive.walk())).to.deep.equal(many.slice(40))
      })

      it('rejects no limit, and limits that are none', async () => {
        for (const limits of [{}, { maxCount: -1 }, { maxCount: 1.5 }, { before: 5 as never }]) {
          await failureOf('ERR_INVALID_ARGUMENT', () => archive.prune(limits))
        }
      })
    })

    describe('marks', () => {
      it('are set alone or with messages, replaced and removed', async () => {
        expect(await archive.getMark('a')).to.equal(undefined)
        await archive.setMark('a', { until: 5n })
        await archive.putMany([stored(1n, 'x')], { marks: { b: 'position', c: 0 } })
        expect(await archive.getMark('a')).to.deep.equal({ until: 5n })
        expect(await archive.getMark('b')).to.equal('position')
        await archive.putMany([], { marks: { a: 1, b: undefined } })
        expect(await archive.getMark('a')).to.equal(1)
        expect(await archive.getMark('b')).to.equal(undefined)
        expect(await archive.getMark('c')).to.equal(0)
        await archive.setMark('c', undefined)
        expect(await archive.getMark('c')).to.equal(undefined)
      })

      it('are copies, and the last of several calls counts', async () => {
        const value = { n: 1 }
        await Promise.all([archive.setMark('a', 0), archive.setMark('a', value)])
        value.n = 2
        expect(await archive.getMark('a')).to.deep.equal({ n: 1 })
      })
    })

    describe('subscribe', () => {
      it('tells of additions in order, each once, and not of what was there', async () => {
        const told: string[][] = []
        const many = history(60)
        await archive.putMany(many.slice(0, 10))
        archive.subscribe((messages) => told.push(textsOf(messages)))
        await archive.putMany(many.slice(0, 5))
        await archive.putMany([...many.slice(5)].reverse())
        await archive.putMany(many)
        await archive.setMark('a', 1)
        expect(told).to.deep.equal([textsOf(many.slice(10))])
      })

      it('ends by its function, by its signal, and at the end', async () => {
        const told: string[] = []
        const controller = new AbortController()
        const listen = (name: string) => (): unknown => told.push(name)
        const end = archive.subscribe(listen('a'))
        archive.subscribe(listen('b'), { signal: controller.signal })
        archive.subscribe(() => {
          throw new Error('listener')
        })
        archive.subscribe(listen('c'))
        await archive.putMany([stored(1n, 'x')])
        end()
        end()
        controller.abort()
        await archive.putMany([stored(2n, 'x')])
        expect(told).to.deep.equal(['a', 'b', 'c', 'c'])
      })
    })

    describe('signal', () => {
      it('ends every call with its own reason', async () => {
        const reason = new Error('enough')
        const signal = AbortSignal.abort(reason)
        const calls: (() => unknown)[] = [
          () => archive.putMany([stored(1n, 'a')], { signal }),
          () => archive.has([], { signal }),
          () => archive.get([], { signal }),
          () => collect(archive.walk({}, { signal })),
          () => collect(archive.walkKeys({}, { signal })),
          () => archive.count({ signal }),
          () => archive.prune({ maxCount: 0 }, { signal }),
          () => archive.getMark('a', { signal }),
          () => archive.setMark('a', 1, { signal }),
          () => archive.subscribe(() => {}, { signal })
        ]
        for (const call of calls) {
          expect(await failure(call)).to.equal(reason)
        }
        expect(await archive.count()).to.equal(0)
      })

      it('ends a walk between two messages', async () => {
        await archive.putMany(history(10))
        const controller = new AbortController()
        const reason = new Error('enough')
        let seen = 0
        const walking = async (): Promise<void> => {
          for await (const _ of archive.walk({}, { signal: controller.signal })) {
            if (++seen === 2) controller.abort(reason)
          }
        }
        expect(await failure(walking)).to.equal(reason)
        expect(seen).to.equal(2)
      })
    })

    describe('close', () => {
      it('stores what was put before, and ends everything else', async () => {
        const many = history(30)
        await archive.putMany(many)
        const walking = archive.walk()
        await walking.next()
        const put = archive.putMany([stored(1n, 'last')])
        const closing = archive.close()
        expect(await put).to.have.length(1)
        await Promise.all([closing, archive.close()])
        const calls: (() => unknown)[] = [
          () => walking.next(),
          () => archive.putMany([stored(1n, 'a')]),
          () => archive.has([]),
          () => archive.get([]),
          () => collect(archive.walk()),
          () => archive.count(),
          () => archive.prune({ maxCount: 0 }),
          () => archive.getMark('a'),
          () => archive.setMark('a', 1),
          () => archive.subscribe(() => {})
        ]
        for (const call of calls) {
          const error = await failureOf('ERR_CLOSED', call)
          expect(error.message).to.equal('the archive is closed')
        }
      })
    })
  })
}
