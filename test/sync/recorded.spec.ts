import { expect } from 'chai'
import { hasErrorCode } from 'waku-light/errors'
import { fromHex, messageHash, toHex } from 'waku-light/message'
import { type SyncFilter, type SyncOutcome, SyncSession } from '../../src/sync/index.ts'
import { decodeSyncPayload } from '../../src/wire/sync.ts'
import type { SyncPayload } from '../../src/wire/sync-payload.ts'
import { decodeTransfer } from '../../src/wire/sync-transfer.ts'
import recording from '../vectors/nwaku-sync-0.38.1.json' with { type: 'json' }
import { unframe } from '../wire/frame.ts'
import { toIndex } from './pair.ts'
import { ReferenceNode } from './reference.ts'
import type { Entry } from './twin.ts'

interface Item {
  readonly hash: string
  readonly timestamp: string
  readonly contentTopic?: string
}

interface Session {
  readonly id: string
  readonly ours: readonly Item[]
  readonly theirs: readonly Item[]
  readonly frames: readonly { from: string; hex: string }[]
  readonly transferred: readonly { from: string; hex: string }[] | number
}

const T = 1_700_000_000_000_000_000n
const S = 1_000_000_000n
const PUBSUB_TOPIC = '/waku/2/rs/16/0'
const NODE: SyncFilter = { pubsubTopics: [PUBSUB_TOPIC], contentTopics: [] }
const NODE_WITH_TOPIC: SyncFilter = { ...NODE, contentTopics: ['/sync-vec/1/a/proto'] }
const WIDE = { timeStart: T - 3600n * S, timeEnd: T + 7200n * S }

const sessions = new Map((recording as unknown as Session[]).map((entry) => [entry.id, entry]))

function get(id: string): Session {
  const session = sessions.get(id)
  if (session === undefined) {
    throw new Error(`there is no session ${id}`)
  }
  return session
}

function toEntries(items: readonly Item[]): Entry[] {
  return items.map(({ hash, timestamp, contentTopic = '/sync-vec/1/a/proto' }) => ({
    hash: fromHex(hash),
    timestamp: BigInt(timestamp),
    pubsubTopic: PUBSUB_TOPIC,
    contentTopic
  }))
}

/** An entry by the recipe of the recording. */
function cook(text: string, timestamp: bigint): Entry {
  const contentTopic = '/sync-vec/1/a/proto'
  const payload = new TextEncoder().encode(text)
  const hash = messageHash(PUBSUB_TOPIC, { payload, contentTopic, timestamp })
  return { hash, timestamp, pubsubTopic: PUBSUB_TOPIC, contentTopic }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** What both sides held, for the sets whose lists are not in the recording. */
function setsOf({ id, ours, theirs }: Session): { ours: Entry[]; theirs: Entry[] } {
  if (id.startsWith('n300')) {
    const all = range(300).map((i) => cook(`m-${i}`, T + BigInt(i) * S))
    const extra = [40, 260].map((i) => cook(`u-${i}`, T + BigInt(i) * S))
    return { ours: [...all.filter((_, i) => i !== 150), ...extra], theirs: all }
  }
  if (id.startsWith('n2000')) {
    const place = (i: number): bigint => T + (BigInt(i) * S * 18n) / 10n
    const all = range(2000).map((i) => cook(`k-${i}`, place(i) + 1n))
    const extra = range(5).map((j) => cook(`u-${j}`, place(400 * j + 100) + 7n))
    return { ours: [...all.filter((_, i) => i % 400 !== 200), ...extra], theirs: all }
  }
  if (id.startsWith('fingerprint-span')) {
    return { ours: [], theirs: range(150).map((i) => cook(`ns-${i}`, T + 3n)) }
  }
  return { ours: toEntries(ours), theirs: toEntries(theirs) }
}

/** Hashes of what was transferred from a side. */
function transferredFrom(side: string, { transferred }: Session): string[] {
  return (Array.isArray(transferred) ? (transferred as { from: string; hex: string }[]) : [])
    .filter(({ from }) => from === side)
    .map(({ hex }) => {
      const { pubsubTopic, message } = decodeTransfer(unframe(hex))
      return toHex(messageHash(pubsubTopic, message))
    })
    .sort()
}

interface Replay {
  readonly toSend: string[]
  readonly toFetch: string[]
  readonly replies: (Uint8Array | undefined)[]
  readonly outcome: SyncOutcome | undefined
}

/** Feeds a session the recorded frames of one side, whatever it answers. */
function replay(session: SyncSession, from: string, { frames }: Session): Replay {
  const toSend = new Set<string>()
  const toFetch = new Set<string>()
  const replies: (Uint8Array | undefined)[] = []
  let outcome: SyncOutcome | undefined
  for (const { hex } of frames.filter((frame) => frame.from === from)) {
    if (outcome === undefined) {
      const step = session.process(unframe(hex))
      step.toSend.forEach(({ hash }) => toSend.add(toHex(hash)))
      step.toFetch.forEach(({ hash }) => toFetch.add(toHex(hash)))
      replies.push(step.reply)
      outcome = step.outcome
    }
  }
  return { toSend: [...toSend].sort(), toFetch: [...toFetch].sort(), replies, outcome }
}

describe('SyncSession, told what the reference node said', () => {
  const initiated: Record<string, SyncOutcome | undefined> = {
    equal: 'in-sync',
    'we-empty': 'reconciled',
    'node-empty': 'reconciled',
    'node-gap': 'reconciled',
    'node-only-before': 'reconciled',
    'node-only-after': 'reconciled',
    'both-ways': 'reconciled',
    'pubsub-not-served': 'mismatch',
    'pubsub-partly': 'reconciled',
    'pubsub-none': 'reconciled',
    'content-unknown': 'reconciled',
    'content-known': 'reconciled',
    'content-known-and-unknown': 'reconciled',
    'content-known-we-have-other-topic-too': 'in-sync',
    'node-content-configured': 'mismatch',
    'node-content-configured-none': 'reconciled',
    'equal-times': 'reconciled',
    'n300-8-100': 'reconciled',
    'n300-narrow': 'reconciled',
    'n2000-narrow': 'reconciled',
    // ends with our words on what the node lacks
    'itemset-skip-equal': undefined
  }
  for (const [id, outcome] of Object.entries(initiated)) {
    it(`opens ${id} with the recorded frame, and finds what was transferred`, () => {
      const session = get(id)
      const first = unframe(session.frames[0]!.hex)
      const { scope, ranges } = decode(first)
      if (scope.layout !== 'topics') {
        throw new Error('another kind of first frame')
      }
      const own = new SyncSession({
        index: toIndex(setsOf(session).ours),
        filter: scope,
        window: { timeStart: ranges[0]!.lower, timeEnd: ranges[0]!.upper }
      })
      expect(toHex(own.open())).to.equal(toHex(first))
      const result = replay(own, 'node', session)
      expect(result.toSend).to.deep.equal(transferredFrom('us', session))
      expect(result.toFetch).to.deep.equal(transferredFrom('node', session))
      expect(result.outcome).to.equal(outcome)
    })
  }

  for (const id of ['node-initiates', 'node-initiates-jitter', 'node-initiates-narrow']) {
    it(`answers ${id}, and finds what was transferred`, () => {
      const session = get(id)
      const { lower, upper } = decode(unframe(session.frames[0]!.hex)).ranges[0]!
      const own = new SyncSession({
        index: toIndex(setsOf(session).ours),
        filter: NODE,
        window: { timeStart: lower, timeEnd: upper }
      })
      const result = replay(own, 'node', session)
      expect(result.toSend).to.deep.equal(transferredFrom('us', session))
      expect(result.toFetch).to.deep.equal(transferredFrom('node', session))
      expect(result.outcome).to.equal('reconciled')
    })
  }
})

describe('SyncSession in the place of the reference node', () => {
  const asNode = (id: string, filter = NODE): SyncSession =>
    new SyncSession({ index: toIndex(setsOf(get(id)).theirs), filter, window: WIDE })

  const answered = [
    'equal',
    'we-empty',
    'node-empty',
    'node-gap',
    'node-only-before',
    'node-only-after',
    'both-ways',
    'pubsub-not-served',
    'pubsub-partly',
    'pubsub-none',
    'content-known',
    'content-known-and-unknown',
    'content-known-we-have-other-topic-too',
    'itemset-first',
    'itemset-first-reconciled',
    'equal-times',
    'n300-8-100',
    'n300-narrow',
    'n2000-narrow',
    'itemset-skip-equal',
    'trailing-two',
    'zero-delta'
  ]
  for (const id of answered) {
    it(`sends in ${id} what the node sent`, () => {
      const session = get(id)
      const { toSend } = replay(asNode(id), 'us', session)
      expect(toSend).to.deep.equal(transferredFrom('node', session))
    })
  }

  it('answers with the node’s own frames where there is one way only', () => {
    for (const id of ['equal', 'pubsub-not-served', 'we-empty', 'pubsub-none', 'both-ways']) {
      const session = get(id)
      const [reply] = replay(asNode(id), 'us', session).replies
      const recorded = session.frames.find(({ from }) => from === 'node')?.hex ?? ''
      expect(toHex(reply!), id).to.equal(toHex(unframe(recorded)))
    }
  })

  it('answers a filter that has nothing in common with an empty frame, as the node does', () => {
    const session = get('node-content-configured')
    const result = replay(asNode(session.id, NODE_WITH_TOPIC), 'us', session)
    expect(result).to.deep.include({ outcome: 'mismatch', toSend: [], toFetch: [] })
    expect(result.replies.map((reply) => reply?.length)).to.deep.equal([0])
    const unfiltered = get('node-content-configured-none')
    const other = replay(asNode(unfiltered.id, NODE_WITH_TOPIC), 'us', unfiltered)
    expect(other.toSend).to.deep.equal(transferredFrom('node', unfiltered))
  })

  it('offers nothing on a content topic that it never heard of, where the node offers all', () => {
    const session = get('content-unknown')
    expect(replay(asNode(session.id), 'us', session)).to.deep.include({
      outcome: 'in-sync',
      toSend: []
    })
    expect(transferredFrom('node', session)).to.have.length(5)
  })

  it('lists what lies within less than 8 ns, where the node drops the range', () => {
    for (const id of ['fingerprint-span-7', 'fingerprint-span-7-then-more', 'fingerprint-span-8']) {
      const [reply] = replay(asNode(id), 'us', get(id)).replies
      const [first] = decode(reply!).ranges
      expect(first?.type === 'item-set' && first.items.length, id).to.equal(150)
    }
  })

  it('answers the older layout in kind, if the shards are its own', () => {
    const answer = (id: string, filter = NODE): ReturnType<typeof decodeSyncPayload> =>
      decodeSyncPayload(replay(asNode(id, filter), 'us', get(id)).replies[0]!)
    const payload = answer('old-layout')
    expect(payload).to.have.deep.property('scope', {
      layout: 'shards',
      clusterId: 16,
      shards: [0]
    })
    expect(payload).to.have.nested.property('ranges[0].items').with.length(5)
    expect(answer('old-layout-cluster1')).to.equal('mismatch')
    expect(answer('old-layout-cluster0')).to.equal('mismatch')
    expect(answer('old-layout', { pubsubTopics: [], contentTopics: [] })).to.deep.equal(payload)
  })

  it('ends with an error where nothing is compared, or the frame breaks the rules', () => {
    for (const id of ['lone-skip', 'no-ranges', 'zero-length', 'topics-no-range']) {
      expect(
        codeOf(() => replay(asNode(id), 'us', get(id))),
        id
      ).to.equal('ERR_PROTOCOL_VIOLATION')
    }
    for (const id of [
      'one-byte',
      'undecodable',
      'bad-type',
      'truncated-fingerprint',
      'trailing-byte',
      'flag-2',
      'items-out-of-range',
      'items-descending',
      'equal-times-hash-descending'
    ]) {
      expect(
        codeOf(() => replay(asNode(id), 'us', get(id))),
        id
      ).to.equal('ERR_INVALID_MESSAGE')
    }
  })
})

describe('ReferenceNode, the model', () => {
  // left out: old layouts and broken frames, which it does not read
  const broken =
    /^(old|one-byte|undecod|bad|trunc|trailing-byte|flag|items-|equal-times-hash|node-init)/
  for (const { id } of [...sessions.values()].filter((entry) => entry.frames.length > 0)) {
    if (!broken.test(id)) {
      it(`answers ${id} byte by byte as the node did`, () => {
        const session = get(id)
        const { contentTopics } = id.startsWith('node-content') ? NODE_WITH_TOPIC : NODE
        const node = new ReferenceNode(setsOf(session).theirs, [PUBSUB_TOPIC], contentTopics)
        const sent = new Set<string>()
        const replies = session.frames
          .filter(({ from }) => from === 'us')
          .flatMap(({ hex }) => {
            const step = node.process(unframe(hex))
            step.toSend.forEach(({ hash }) => sent.add(toHex(hash)))
            return step.reply === undefined ? [] : [toHex(step.reply)]
          })
        expect(replies).to.deep.equal(
          session.frames.filter(({ from }) => from === 'node').map(({ hex }) => toHex(unframe(hex)))
        )
        expect([...sent].sort()).to.deep.equal(transferredFrom('node', session))
      })
    }
  }
})

function decode(bytes: Uint8Array): SyncPayload {
  const payload = decodeSyncPayload(bytes)
  if (typeof payload === 'string') {
    throw new Error(`no ranges, but ${payload}`)
  }
  return payload
}

function codeOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    for (const code of ['ERR_PROTOCOL_VIOLATION', 'ERR_INVALID_MESSAGE'] as const) {
      if (hasErrorCode(error, code)) {
        return code
      }
    }
    throw error
  }
  return 'none'
}
