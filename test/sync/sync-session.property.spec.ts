import { expect } from 'chai'
import fc from 'fast-check'
import type { SyncSessionOptions } from '../../src/sync/index.ts'
import { ours, type PairResult, reconcile, reference } from './pair.ts'
import { HOUR, type Scenario, scenarios } from './scenario.ts'
import { check, isLong, seed } from './seed.ts'
import { difference, toEntry, toKeys } from './twin.ts'

const maxSize = isLong ? 100_000 : 2_000

const options: fc.Arbitrary<Partial<SyncSessionOptions>> = fc.record(
  {
    maxListedItems: fc.constantFrom(0, 1, 5, 100),
    maxParts: fc.constantFrom(2, 3, 64),
    maxReplyBytes: fc.constantFrom(0, 100, 2_000),
    firstParts: fc.constantFrom(2, 16, 100)
  },
  { requiredKeys: [] }
)

/** Each side learnt exactly what it has to send; and, where it can, exactly what it lacks. */
function expectUnion({ a, b }: Scenario, { initiator, responder }: PairResult): void {
  expect(toKeys(initiator.toSend)).to.deep.equal(difference(a, b))
  expect(toKeys(responder.toSend)).to.deep.equal(difference(b, a))
}

function expectNoRepeats({ initiator, responder }: PairResult): void {
  for (const list of [initiator.toSend, initiator.toFetch, responder.toSend, responder.toFetch]) {
    expect(toKeys(list).length).to.equal(list.length)
  }
}

describe(`SyncSession (seed ${seed})`, function () {
  this.timeout(isLong ? 3_600_000 : 60_000)

  it('finds every difference on both sides, once, with another of its kind', () => {
    check(
      fc.property(scenarios(maxSize), fc.constantFrom('topics', 'shards'), (scenario, layout) => {
        const { a, b, window } = scenario
        const result = reconcile(ours(a, { window, layout: layout }), ours(b, { window }))
        expectUnion(scenario, result)
        expectNoRepeats(result)
        expect(toKeys(result.initiator.toFetch)).to.deep.equal(difference(b, a))
        expect(toKeys(result.responder.toFetch)).to.deep.equal(difference(a, b))
        expect(result.rounds).to.be.lessThan(10)
      }),
      150
    )
  })

  it('does so with any tuning on either side', () => {
    check(
      fc.property(scenarios(maxSize / 2), options, options, (scenario, first, second) => {
        const { a, b, window } = scenario
        const unlimited = { maxPayloads: 10_000 }
        const result = reconcile(
          ours(a, { window, options: { ...first, ...unlimited } }),
          ours(b, { window, options: { ...second, ...unlimited } }),
          10_000
        )
        expectUnion(scenario, result)
        expectNoRepeats(result)
      }),
      150
    )
  })

  it('lets each side know what to send where peers are not told what they lack', () => {
    check(
      fc.property(scenarios(maxSize / 2), fc.boolean(), (scenario, both) => {
        const { a, b, window } = scenario
        const quiet = { tellAll: false }
        const result = reconcile(
          ours(a, { window, options: quiet }),
          ours(b, { window, options: both ? quiet : {} })
        )
        const known = (here: PairResult['initiator'], there: PairResult['initiator']): string[] =>
          toKeys([...here.toSend, ...there.toFetch])
        expect(known(result.initiator, result.responder)).to.deep.equal(difference(a, b))
        expect(known(result.responder, result.initiator)).to.deep.equal(difference(b, a))
        expectNoRepeats(result)
      }),
      80
    )
  })

  for (const role of ['initiator', 'responder']) {
    it(`as ${role}, finds every difference with the reference node`, () => {
      check(
        fc.property(scenarios(maxSize), options, (scenario, tuning) => {
          const { a, b, window } = scenario
          const init = { window, options: { ...tuning, maxPayloads: 10_000 } }
          const isInitiator = role === 'initiator'
          const result = isInitiator
            ? reconcile(ours(a, init), reference(b, init), 10_000)
            : reconcile(reference(a, init), ours(b, init), 10_000)
          expectUnion(scenario, result)
          expect(toKeys((isInitiator ? result.initiator : result.responder).toFetch)).to.deep.equal(
            isInitiator ? difference(b, a) : difference(a, b)
          )
          expectNoRepeats(result)
        }),
        120
      )
    })
  }

  it('ends with the reference node where it counts what lies at the very end of the window', () => {
    check(
      fc.property(scenarios(300), ({ a, b, window }) => {
        const late = toEntry(window.timeEnd, -7)
        const result = reconcile(
          reference([...a, late], { window }),
          ours([...b, late], { window })
        )
        expect(toKeys(result.responder.toSend)).to.deep.equal(difference(b, a))
        expect(toKeys(result.responder.toFetch)).to.deep.equal(difference(a, b))
      }),
      40
    )
  })

  it('costs two small frames where nothing differs', () => {
    check(
      fc.property(scenarios(maxSize), ({ a, window }) => {
        const result = reconcile(ours(a, { window }), ours(a, { window }))
        fc.pre(window.timeEnd - window.timeStart === HOUR)
        expect(result.bytes).to.equal(69)
      }),
      30
    )
  })
})
