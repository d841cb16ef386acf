import { expect } from 'chai'
import fc from 'fast-check'
import { hasErrorCode, isWakuLightError } from 'waku-light/errors'
import {
  REFERENCE_NODE_OPTIONS,
  type SyncFilter,
  SyncSession,
  type SyncSessionInit
} from '../../src/sync/index.ts'
import { decodeSyncPayload, encodeSyncPayload } from '../../src/wire/sync.ts'
import type { SyncRange } from '../../src/wire/sync-payload.ts'
import { ours, reconcile, reference, toIndex } from './pair.ts'
import { createScenario, HOUR, START } from './scenario.ts'
import { check, seed } from './seed.ts'
import { CONTENT_TOPIC, type Entry, PUBSUB_TOPIC, toEntry, toKey, toKeys } from './twin.ts'

const FILTER: SyncFilter = { pubsubTopics: [PUBSUB_TOPIC], contentTopics: [] }
const window = { timeStart: START, timeEnd: START + HOUR }
const scope = { layout: 'topics', ...FILTER } as const

function failure(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}

function create(entries: readonly Entry[], init: Partial<SyncSessionInit> = {}): SyncSession {
  return new SyncSession({ index: toIndex(entries), filter: FILTER, window, ...init })
}

const fingerprintRange = (lower: bigint, upper: bigint): SyncRange => ({
  lower,
  upper,
  type: 'fingerprint',
  fingerprint: new Uint8Array(32).fill(7)
})

/** Entries at random places, of which each side lacks its share of `differences`. */
function spread(size: number, differences: number): { a: Entry[]; b: Entry[] } {
  const { a: all } = createScenario(5, size, 'spread', 'second has nothing')
  const missing = (number: number): number =>
    Math.floor((number * differences) / size) === Math.floor(((number + 1) * differences) / size)
      ? -1
      : Math.floor((number * differences) / size) % 2
  return {
    a: all.filter((_, number) => missing(number) !== 0),
    b: all.filter((_, number) => missing(number) !== 1)
  }
}

describe('SyncSession', () => {
  describe('costs', () => {
    // twice what negentropy needs, and one round more: bytes and rounds for size and differences
    const goals = [
      { size: 10_000, differences: 10, bytes: 13_800, rounds: 4 },
      { size: 100_000, differences: 0, bytes: 646, rounds: 1 },
      { size: 100_000, differences: 1, bytes: 3_600, rounds: 4 },
      { size: 100_000, differences: 10, bytes: 28_000, rounds: 4 }
    ]
    for (const { size, differences, bytes, rounds } of goals) {
      it(`at most ${bytes} bytes and ${rounds} rounds for ${differences} of ${size}`, () => {
        const { a, b } = spread(size, differences)
        const result = reconcile(ours(a, { window }), ours(b, { window }))
        expect(result.initiator.toSend.length + result.initiator.toFetch.length).to.equal(
          differences
        )
        expect(result.bytes).to.be.at.most(bytes)
        expect(result.rounds).to.be.at.most(rounds)
      }).timeout(30_000)
    }

    const referenceGoals = [
      { size: 10_000, differences: 1, bytes: 4_200, tunedBytes: 3_300 },
      { size: 10_000, differences: 10, bytes: 34_000, tunedBytes: 23_000 }
    ]
    for (const { size, differences, bytes, tunedBytes } of referenceGoals) {
      it(`at most ${bytes} bytes for ${differences} of ${size} with the reference node`, () => {
        const { a, b } = spread(size, differences)
        const plain = reconcile(ours(a, { window }), reference(b, { window }))
        const options = REFERENCE_NODE_OPTIONS
        const tuned = reconcile(ours(a, { window, options }), reference(b, { window }))
        for (const result of [plain, tuned]) {
          expect(result.initiator.toSend.length + result.initiator.toFetch.length).to.equal(
            differences
          )
        }
        expect(plain.bytes).to.be.at.most(bytes)
        expect(tuned.bytes).to.be.at.most(tunedBytes)
      }).timeout(30_000)
    }

    for (const at of [0n, HOUR / 3n, HOUR - 1n]) {
      it(`little for one difference beside a thousand entries at one time, ${at}`, () => {
        const { a: others } = spread(40, 0)
        const crowd = Array.from({ length: 1_000 }, (_, number) => toEntry(START + at, -number))
        const all = [...others, ...crowd]
        const result = reconcile(ours(all, { window }), ours(all.slice(1), { window }))
        expect(toKeys(result.initiator.toSend)).to.deep.equal(toKeys([others[0]!]))
        expect(result.bytes).to.be.at.most(3_500)
      })
    }

    it('less where peers are not told what they lack', () => {
      const { a } = spread(2_000, 0)
      const fewer = a.filter((_, number) => number % 100 !== 0)
      const run = (tellAll: boolean): number => {
        const init = { window, options: { tellAll } }
        return reconcile(ours(a, init), ours(fewer, init)).bytes
      }
      // 20 hashes with their times, at least
      expect(run(true) - run(false)).to.be.greaterThan(20 * 37)
    })

    it('saves a round with more parts in the first payload', () => {
      const { a, b } = spread(2_000, 1)
      const one = reconcile(ours(a, { window }), ours(b, { window }))
      const many = reconcile(ours(a, { window, options: { firstParts: 16 } }), ours(b, { window }))
      expect(many.rounds).to.equal(one.rounds - 1)
    })
  })

  describe('topics', () => {
    const topics = ['/a/1/a/proto', '/a/1/b/proto', '/a/1/c/proto', CONTENT_TOPIC]
    const entry = fc
      .record({
        at: fc.nat({ max: 50 }),
        number: fc.nat({ max: 2 ** 24 }),
        contentTopic: fc.constantFrom(...topics),
        pubsubTopic: fc.constantFrom(PUBSUB_TOPIC, '/waku/2/rs/16/1')
      })
      .map(({ at, number, contentTopic, pubsubTopic }) => ({
        // a hash belongs to one time: two of the same would cancel out in a fingerprint
        ...toEntry(START + BigInt(at), number * 64 + at, contentTopic),
        pubsubTopic
      }))
    const filter = fc.record({
      pubsubTopics: fc.subarray([PUBSUB_TOPIC, '/waku/2/rs/16/1', '/waku/2/rs/16/2']),
      contentTopics: fc.subarray([...topics, '/none/1/x/proto'])
    })
    const allows = (lists: SyncFilter, item: Entry): boolean =>
      (lists.pubsubTopics.length === 0 || lists.pubsubTopics.includes(item.pubsubTopic)) &&
      (lists.contentTopics.length === 0 || lists.contentTopics.includes(item.contentTopic))
    const apart = (a: readonly string[], b: readonly string[]): boolean =>
      a.length > 0 && b.length > 0 && !a.some((topic) => b.includes(topic))

    it(`reconcile what both filters allow, or tell that nothing can be (seed ${seed})`, () => {
      check(
        fc.property(
          fc.array(entry, { maxLength: 60 }),
          fc.array(entry, { maxLength: 60 }),
          filter,
          filter,
          (first, second, filterA, filterB) => {
            const a = unique(first)
            const b = unique(second).filter(
              (item) => !a.some((other) => toKey(other) === toKey(item) && other !== item)
            )
            const sessions = [
              create(a, { filter: filterA }),
              create(b, { filter: filterB })
            ] as const
            let payload: Uint8Array | undefined = sessions[0].open()
            const found: string[][] = [[], []]
            let outcome: string | undefined
            for (let turn = 1; payload !== undefined && outcome === undefined; turn++) {
              const step = sessions[turn % 2 === 1 ? 1 : 0].process(payload)
              found[turn % 2 === 1 ? 1 : 0]!.push(...toKeys(step.toSend))
              payload = step.reply
              outcome = step.outcome
            }
            const isApart =
              apart(filterA.pubsubTopics, filterB.pubsubTopics) ||
              apart(filterA.contentTopics, filterB.contentTopics)
            const allowed = (list: readonly Entry[]): string[] =>
              toKeys(
                list.filter((item) => !isApart && allows(filterA, item) && allows(filterB, item))
              )
            const [inA, inB] = [allowed(a), allowed(b)]
            expect(found[0]!.sort()).to.deep.equal(inA.filter((key) => !inB.includes(key)))
            expect(found[1]!.sort()).to.deep.equal(inB.filter((key) => !inA.includes(key)))
            expect(outcome === 'mismatch').to.equal(isApart)
          }
        ),
        300
      )
    })

    it('that have nothing in common are told to the initiator by an empty frame', () => {
      const initiator = create([])
      const responder = create([], {
        filter: { pubsubTopics: ['/waku/2/rs/16/9'], contentTopics: [] }
      })
      const answer = responder.process(initiator.open())
      expect(answer).to.deep.equal({
        reply: new Uint8Array(0),
        toSend: [],
        toFetch: [],
        outcome: 'mismatch'
      })
      expect(initiator.process(answer.reply!)).to.deep.equal({
        toSend: [],
        toFetch: [],
        outcome: 'mismatch'
      })
    })

    it('cannot be stated in the older layout unless they are shards of one cluster', () => {
      for (const pubsubTopics of [[], ['nonsense'], ['/waku/2/rs/1/0', '/waku/2/rs/2/0']]) {
        const session = create([], {
          layout: 'shards',
          filter: { pubsubTopics, contentTopics: [] }
        })
        expect(
          hasErrorCode(
            failure(() => session.open()),
            'ERR_INVALID_ARGUMENT'
          )
        ).to.equal(true)
      }
    })

    it('are stated in full in every payload', () => {
      const { a, b } = spread(300, 10)
      const filterA = { pubsubTopics: [PUBSUB_TOPIC, '/waku/2/rs/16/5'], contentTopics: [] }
      const initiator = create(a, { filter: filterA })
      const reply = create(b).process(initiator.open()).reply!
      expect(decodeSyncPayload(reply)).to.have.deep.property('scope', scope)
      const next = initiator.process(reply).reply!
      expect(decodeSyncPayload(next)).to.have.deep.property('scope', {
        layout: 'topics',
        ...filterA
      })
    })
  })

  describe('with a peer that means harm', () => {
    const { a, b } = spread(400, 40)

    it('ends after as many payloads and bytes as allowed', () => {
      const endless = encodeSyncPayload({
        scope,
        ranges: [fingerprintRange(window.timeStart, window.timeEnd)]
      })
      const many = create(a, { options: { maxPayloads: 3 } })
      for (let number = 0; number < 3; number++) {
        expect(many.process(endless).outcome).to.equal(undefined)
      }
      expect(
        hasErrorCode(
          failure(() => many.process(endless)),
          'ERR_LIMIT_EXCEEDED'
        )
      ).to.equal(true)
      const heavy = create(a, { options: { maxReceivedBytes: 2 * endless.length } })
      heavy.process(endless)
      heavy.process(endless)
      expect(
        hasErrorCode(
          failure(() => heavy.process(endless)),
          'ERR_LIMIT_EXCEEDED'
        )
      ).to.equal(true)
    })

    it('finds no more differences than allowed in one payload', () => {
      const nothing = encodeSyncPayload({
        scope,
        ranges: [
          {
            lower: window.timeStart,
            upper: window.timeEnd,
            type: 'item-set',
            items: [],
            reconciled: true
          }
        ]
      })
      const { length } = a
      expect(
        create(a, { options: { maxDifferences: length } }).process(nothing).toSend.length
      ).to.equal(length)
      const error = failure(() =>
        create(a, { options: { maxDifferences: length - 1 } }).process(nothing)
      )
      expect(hasErrorCode(error, 'ERR_LIMIT_EXCEEDED')).to.equal(true)
    })

    it('answers no longer than it may what lists nothing', () => {
      const { a: many } = spread(20_000, 0)
      const nothing = encodeSyncPayload({
        scope,
        ranges: [
          { type: 'item-set', lower: START, upper: START + HOUR, items: [], reconciled: false }
        ]
      })
      const { reply } = create(many, { options: { maxReplyBytes: 5_000 } }).process(nothing)
      expect(reply!.length).to.be.within(4_500, 5_200)
    })

    it('answers a list within one time by one', () => {
      const [held, wanted] = [toEntry(START + 5n, 1), toEntry(START + 5n, 2)]
      const { timestamp: lower } = held
      const upperHash = new Uint8Array(32).fill(0xff)
      const step = create([held]).process(
        encodeSyncPayload({
          scope,
          ranges: [
            {
              type: 'item-set',
              lower,
              upper: lower,
              upperHash,
              items: [{ timestamp: lower, hash: wanted.hash }],
              reconciled: false
            }
          ]
        })
      )
      expect(toKeys(step.toSend)).to.deep.equal([toKey(held)])
      expect(toKeys(step.toFetch)).to.deep.equal([toKey(wanted)])
      expect(decodeSyncPayload(step.reply!)).to.have.deep.property('ranges', [
        {
          type: 'item-set',
          lower,
          upper: lower,
          upperHash,
          items: [{ timestamp: lower, hash: held.hash }],
          reconciled: true
        }
      ])
    })

    it('finds any number of differences at one time', () => {
      const count = 150_000
      const items = Array.from({ length: count }, (_, number) => {
        const hash = new Uint8Array(32)
        new DataView(hash.buffer).setUint32(0, number)
        return { timestamp: START, hash }
      })
      const upper = START + HOUR
      const bytes = encodeSyncPayload({
        scope,
        ranges: [{ type: 'item-set', lower: START, upper, items, reconciled: false }]
      })
      const many = 2 * bytes.length
      const options = {
        maxItems: many,
        maxPayloadBytes: many,
        maxDifferences: many,
        maxReplyBytes: many
      }
      expect(create([], { options }).process(bytes).toFetch).to.have.length(count)
      const nothing = encodeSyncPayload({
        scope,
        ranges: [{ type: 'item-set', lower: START, upper, items: [], reconciled: false }]
      })
      const entries = items.map((id) => ({ ...toEntry(START, 0), ...id }))
      expect(create(entries, { options }).process(nothing).toSend).to.have.length(count)
    })

    it('answers a flood of ranges with one fingerprint for each, once the reply is long', () => {
      const ranges = Array.from({ length: 360 }, (_, part) =>
        fingerprintRange(
          START + (HOUR / 360n) * BigInt(part),
          START + (HOUR / 360n) * BigInt(part + 1)
        )
      )
      const flood = encodeSyncPayload({ scope, ranges })
      const { a: many } = spread(20_000, 0)
      const { reply } = create(many, { options: { maxReplyBytes: 5_000 } }).process(flood)
      expect(reply!.length).to.be.lessThan(flood.length + 7_000)
      expect(create(many).process(flood).reply!.length).to.be.greaterThan(4 * flood.length)
    })

    it('refuses ranges outside of what was asked, and skips what lies outside of its window', () => {
      const outside = encodeSyncPayload({
        scope,
        ranges: [fingerprintRange(window.timeStart - 1n, window.timeEnd)]
      })
      const initiator = create(a)
      initiator.open()
      const error = failure(() => initiator.process(outside))
      expect(hasErrorCode(error, 'ERR_PROTOCOL_VIOLATION') && error.detail).to.equal('window')
      const earlier = START - HOUR
      const responder = create([...a, toEntry(earlier + 5n, 99)])
      const step = responder.process(
        encodeSyncPayload({
          scope,
          ranges: [
            fingerprintRange(earlier, window.timeStart),
            fingerprintRange(window.timeStart, window.timeEnd)
          ]
        })
      )
      const payload = decodeSyncPayload(step.reply!)
      expect(payload).to.have.deep.nested.property('ranges[0]', {
        type: 'skip',
        lower: earlier,
        upper: window.timeStart
      })
      const later = encodeSyncPayload({ scope, ranges: [fingerprintRange(earlier - 1n, START)] })
      expect(
        hasErrorCode(
          failure(() => responder.process(later)),
          'ERR_PROTOCOL_VIOLATION'
        )
      ).to.equal(true)
    })

    it('refuses payloads after the end', () => {
      const session = create(a)
      session.open()
      expect(session.process(encodeSyncPayload('no-ranges')).outcome).to.equal('in-sync')
      const error = failure(() => session.process(encodeSyncPayload('no-ranges')))
      expect(hasErrorCode(error, 'ERR_PROTOCOL_VIOLATION') && error.detail).to.equal('over')
    })

    it('refuses a window too narrow for a fingerprint', () => {
      const narrow = { timeStart: START, timeEnd: START + 7n }
      expect(
        hasErrorCode(
          failure(() => create(a, { window: narrow })),
          'ERR_INVALID_ARGUMENT'
        )
      ).to.equal(true)
      expect(
        create(a, { window: { timeStart: START, timeEnd: START + 8n } }).open().length
      ).to.be.greaterThan(0)
    })

    it('survives every truncation of every frame', () => {
      for (const { bytes, resume } of frames(a, b)) {
        for (let length = 0; length < bytes.length; length++) {
          const error = failure(() => resume().process(bytes.subarray(0, length)))
          expect(error === undefined || isWakuLightError(error), `${length}`).to.equal(true)
        }
      }
    }).timeout(30_000)

    it(`survives mutated frames, with bounded answers (seed ${seed})`, () => {
      const all = frames(a, b)
      const mutation = fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.uint8Array({ maxLength: 3 }))
      let answers = 0
      check(
        fc.property(
          fc.nat({ max: all.length - 1 }),
          fc.array(mutation, { minLength: 1, maxLength: 3 }),
          (number, mutations) => {
            const { bytes, resume } = all[number]!
            let mutated = [...bytes]
            for (const [at, cut, put] of mutations) {
              mutated = mutated.toSpliced(at % (mutated.length + 1), cut, ...put)
            }
            try {
              const { reply, toSend } = resume().process(Uint8Array.from(mutated))
              expect(toSend.length).to.be.at.most(a.length)
              expect(reply?.length ?? 0).to.be.lessThan(40 * (a.length + 2 * mutated.length))
              answers++
            } catch (error) {
              if (!isWakuLightError(error)) {
                throw error
              }
            }
          }
        ),
        400
      )
      expect(answers).to.be.greaterThan(10)
    }).timeout(30_000)
  })
})

function unique(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((item) => [toKey(item), item])).values()]
}

/** All frames of a session, each with a way to the state of the side that it goes to. */
function frames(
  a: readonly Entry[],
  b: readonly Entry[]
): { bytes: Uint8Array; resume: () => SyncSession }[] {
  const recorded: Uint8Array[] = []
  const sides = [create(a), create(b)] as const
  let payload: Uint8Array | undefined = sides[0].open()
  for (let turn = 1; payload !== undefined; turn++) {
    recorded.push(payload)
    payload = sides[turn % 2 === 1 ? 1 : 0].process(payload).reply
  }
  const indexes = [toIndex(a), toIndex(b)] as const
  return recorded.map((bytes, number) => ({
    bytes,
    resume: () => {
      const receiver = number % 2 === 0 ? 1 : 0
      const session = new SyncSession({ index: indexes[receiver], filter: FILTER, window })
      if (receiver === 0) {
        session.open()
      }
      for (let earlier = 1 - receiver; earlier < number; earlier += 2) {
        session.process(recorded[earlier]!)
      }
      return session
    }
  }))
}
