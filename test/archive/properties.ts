import { expect } from 'chai'
import fc from 'fast-check'
import type { Archive, ArchiveCriteria } from 'waku-light/archive'
import { toHex } from 'waku-light/message'
import type { StoredMessage } from 'waku-light/store'
import { collect, hashesOf, PROPERTY } from '../helpers/collect.ts'
import { stored } from './messages.ts'

const TOPICS = ['/app/1/a/proto', '/app/1/b/proto', '/app/1/c/proto']
const PUBSUB_TOPICS = ['/waku/2/rs/66/1', '/waku/2/rs/66/2']
const SECOND = 1_000_000_000n

/** Few times close together, so that many are the same; some minutes apart, so that chunks end there. */
const time = fc
  .tuple(fc.integer({ min: -2, max: 4 }), fc.integer({ min: 0, max: 12 }))
  .map(([far, near]) => BigInt(far * 130 + near) * SECOND)

const message = fc
  .tuple(fc.option(time), fc.nat(5), fc.constantFrom(...TOPICS), fc.constantFrom(...PUBSUB_TOPICS))
  .map(([timestamp, text, contentTopic, pubsubTopic]) =>
    stored(timestamp ?? undefined, `${text}`, { contentTopic, pubsubTopic })
  )

const criteria: fc.Arbitrary<ArchiveCriteria> = fc
  .record({
    contentTopics: fc.option(fc.subarray(TOPICS), { nil: undefined }),
    pubsubTopic: fc.option(fc.constantFrom(...PUBSUB_TOPICS), { nil: undefined }),
    times: fc.option(fc.tuple(time, time), { nil: undefined }),
    after: fc.option(message, { nil: undefined }),
    direction: fc.constantFrom('forward' as const, 'backward' as const)
  })
  .map(({ times, ...rest }) => {
    const [timeStart, timeEnd] = times?.toSorted((a, b) => (a < b ? -1 : 1)) ?? []
    return { ...rest, timeStart, timeEnd }
  })

type Step =
  | { readonly put: readonly (readonly StoredMessage[])[] }
  | { readonly before: bigint }
  | { readonly maxCount: number }
  | { readonly walk: ArchiveCriteria }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      put: fc.array(fc.array(message, { maxLength: 40 }), { minLength: 1, maxLength: 3 })
    })
  },
  { weight: 3, arbitrary: fc.record({ walk: criteria }) },
  { weight: 1, arbitrary: fc.record({ before: time }) },
  { weight: 1, arbitrary: fc.record({ maxCount: fc.nat(60) }) }
)

/** An archive as slow and obvious as can be. */
class Model {
  #messages: StoredMessage[] = []

  put(messages: readonly StoredMessage[]): string[] {
    const added: string[] = []
    for (const one of messages) {
      const hash = toHex(one.messageHash)
      if (!hashesOf(this.#messages).includes(hash)) {
        this.#messages.push(one)
        added.push(hash)
      }
    }
    this.#messages.sort(byOrder)
    return added
  }

  prune(isKept: (message: StoredMessage, index: number, all: StoredMessage[]) => boolean): number {
    const { length } = this.#messages
    this.#messages = this.#messages.filter(isKept)
    return length - this.#messages.length
  }

  walk({ contentTopics = [], pubsubTopic, ...rest }: ArchiveCriteria): string[] {
    const { timeStart, timeEnd, after, direction } = rest
    const forward = direction === 'forward'
    const found = this.#messages.filter(
      (one) =>
        (contentTopics.length === 0 || contentTopics.includes(one.contentTopic)) &&
        (pubsubTopic === undefined || one.pubsubTopic === pubsubTopic) &&
        (timeStart === undefined || (one.timestamp ?? 0n) >= (timeStart as bigint)) &&
        (timeEnd === undefined || (one.timestamp ?? 0n) < (timeEnd as bigint)) &&
        (after === undefined ||
          (forward
            ? byOrder(one, after as StoredMessage) > 0
            : byOrder(one, after as StoredMessage) < 0))
    )
    return hashesOf(forward ? found : found.reverse())
  }
}

function byOrder(a: StoredMessage, b: StoredMessage): number {
  const [first, second] = [a.timestamp ?? 0n, b.timestamp ?? 0n]
  if (first !== second) {
    return first < second ? -1 : 1
  }
  return toHex(a.messageHash).localeCompare(toHex(b.messageHash), 'en')
}

/** Any calls in any order do what they do to a plain model. */
export function archiveProperties(
  name: string,
  create: () => Promise<Archive>,
  runs: number
): void {
  describe(`${name}, against a model (seed ${PROPERTY.seed})`, () => {
    it('holds and walks what the model does', async function () {
      this.timeout(60_000)
      const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const [archive, model, told] = [await create(), new Model(), [] as string[]]
        archive.subscribe((messages) => told.push(...hashesOf(messages)))
        try {
          for (const one of steps) {
            told.length = 0
            const added = await apply(archive, model, one)
            expect(told.toSorted()).to.deep.equal(added.toSorted())
          }
          expect(hashesOf(await collect(archive.walk()))).to.deep.equal(
            model.walk({ direction: 'forward' })
          )
        } finally {
          await archive.close()
        }
      })
      await fc.assert(property, { seed: PROPERTY.seed, numRuns: runs * PROPERTY.factor })
    })
  })
}

/** Does a step to both; returns what was added. */
async function apply(archive: Archive, model: Model, step: Step): Promise<string[]> {
  if ('put' in step) {
    const results = await Promise.all(step.put.map((messages) => archive.putMany(messages)))
    const expected = step.put.map((messages) => model.put(messages))
    expect(results.map((added) => hashesOf(added))).to.deep.equal(expected)
    return expected.flat()
  }
  if ('walk' in step) {
    const keys = await collect(archive.walkKeys(step.walk))
    expect(hashesOf(keys)).to.deep.equal(model.walk(step.walk))
  } else if ('before' in step) {
    const { before } = step
    const removed = model.prune(({ timestamp = 0n }) => timestamp >= before)
    expect(await archive.prune({ before })).to.equal(removed)
  } else {
    const { maxCount } = step
    const removed = model.prune((_, index, all) => index >= all.length - maxCount)
    expect(await archive.prune({ maxCount })).to.equal(removed)
  }
  return []
}
