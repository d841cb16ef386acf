import { expect } from 'chai'
import fc from 'fast-check'
import { hasErrorCode } from 'waku-light/errors'
import { toHex, toPubsubTopic } from 'waku-light/message'
import {
  STORE_BETA4,
  STORE_QUERY_3,
  StoreClient,
  type StoredMessage,
  type StoreGeneration
} from 'waku-light/store'
import { STORE_BETA2 } from 'waku-light/store/beta2'
import {
  Archive,
  inDigestOrder,
  inHashOrder,
  inReceivedOrder,
  STORE_PROTOCOLS,
  type Stored
} from '../helpers/archive.ts'
import { messageAt, PROPERTY } from '../helpers/collect.ts'
import { FakePeers, NETWORK } from '../helpers/fake-peers.ts'
import { FAULTS, type Fault, faultyPeer } from '../helpers/store-peers-faulty.ts'

/** Eleven of one shard, so that they take two requests, and some of others. */
const TOPICS = [
  ...Array.from({ length: 11 }, (_, index) => `/app/22/${index}/proto`),
  '/toychat/2/a/proto',
  '/app/27/a/proto',
  '/app/20/a/proto'
]

const history = fc.array(
  fc.record({
    topic: fc.nat(TOPICS.length - 1),
    time: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }) },
      fc.integer({ min: 1, max: 1000 })
    )
  }),
  { maxLength: 60 }
)

const scenario: fc.Arbitrary<Scenario> = fc.record({
  history,
  topics: fc.oneof(
    { weight: 3, arbitrary: fc.uniqueArray(fc.nat(TOPICS.length - 1), { minLength: 1 }) },
    fc.constant([...TOPICS.keys()])
  ),
  start: fc.option(fc.integer({ min: 0, max: 8 })),
  length: fc.option(fc.integer({ min: 0, max: 500 })),
  forward: fc.boolean(),
  pageLimit: fc.integer({ min: 1, max: 12 }),
  maxPage: fc.integer({ min: 1, max: 8 }),
  faults: fc.array(fc.option(fc.constantFrom(...FAULTS), { nil: undefined, freq: 3 }), {
    maxLength: 30
  }),
  /** Before which pages the walk is dropped and begun again from the token. */
  breaks: fc.array(fc.boolean(), { maxLength: 20 })
})
interface Scenario {
  readonly history: readonly { readonly topic: number; readonly time: number }[]
  readonly topics: readonly number[]
  readonly start: number | null
  readonly length: number | null
  readonly forward: boolean
  readonly pageLimit: number
  readonly maxPage: number
  readonly faults: readonly Fault[]
  readonly breaks: readonly boolean[]
}

const SECOND = 1_000_000_000n
const BASE = 1_700_000_000n * SECOND

function fill(archives: readonly Archive[], { history }: Scenario, unit: bigint): Stored[] {
  return history.map(({ topic, time }, index) => {
    const contentTopic = TOPICS[topic] ?? ''
    const message = messageAt(BASE + BigInt(time) * unit, `message ${index}`, contentTopic)
    const [stored] = archives.map((archive) =>
      archive.add(message, toPubsubTopic(contentTopic, NETWORK))
    )
    return stored as Stored
  })
}

function criteriaOf({ topics, start, length }: Scenario, unit: bigint) {
  const timeStart = start === null ? undefined : BASE + BigInt(start) * unit
  return {
    contentTopics: topics.map((topic) => TOPICS[topic] ?? ''),
    timeStart,
    timeEnd: length === null ? undefined : (timeStart ?? BASE) + BigInt(length) * unit
  }
}

function expectedOf(
  stored: readonly Stored[],
  { contentTopics, timeStart, timeEnd }: ReturnType<typeof criteriaOf>
): Stored[] {
  return stored.filter(
    ({ message: { timestamp = 0n, contentTopic } }) =>
      contentTopics.includes(contentTopic) &&
      (timeStart ?? timestamp) <= timestamp &&
      (timeEnd === undefined || timestamp < timeEnd)
  )
}

/** Walks to the end, from token to token, whatever goes wrong on the way. */
async function walkToEnd(
  client: StoreClient,
  criteria: ReturnType<typeof criteriaOf>,
  { forward, pageLimit, breaks }: Scenario,
  peerIds: readonly (string | undefined)[] = [undefined]
): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = []
  const restarts = [...breaks]
  let position: string | undefined
  for (let round = 0; round < 200; round++) {
    const { contentTopics } = criteria
    const options = {
      direction: forward ? ('forward' as const) : ('backward' as const),
      pageLimit: 1 + ((pageLimit + round) % 12),
      position,
      peerId: peerIds[round % peerIds.length]
    }
    try {
      // The order in which topics are given must not matter to a position.
      const shuffled = round % 2 === 0 ? contentTopics : [...contentTopics].reverse()
      const pages = client.queryPages({ ...criteria, contentTopics: shuffled }, options)
      for await (const page of pages) {
        messages.push(...(forward ? page.messages : [...page.messages].reverse()))
        expect(page.rejected).to.deep.equal([])
        position = JSON.parse(JSON.stringify(page.position)) as string
        if (page.completeness !== 'more') {
          return messages
        }
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

const order = (rows: readonly Stored[], by: (a: Stored, b: Stored) => number, forward: boolean) =>
  [...rows].sort((a, b) => by(a, b) * (forward ? 1 : -1)).map(({ hash }) => hash)

describe(`StoreClient.queryPages (seed ${PROPERTY.seed})`, () => {
  const check = (run: (scenario: Scenario) => Promise<void>, numRuns: number): Promise<void> =>
    fc.assert(fc.asyncProperty(scenario, run), {
      seed: PROPERTY.seed,
      numRuns: numRuns * PROPERTY.factor
    })

  const oneGeneration: readonly [StoreGeneration, typeof inHashOrder][] = [
    [STORE_QUERY_3, inHashOrder],
    [STORE_BETA4, inDigestOrder]
  ]
  for (const [generation, by] of oneGeneration) {
    it(`delivers each match once and in order over ${generation.protocol}, whatever fails at whichever node`, () =>
      check(async (given) => {
        const archives = [new Archive(given), new Archive(given), new Archive(given)]
        const stored = fill(archives, given, 1n)
        const criteria = criteriaOf(given, 1n)
        const faults = [...given.faults]
        const peers = archives.map((archive, index) =>
          faultyPeer(`peer-${index}`, archive, [generation.protocol], () => faults.shift())
        )
        const client = new StoreClient(new FakePeers(peers), {
          generations: [generation],
          sleep: async () => undefined
        })
        const messages = await walkToEnd(client, criteria, given, [undefined, 'peer-1', undefined])
        expect(keys(messages)).to.deep.equal(order(expectedOf(stored, criteria), by, given.forward))
      }, 150))
  }

  it('delivers each match once and in the order of time where the nodes speak different generations', () =>
    check(async (given) => {
      const archives = [new Archive(given), new Archive(given)]
      const stored = fill(archives, given, 1n)
      const criteria = criteriaOf(given, 1n)
      const faults = [...given.faults]
      const peers = archives.map((archive, index) =>
        faultyPeer(`peer-${index}`, archive, STORE_PROTOCOLS.slice(index, index + 1), () =>
          faults.shift()
        )
      )
      const messages = await walkToEnd(
        new StoreClient(new FakePeers(peers), { sleep: async () => undefined }),
        criteria,
        given
      )
      const expected = expectedOf(stored, criteria)
      expect(keys(messages).sort()).to.deep.equal(expected.map(({ hash }) => hash).sort())
      const times = messages.map(({ timestamp = 0n }) => timestamp)
      expect(times).to.deep.equal(
        [...times].sort((a, b) => (a < b === given.forward ? -1 : a === b ? 0 : 1))
      )
    }, 150))

  it('delivers each match once over beta2, from one node, though many share a received time', () =>
    check(async (given) => {
      const archive = new Archive(given)
      const stored = fill([archive], given, 40n * SECOND)
      const criteria = criteriaOf(given, 40n * SECOND)
      const faults = given.faults.filter((fault) => fault === undefined || fault === 'broken')
      const peer = faultyPeer('peer', archive, STORE_PROTOCOLS.slice(2), () => faults.shift())
      const client = new StoreClient(new FakePeers([peer]), {
        generations: [STORE_BETA2],
        sleep: async () => undefined
      })
      const messages = await walkToEnd(client, criteria, given)
      const expected = expectedOf(stored, criteria)
      expect(keys(messages).sort()).to.deep.equal(expected.map(({ hash }) => hash).sort())
      if (given.topics.length === 1) {
        expect(keys(messages)).to.deep.equal(order(expected, inReceivedOrder, given.forward))
      }
    }, 150))

  it('is flat in the same order', () =>
    check(async (given) => {
      const archive = new Archive(given)
      const stored = fill([archive], given, 1n)
      const criteria = criteriaOf(given, 1n)
      const peers = new FakePeers([faultyPeer('peer', archive, STORE_PROTOCOLS, () => undefined)])
      const direction = given.forward ? 'forward' : 'backward'
      const hashes: string[] = []
      for await (const { messageHash } of new StoreClient(peers).query(criteria, {
        direction,
        pageLimit: given.pageLimit
      })) {
        hashes.push(toHex(messageHash))
      }
      expect(hashes).to.deep.equal(order(expectedOf(stored, criteria), inHashOrder, given.forward))
    }, 50))
})
