import { expect } from 'chai'
import fc from 'fast-check'
import { hasErrorCode } from 'waku-light/errors'
import { toHex, toPubsubTopic } from 'waku-light/message'
import {
  fillGaps,
  type MessagePage,
  parallel,
  readAhead,
  type SourcesPage,
  StoreClient,
  type StoredMessage,
  sources,
  type Walker
} from 'waku-light/store'
import { Archive, inHashOrder, STORE_PROTOCOLS, type Stored } from '../helpers/archive.ts'
import { messageAt, PROPERTY } from '../helpers/collect.ts'
import { FakePeers, NETWORK } from '../helpers/fake-peers.ts'
import { FAULTS, type Fault, faultyPeer } from '../helpers/store-peers-faulty.ts'

/** Eleven of one shard, so that they take two requests, and some of others. */
const TOPICS = [
  ...Array.from({ length: 11 }, (_, index) => `/app/22/${index}/proto`),
  '/toychat/2/a/proto',
  '/app/27/a/proto'
]
const MAX_NODES = 4

interface Scenario {
  /** `nodes`: bits of those that have it. */
  readonly history: readonly {
    readonly topic: number
    readonly time: number
    readonly nodes: number
  }[]
  readonly topics: readonly number[]
  readonly start: number | null
  readonly length: number | null
  readonly forward: boolean
  readonly pageLimit: number
  readonly maxPage: number
  readonly isEndExclusive: boolean
  readonly nodeCount: number
  readonly walks: number
  readonly ahead: number
  readonly faults: readonly (readonly Fault[])[]
  readonly breaks: readonly boolean[]
}

const time = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }) },
  fc.integer({ min: 1, max: 400 }),
  fc.integer({ min: 1, max: 1_000_000 })
)
const scenario: fc.Arbitrary<Scenario> = fc.record({
  history: fc.array(
    fc.record({
      topic: fc.nat(TOPICS.length - 1),
      time,
      nodes: fc.oneof(
        fc.constant(2 ** MAX_NODES - 1),
        fc.integer({ min: 1, max: 2 ** MAX_NODES - 1 })
      )
    }),
    { maxLength: 80 }
  ),
  topics: fc.oneof(
    fc.uniqueArray(fc.nat(TOPICS.length - 1), { minLength: 1 }),
    fc.constant([...TOPICS.keys()])
  ),
  start: fc.option(fc.integer({ min: 0, max: 8 })),
  length: fc.option(
    fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ max: 900_000, min: 0 }))
  ),
  forward: fc.boolean(),
  pageLimit: fc.integer({ min: 1, max: 12 }),
  maxPage: fc.integer({ min: 1, max: 8 }),
  isEndExclusive: fc.boolean(),
  nodeCount: fc.integer({ min: 1, max: MAX_NODES }),
  walks: fc.integer({ min: 1, max: 6 }),
  ahead: fc.integer({ min: 0, max: 3 }),
  faults: fc.array(
    fc.array(fc.option(fc.constantFrom(...FAULTS), { nil: undefined, freq: 4 }), {
      maxLength: 12
    }),
    { minLength: MAX_NODES, maxLength: MAX_NODES }
  ),
  breaks: fc.array(fc.boolean(), { maxLength: 12 })
})

const BASE = 1_700_000_000_000_000_000n

const hasIt = ({ nodes }: Scenario['history'][number], index: number): boolean =>
  ((nodes >> index) & 1) === 1

/** Archives with gaps, and what each of them has that matches; `isFull`: without gaps. */
function setUp(given: Scenario, { isFull = false, hasFaults = false }) {
  const archives = Array.from({ length: given.nodeCount }, () => new Archive(given))
  const timeStart = given.start === null ? undefined : BASE + BigInt(given.start)
  const timeEnd = given.length === null ? undefined : (timeStart ?? BASE) + BigInt(given.length)
  const contentTopics = given.topics.map((topic) => TOPICS[topic] ?? '')
  const matches = ({ message: { timestamp = 0n, contentTopic } }: Stored): boolean =>
    contentTopics.includes(contentTopic) &&
    (timeStart ?? timestamp) <= timestamp &&
    (timeEnd === undefined || timestamp < timeEnd)
  for (const [index, entry] of given.history.entries()) {
    const contentTopic = TOPICS[entry.topic] ?? ''
    const message = messageAt(BASE + BigInt(entry.time), `message ${index}`, contentTopic)
    for (const [node, archive] of archives.entries()) {
      if (isFull || hasIt(entry, node)) {
        archive.add(message, toPubsubTopic(contentTopic, NETWORK))
      }
    }
  }
  const sign = given.forward ? 1 : -1
  const inOrder = (rows: readonly Stored[]): string[] =>
    [...rows].sort((a, b) => inHashOrder(a, b) * sign).map(({ hash }) => hash)
  const held = archives.map(({ rows }) => inOrder(rows.filter(matches)))
  const all = new Map(archives.flatMap(({ rows }) => rows).map((row) => [row.hash, row]))
  const peers = new FakePeers(
    archives.map((archive, node) => {
      const faults = hasFaults ? [...(given.faults[node] ?? [])] : []
      return faultyPeer(`node ${node}`, archive, STORE_PROTOCOLS.slice(0, 1), () => faults.shift())
    })
  )
  return {
    peers,
    client: new StoreClient(peers, { sleep: async () => undefined }),
    criteria: { contentTopics, timeStart, timeEnd },
    held,
    union: inOrder([...all.values()].filter(matches))
  }
}

/** Walks to the end, from token to token, whatever goes wrong on the way. */
async function walkToEnd<Page extends MessagePage>(
  { client, criteria }: ReturnType<typeof setUp>,
  { forward, pageLimit, breaks }: Scenario,
  walkers: readonly [Walker<Page>, ...Walker<Page>[]]
): Promise<{ messages: StoredMessage[]; pages: Page[] }> {
  const messages: StoredMessage[] = []
  const pages: Page[] = []
  const restarts = [...breaks]
  let position: string | undefined
  for (let round = 0; round < 100; round++) {
    const options = {
      direction: forward ? ('forward' as const) : ('backward' as const),
      pageLimit: 1 + ((pageLimit + round) % 12),
      position,
      walker: walkers[round % walkers.length] ?? walkers[0]
    }
    try {
      for await (const page of client.queryPages(criteria, options)) {
        expect(page.messages.length).to.be.at.most(options.pageLimit)
        messages.push(...(forward ? page.messages : [...page.messages].reverse()))
        pages.push(page)
        expect(page.rejected).to.deep.equal([])
        position = JSON.parse(JSON.stringify(page.position)) as string
        if (page.completeness !== 'more') {
          expect(page.completeness).to.equal('complete')
          return { messages, pages }
        }
        expect(page.messages).to.not.have.length(0)
        if (restarts.shift() === true) {
          break
        }
      }
    } catch (error) {
      if (!hasErrorCode(error, 'ERR_INCOMPLETE_HISTORY')) {
        throw error
      }
      position = error.position
    }
  }
  throw new Error('the walk does not end')
}

const keys = (messages: readonly StoredMessage[]): string[] =>
  messages.map(({ messageHash }) => toHex(messageHash))

const check = (run: (scenario: Scenario) => Promise<void>, numRuns: number): Promise<void> =>
  fc.assert(fc.asyncProperty(scenario, run), {
    seed: PROPERTY.seed,
    numRuns: numRuns * PROPERTY.factor
  })

describe(`walkers over nodes that have everything (seed ${PROPERTY.seed})`, () => {
  const cases: Record<string, (given: Scenario) => [Walker, ...Walker[]]> = {
    readAhead: ({ ahead }) => [readAhead(ahead)],
    parallel: ({ walks }) => [parallel(walks)],
    'readAhead before parallel, and a plain walk in turns': ({ ahead, walks }) => [
      readAhead(ahead, parallel(walks)),
      readAhead(0)
    ]
  }
  for (const [name, walkersOf] of Object.entries(cases)) {
    it(`${name}: each match once and in order, whatever fails at whichever node`, () =>
      check(async (given) => {
        const world = setUp(given, { isFull: true, hasFaults: true })
        const { messages } = await walkToEnd(world, given, walkersOf(given))
        expect(keys(messages)).to.deep.equal(world.union)
        expect(world.peers.pending).to.equal(0)
      }, 200))
  }
})

describe(`walkers over nodes with gaps (seed ${PROPERTY.seed})`, () => {
  const cases: Record<
    string,
    (given: Scenario) => [Walker<SourcesPage>, ...Walker<SourcesPage>[]]
  > = {
    sources: () => [sources('all')],
    'sources, each read ahead or in pieces': ({ ahead, walks }) => [
      sources('all', { walker: readAhead(ahead) }),
      sources('all', { walker: parallel(walks) })
    ],
    fillGaps: () => [fillGaps('all')],
    'fillGaps in turns with sources, read ahead': ({ ahead }) => [
      fillGaps('all', { walker: readAhead(ahead) }),
      readAhead(ahead, sources('all'))
    ]
  }
  for (const [name, walkersOf] of Object.entries(cases)) {
    it(`${name}: the union once and in order, and who lacked what`, () =>
      check(async (given) => {
        const world = setUp(given, {})
        const { messages, pages } = await walkToEnd(world, given, walkersOf(given))
        expect(keys(messages)).to.deep.equal(world.union)
        for (const [node, held] of world.held.entries()) {
          const lacked = pages
            .flatMap(({ lacks }) => lacks)
            .filter(({ peerId }) => peerId === `node ${node}`)
            .flatMap(({ messages }) => keys(messages))
          const truth = world.union.filter((hash) => !held.includes(hash))
          expect(lacked.sort()).to.deep.equal(truth.sort())
        }
        expect(pages.at(-1)?.sources.map(({ state }) => state)).to.deep.equal(
          world.held.map(() => 'complete')
        )
        expect(world.peers.pending).to.equal(0)
      }, 200))

    it(`${name}: once, in order of time, all that a node has which never failed`, () =>
      check(async (given) => {
        const world = setUp(given, { hasFaults: true })
        const { messages, pages } = await walkToEnd(world, given, walkersOf(given))
        const delivered = keys(messages)
        expect(new Set(delivered).size).to.equal(delivered.length)
        expect(delivered.filter((hash) => !world.union.includes(hash))).to.deep.equal([])
        const times = messages.map(({ timestamp = 0n }) => timestamp)
        expect(times).to.deep.equal(
          [...times].sort((a, b) => (a === b ? 0 : a < b === given.forward ? -1 : 1))
        )
        const dropped = new Set(
          pages.flatMap((page) =>
            page.sources.filter(({ state }) => state === 'dropped').map(({ peerId }) => peerId)
          )
        )
        for (const [node, held] of world.held.entries()) {
          const failed = given.faults[node]?.some((fault) => fault !== undefined)
          if (!dropped.has(`node ${node}`) && failed !== true) {
            expect(held.filter((hash) => !delivered.includes(hash))).to.deep.equal([])
          }
        }
        expect(world.peers.pending).to.equal(0)
      }, 200))
  }
})
