import { expect } from 'chai'
import { hasErrorCode } from 'waku-light/errors'
import { fromHex, toHex } from 'waku-light/message'
import { decodeSyncPayload, encodeSyncPayload } from '../../src/wire/sync.ts'
import {
  SYNC_PAYLOAD_LIMITS,
  type SyncId,
  type SyncPayload,
  type SyncRange
} from '../../src/wire/sync-payload.ts'
import recording from '../vectors/nwaku-sync-0.38.1.json' with { type: 'json' }
import { unframe } from './frame.ts'

const T = 1_700_000_000_000_000_000n
const S = 1_000_000_000n
const TOPIC = '2f77616b752f322f72732f312f30'
const BASE = '8080a8b1e39fe7cb17'
const HOUR = '80c0e285e368'
const HALF_HOUR = '80a0f1c2b134'
const h1 = `a1${'11'.repeat(31)}`
const h2 = `b2${'22'.repeat(31)}`

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    for (const code of [
      'ERR_INVALID_MESSAGE',
      'ERR_LIMIT_EXCEEDED',
      'ERR_INVALID_ARGUMENT'
    ] as const) {
      if (hasErrorCode(error, code)) {
        return code
      }
    }
    throw error
  }
  return 'none'
}

function topics(pubsubTopics: string[], contentTopics: string[], ranges: SyncRange[]): SyncPayload {
  return { scope: { layout: 'topics', pubsubTopics, contentTopics }, ranges }
}

const item = (seconds: bigint, hash: string): { timestamp: bigint; hash: Uint8Array } => ({
  timestamp: T + seconds * S,
  hash: fromHex(hash)
})
const hour = { lower: T, upper: T + 3600n * S }

/** The worked examples of the wire facts, by running the reference codec. */
const EXAMPLES: Record<string, { hex: string; payload: SyncPayload }> = {
  'initial fingerprint': {
    hex: `010e${TOPIC}00${BASE}${HOUR}0113${'33'.repeat(31)}`,
    payload: topics(
      ['/waku/2/rs/1/0'],
      [],
      [{ ...hour, type: 'fingerprint', fingerprint: fromHex(`13${'33'.repeat(31)}`) }]
    )
  },
  'item set': {
    hex: `010e${TOPIC}010c2f612f312f622f70726f746f${BASE}${HOUR}02028094938ee79fe7cb17${h1}8094ebdc03${h2}00`,
    payload: topics(
      ['/waku/2/rs/1/0'],
      ['/a/1/b/proto'],
      [{ ...hour, type: 'item-set', items: [item(1n, h1), item(2n, h2)], reconciled: false }]
    )
  },
  'Skip, then an empty reconciled set': {
    hex: `0000${BASE}${HALF_HOUR}00${HALF_HOUR}020001`,
    payload: topics(
      [],
      [],
      [
        { lower: T, upper: T + 1800n * S, type: 'skip' },
        {
          lower: T + 1800n * S,
          upper: T + 3600n * S,
          type: 'item-set',
          items: [],
          reconciled: true
        }
      ]
    )
  },
  'a lone Skip': {
    hex: `0000${BASE}${HOUR}00`,
    payload: topics([], [], [{ ...hour, type: 'skip' }])
  },
  'a time difference of zero': {
    hex: `0000${BASE}0001a100${HOUR}01${h2}`,
    payload: topics(
      [],
      [],
      [
        { lower: T, upper: T, upperHash: fromHex(`a1${'00'.repeat(31)}`), type: 'skip' },
        { ...hour, type: 'fingerprint', fingerprint: fromHex(h2) }
      ]
    )
  },
  'the older layout': {
    hex: `01020001${BASE}${HOUR}01${h2}`,
    payload: {
      scope: { layout: 'shards', clusterId: 1, shards: [0, 1] },
      ranges: [{ ...hour, type: 'fingerprint', fingerprint: fromHex(h2) }]
    }
  }
}

/** As the recording words it. */
function describeFrame(payload: ReturnType<typeof decodeSyncPayload>): string {
  if (typeof payload === 'string') {
    return payload === 'mismatch' ? 'empty frame (no payload)' : 'no ranges'
  }
  const time = (at: bigint): string =>
    at === T ? 'T' : (at - T) % S === 0n ? `T+${(at - T) / S}s` : `T+${at - T}ns`
  const ranges = payload.ranges.map((range) => {
    const hash =
      range.upperHash === undefined ? '' : ` hash ${toHex(range.upperHash).replace(/(00)+$/, '')}`
    const bounds = `[${time(range.lower)}, ${time(range.upper)}${hash})`
    switch (range.type) {
      case 'skip':
        return `${bounds} Skip`
      case 'fingerprint':
        return `${bounds} Fingerprint ${toHex(range.fingerprint).slice(0, 8)}..`
      case 'item-set':
        return `${bounds} ItemSet of ${range.items.length}, reconciled=${range.reconciled}`
    }
  })
  const { scope } = payload
  return scope.layout === 'shards'
    ? `shards ${scope.clusterId} ${scope.shards.join()}`
    : `topics ${JSON.stringify(scope.pubsubTopics)} content ${JSON.stringify(scope.contentTopics)}: ${ranges.join('; ')}`
}

/** Frames that break the rules, and the older layout; all were written by the recording client, none by the node. */
const REFUSED = [
  'undecodable',
  'bad-type',
  'truncated-fingerprint',
  'trailing-byte',
  'flag-2',
  'one-byte',
  'items-out-of-range',
  'items-descending',
  'equal-times-hash-descending'
]
const OLDER: Record<string, string> = {
  'old-layout': 'shards 16 0',
  'old-layout-cluster1': 'shards 1 0,1',
  'old-layout-cluster0': 'shards 0 0'
}

describe('encodeSyncPayload and decodeSyncPayload', () => {
  for (const [name, { hex, payload }] of Object.entries(EXAMPLES)) {
    it(`agree with the worked example: ${name}`, () => {
      expect(toHex(encodeSyncPayload(payload))).to.equal(hex)
      expect(decodeSyncPayload(fromHex(hex))).to.deep.equal(payload)
    })
  }

  it('tell the two empty forms apart', () => {
    expect(decodeSyncPayload(new Uint8Array(0))).to.equal('mismatch')
    expect(decodeSyncPayload(Uint8Array.of(0))).to.equal('no-ranges')
    expect(encodeSyncPayload('mismatch')).to.deep.equal(new Uint8Array(0))
    expect(encodeSyncPayload('no-ranges')).to.deep.equal(Uint8Array.of(0))
  })

  it('hand out copies', () => {
    const bytes = fromHex(EXAMPLES['item set']!.hex)
    const payload = decodeSyncPayload(bytes)
    bytes.fill(0)
    expect(payload).to.deep.equal(EXAMPLES['item set']!.payload)
    const encoded = encodeSyncPayload(payload)
    expect(encoded.buffer.byteLength).to.equal(encoded.length)
  })
})

describe('frames recorded with the reference node', () => {
  let frames = 0
  for (const { id, frames: recorded } of recording as {
    id: string
    frames: { from: string; hex: string; meaning: string }[]
  }[]) {
    for (const [number, { from, hex, meaning }] of recorded.entries()) {
      frames++
      const body = unframe(hex)
      if (from === 'us' && number === 0 && REFUSED.includes(id)) {
        it(`${id} ${number}: refused`, () => {
          expect(codeOf(() => decodeSyncPayload(body))).to.equal('ERR_INVALID_MESSAGE')
        })
      } else {
        it(`${id} ${number}: decodes as described, and back`, () => {
          const payload = decodeSyncPayload(body)
          const [words] = (from === 'us' ? OLDER[id] : undefined)?.split('…') ?? meaning.split(' …')
          expect(describeFrame(payload).slice(0, words?.length)).to.equal(words)
          if (typeof payload === 'string' || payload.ranges.length > 0) {
            expect(toHex(encodeSyncPayload(payload))).to.equal(toHex(body))
          }
        })
      }
    }
  }

  it('are all of them', () => {
    expect(frames).to.be.greaterThan(100)
  })
})

describe('decodeSyncPayload', () => {
  const fingerprint = `01${'33'.repeat(32)}`
  const cases: Record<string, string> = {
    'a base time of ten bytes': `0000${'80'.repeat(9)}01${HOUR}${fingerprint}`,
    'an overlong base time': `000080808000${HOUR}${fingerprint}`,
    'an overlong difference': `0000${BASE}818000${fingerprint}`,
    'a bound beyond 63 bits': `0000${BASE}${'ff'.repeat(8)}7f${fingerprint}`,
    'a bound of 2^63': `0000${'ff'.repeat(8)}7f01${fingerprint}`,
    'a shard of 65536': `0101808004${BASE}${HOUR}${fingerprint}`,
    'an empty topic, and no other layout': `0100ff${BASE}${HOUR}${fingerprint}`,
    'a topic that is not UTF-8': `0102c328${BASE}${HOUR}${fingerprint}`,
    'a hash length of 0': `0000${BASE}000001${'33'.repeat(32)}`,
    'a hash length of 33': `0000${BASE}0021${'11'.repeat(33)}00`,
    'an upper hash of zeros': `0000${BASE}00020000${fingerprint}`,
    'items at one time in descending order': `0000${BASE}${HOUR}02028094938ee79fe7cb17${h2}00${h1}00`,
    'an item twice': `0000${BASE}${HOUR}02028094938ee79fe7cb17${h1}00${h1}00`,
    'an item before its range': `0000${BASE}${HOUR}0201ff7f${h1}00`,
    'an item at the end of its range': `0000${BASE}01020181${BASE.slice(2)}${h1}00`,
    'more items than there are bytes': `0000${BASE}${HOUR}0203${BASE}${h1}00`,
    'a fourth type': `0000${BASE}${HOUR}03`
  }
  for (const [name, hex] of Object.entries(cases)) {
    it(`refuses ${name}`, () => {
      expect(codeOf(() => decodeSyncPayload(fromHex(hex)))).to.equal('ERR_INVALID_MESSAGE')
    })
  }

  it('refuses whatever exceeds a limit', () => {
    const set = fromHex(EXAMPLES['item set']!.hex)
    const two = fromHex(EXAMPLES['Skip, then an empty reconciled set']!.hex)
    const limited = (limits: object, bytes: Uint8Array): string =>
      codeOf(() => decodeSyncPayload(bytes, { ...SYNC_PAYLOAD_LIMITS, ...limits }))
    expect(limited({ maxPayloadBytes: set.length }, set)).to.equal('none')
    expect(limited({ maxPayloadBytes: set.length - 1 }, set)).to.equal('ERR_LIMIT_EXCEEDED')
    expect(limited({ maxItems: 2 }, set)).to.equal('none')
    expect(limited({ maxItems: 1 }, set)).to.equal('ERR_LIMIT_EXCEEDED')
    const sets = encodeSyncPayload(
      topics(
        [],
        [],
        [1n, 2n].map((second) => ({
          lower: T + second * S,
          upper: T + (second + 1n) * S,
          type: 'item-set',
          items: [item(second, h1)],
          reconciled: false
        }))
      )
    )
    expect(limited({ maxItems: 2 }, sets)).to.equal('none')
    expect(limited({ maxItems: 1 }, sets)).to.equal('ERR_LIMIT_EXCEEDED')
    expect(limited({ maxTopics: 1 }, set)).to.equal('none')
    expect(limited({ maxTopics: 0 }, set)).to.equal('ERR_LIMIT_EXCEEDED')
    expect(limited({ maxTopicBytes: 14 }, set)).to.equal('none')
    expect(limited({ maxTopicBytes: 13 }, set)).to.equal('ERR_LIMIT_EXCEEDED')
    expect(limited({ maxRanges: 2 }, two)).to.equal('none')
    expect(limited({ maxRanges: 1 }, two)).to.equal('ERR_LIMIT_EXCEEDED')
    // not so much as looked at
    expect(limited({ maxRanges: 1 }, two.subarray(0, -1))).to.equal('ERR_LIMIT_EXCEEDED')
  })

  it('refuses absurd counts before it makes room for them', () => {
    for (const count of ['ffffffff7f', 'ffffffffffffffff7f']) {
      for (const hex of [
        `${count}0e${TOPIC}00${BASE}${HOUR}00`,
        `01${count}${TOPIC}00${BASE}${HOUR}00`,
        `0000${BASE}${HOUR}02${count}${h1}00`
      ]) {
        expect(codeOf(() => decodeSyncPayload(fromHex(hex)))).to.be.oneOf([
          'ERR_LIMIT_EXCEEDED',
          'ERR_INVALID_MESSAGE'
        ])
      }
    }
  })

  it('takes an item that is its upper bound, as the reference node does, and none after it', () => {
    const read = (hash: string): string =>
      codeOf(() => decodeSyncPayload(fromHex(`0000${BASE}0020${h1}0201${BASE}${hash}00`)))
    expect([h1, h2].map(read)).to.deep.equal(['none', 'ERR_INVALID_MESSAGE'])
  })

  it('reads the layout that it is told to', () => {
    const { hex } = EXAMPLES['the older layout']!
    expect(
      codeOf(() => decodeSyncPayload(fromHex(hex), SYNC_PAYLOAD_LIMITS, 'topics'))
    ).not.to.equal('none')
    const newer = fromHex(EXAMPLES['initial fingerprint']!.hex)
    expect(codeOf(() => decodeSyncPayload(newer, SYNC_PAYLOAD_LIMITS, 'shards'))).not.to.equal(
      'none'
    )
  })
})

describe('encodeSyncPayload', () => {
  const skip: SyncRange = { ...hour, type: 'skip' }
  const set = (items: { timestamp: bigint; hash: Uint8Array }[]): SyncRange => ({
    ...hour,
    type: 'item-set',
    items,
    reconciled: false
  })
  const cases: Record<string, SyncPayload> = {
    'no ranges': topics([], [], []),
    'a gap': topics(
      [],
      [],
      [skip, { lower: hour.upper + 1n, upper: hour.upper + 2n, type: 'skip' }]
    ),
    'a descending range': topics([], [], [{ lower: T, upper: T - 1n, type: 'skip' }]),
    'a range without extent': topics([], [], [{ lower: T, upper: T, type: 'skip' }]),
    'an upper hash that would not travel': topics([], [], [{ ...skip, upperHash: fromHex(h1) }]),
    'an upper hash of zeros': topics(
      [],
      [],
      [{ lower: T, upper: T, upperHash: new Uint8Array(32), type: 'skip' }]
    ),
    'a negative time': topics([], [], [{ lower: -1n, upper: T, type: 'skip' }]),
    'a time beyond 63 bits': topics([], [], [{ lower: T, upper: 2n ** 63n, type: 'skip' }]),
    'a time that is no bigint': topics([], [], [{ lower: T, upper: 1e19 as never, type: 'skip' }]),
    'a time of an item that is no bigint': topics(
      [],
      [],
      [set([{ timestamp: Number(T) as never, hash: fromHex(h1) }])]
    ),
    'a time of an item that is missing': topics(
      [],
      [],
      [set([{ hash: fromHex(h1) } as unknown as SyncId])]
    ),
    'a short fingerprint': topics(
      [],
      [],
      [{ ...hour, type: 'fingerprint', fingerprint: new Uint8Array(31) }]
    ),
    'a short hash': topics([], [], [set([{ timestamp: T, hash: new Uint8Array(31) }])]),
    'items out of order': topics([], [], [set([item(2n, h1), item(1n, h2)])]),
    'items out of order at one time': topics([], [], [set([item(1n, h2), item(1n, h1)])]),
    'an item after its range': topics([], [], [set([item(3600n, h1)])]),
    'an item before its range': topics([], [], [set([item(-1n, h1)])]),
    'an empty topic': topics([''], [], [skip]),
    'a shard beyond 16 bits': {
      scope: { layout: 'shards', clusterId: 1, shards: [65_536] },
      ranges: [skip]
    }
  }
  for (const [name, payload] of Object.entries(cases)) {
    it(`refuses ${name}`, () => {
      expect(codeOf(() => encodeSyncPayload(payload))).to.equal('ERR_INVALID_ARGUMENT')
    })
  }
})
