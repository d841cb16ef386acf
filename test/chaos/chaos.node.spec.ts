import { expect } from 'chai'
import { PROPERTY } from '../helpers/collect.ts'
import { check } from './check.ts'
import { type Archives, type KnownMessage, Ledger, type WalkRecord } from './ledger.ts'
import { chaos } from './run.ts'

const { seed, factor } = PROPERTY

/** The short form of `npm run chaos`. */
const SEEDS = Array.from({ length: Math.ceil(2 * factor) }, (_, index) => seed + index)

describe(`chaos (seed ${seed})`, () => {
  for (const own of SEEDS) {
    it(`--seed ${own}: what was told is what the archives hold`, async () => {
      const { violations, ledger } = await chaos(own)
      expect(violations).to.deep.equal([])
      expect(ledger.pushes.length + ledger.walks.length).to.be.at.least(1)
    }).timeout(60_000) // it takes two to six seconds where nothing else runs
  }
})

describe('the chaos ledger', () => {
  it('has nothing to say of the truth', () => {
    expect(check(truth(), ARCHIVES)).to.deep.equal([])
  })

  for (const [what, lie, told] of lies()) {
    it(`finds ${what}`, () => {
      const ledger = truth()
      const archives = new Map(ARCHIVES)
      lie(ledger, archives)
      expect(check(ledger, archives).join('\n')).to.match(told)
    })
  }
})

const ARCHIVES: Archives = new Map([
  ['A', new Set(['01', '02', '03', '04'])],
  ['B', new Set(['01', '02', '03', '04'])]
])

/** A walk that gave all that there was. */
const WALK: WalkRecord = {
  name: 'walk',
  isForward: true,
  order: 'hash',
  delivered: ['01', '02', '03'],
  end: 'complete',
  held: new Map([
    ['A', new Set(['01', '02', '03'])],
    ['B', new Set(['01', '03'])]
  ]),
  givenBy: ['A'],
  resumed: 0
}

/** Messages of two times, one of which came late, one that was never sent, and an ephemeral one. */
function truth(): Ledger {
  const ledger = new Ledger()
  for (const [index, hash] of ['01', '02', '03', '04', '05', '06'].entries()) {
    ledger.messages.set(hash, {
      name: `message ${hash}`,
      contentTopic: '/app/1/a/proto',
      timestamp: BigInt(Math.floor(index / 2)),
      digest: `${9 - index}`,
      isEphemeral: hash === '06'
    })
  }
  ledger.pushes.push(
    { name: 'push 1', hash: '01', status: 'published', relayPeerCount: 1 },
    { name: 'push 2', hash: '02', status: 'unknown', stored: true, storedAt: 'A' },
    { name: 'push 5', hash: '05', status: 'failed' },
    { name: 'push 6', hash: '06', status: 'published', relayPeerCount: 1 }
  )
  const entry = { isRestamped: false, hashes: ['04'], sent: ['04'] }
  ledger.entries.push({ ...entry, name: 'entry 4', state: 'stored' })
  ledger.walks.push(WALK, {
    ...WALK,
    name: 'walk last',
    isForward: false,
    delivered: ['03', '02'],
    givenBy: [],
    count: 2
  })
  ledger.lookups.push({
    name: 'look-up',
    peerId: 'B',
    asked: ['01', '02', '05'],
    found: ['01', '02'],
    held: WALK.held
  })
  return ledger
}

type Lie = (ledger: Ledger, archives: Map<string, ReadonlySet<string>>) => void

function lies(): [string, Lie, RegExp][] {
  const push =
    (change: object): Lie =>
    (ledger) => {
      const [first, ...others] = ledger.pushes
      ledger.pushes.splice(0, Number.POSITIVE_INFINITY, { ...first, ...change } as never, ...others)
    }
  const walk =
    (change: Partial<WalkRecord>): Lie =>
    (ledger) => {
      ledger.walks[0] = { ...WALK, ...change }
    }
  const entry =
    (change: object): Lie =>
    (ledger) => {
      ledger.entries[0] = { ...ledger.entries[0], ...change } as never
    }
  const lookup =
    (change: object): Lie =>
    (ledger) => {
      ledger.lookups[0] = { ...ledger.lookups[0], ...change } as never
    }
  return [
    ['a published message that is nowhere', push({ hash: '05' }), /published, and in no archive/],
    ['a failed message that is somewhere', push({ status: 'failed' }), /failed, and in an archive/],
    ['a push that threw and got out', push({ status: 'thrown' }), /thrown, and in an archive/],
    [
      'a stored message that the archive asked does not have',
      (ledger, archives) => {
        ledger.hasRestarts = true
        archives.set('A', new Set(['01', '03', '04']))
      },
      /push 2: stored, and not/
    ],
    [
      'a relayed message that did not arrive',
      (_, archives) => archives.set('B', new Set(['02', '03', '04'])),
      /push 1: relayed, and did not reach B/
    ],
    [
      'an ephemeral message that is kept',
      (_, archives) => archives.set('B', new Set(['01', '02', '03', '04', '06'])),
      /ephemeral, and in an archive/
    ],
    [
      'a message that nobody pushed',
      (_, archives) => archives.set('B', new Set(['01', '02', '03', '04', '99'])),
      /holds 99, which nobody pushed/
    ],
    [
      'one message under two hashes',
      ({ messages }) =>
        messages.set('02', { ...(messages.get('02') as KnownMessage), name: 'message 01' }),
      /message 01: in the archives 2 times/
    ],
    ['a stored entry that is nowhere', entry({ sent: ['05'] }), /entry is stored, and in no/],
    ['a queued entry that is out', entry({ state: 'queued', sent: [] }), /entry is queued, and in/],
    ['an entry that is refused', entry({ state: 'rejected' }), /entry is rejected/],
    ['an entry sent twice', entry({ hashes: ['03', '04'] }), /sent under 2 hashes/],
    ['a message that a walk lacks', walk({ delivered: ['01', '03'] }), /complete without 1/],
    [
      'a message that a walk of several nodes lacks',
      walk({ delivered: ['01'], givenBy: [] }),
      /complete without 1/
    ],
    [
      'a message that comes twice',
      walk({ delivered: ['01', '02', '02', '03'] }),
      /1 messages twice/
    ],
    ['messages out of order', walk({ delivered: ['02', '01', '03'] }), /out of order after 1/],
    [
      'messages out of the order of the older generation',
      walk({ order: 'digest' }),
      /out of order after 1/
    ],
    [
      'messages out of order in time',
      walk({ order: 'time', delivered: ['01', '03', '02'] }),
      /out of order after 2/
    ],
    [
      'a message that comes and nobody pushed',
      walk({ delivered: ['01', '02', '03', '99'] }),
      /delivers 99, which nobody pushed/
    ],
    [
      'a message that was not asked for',
      walk({ contentTopics: ['/app/1/b/proto'], end: 'left' }),
      /not asked for/
    ],
    ['a message outside of the times', walk({ timeStart: 1n }), /message 01, which was not/],
    [
      'an ephemeral message that comes',
      walk({ delivered: ['01', '02', '03', '06'] }),
      /which no archive keeps/
    ],
    [
      'the newest without a newer one',
      (ledger) => {
        ledger.walks[1] = { ...(ledger.walks[1] as WalkRecord), delivered: ['02', '01'] }
      },
      /walk last: complete without 1/
    ],
    ['a look-up that lacks one', lookup({ found: ['02'] }), /does not find 1/],
    ['a look-up that finds one twice', lookup({ found: ['01', '01'] }), /a message twice/],
    ['a look-up that finds too much', lookup({ found: ['01', '03'] }), /was not asked for/],
    ['a look-up that makes one up', lookup({ found: ['01', '05'] }), /does not have it/],
    [
      'what is wrong anyway',
      ({ troubles }) => troubles.push('a socket is open'),
      /a socket is open/
    ]
  ]
}
