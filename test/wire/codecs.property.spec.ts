import { expect } from 'chai'
import fc from 'fast-check'
import { isWakuLightError } from 'waku-light/errors'
import { CODECS, type CodecCase } from './codecs.ts'
import { clean } from './frame.ts'
import { fieldBytes, readFields, TwinError } from './twin.ts'

const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } })
  .process?.env
const seed = Number(environment?.['FC_SEED'] ?? Date.now() & 0x7fffffff)

function check<T extends unknown[]>(property: fc.IProperty<T>, numRuns: number): void {
  fc.assert(property, { seed, numRuns: numRuns * Number(environment?.['FC_FACTOR'] ?? 1) })
}

/** Both results as one text or value: accepted alike, or refused by both. */
function compare({ decode, twin }: CodecCase, bytes: Uint8Array): void {
  let expected: unknown
  let actual: unknown
  let failure: unknown
  try {
    expected = clean(twin(bytes))
  } catch (error) {
    if (!(error instanceof TwinError)) {
      throw error
    }
    expected = 'refused'
  }
  try {
    actual = clean(decode(bytes))
  } catch (error) {
    actual = 'refused'
    failure = error
  }
  expect(failure === undefined || isWakuLightError(failure), String(failure)).to.equal(true)
  expect(actual, failure instanceof Error ? failure.message : undefined).to.deep.equal(expected)
}

const junkField = fc
  .tuple(
    fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 2 ** 29 - 1 })),
    fc.constantFrom(0, 0, 1, 2, 2, 2, 5),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.uint8Array({ maxLength: 12 })
  )
  .map(([fieldNumber, wireType, number, bytes]) => {
    switch (wireType) {
      case 0:
        return fieldBytes(fieldNumber, 0, number >> BigInt((bytes.length * 5) % 64))
      case 2:
        return fieldBytes(fieldNumber, 2, bytes)
      default:
        return fieldBytes(
          fieldNumber,
          wireType,
          new Uint8Array(wireType === 1 ? 8 : 4).fill(bytes[0] ?? 0)
        )
    }
  })

/** A change somewhere: bytes overwritten, cut out, or put in. */
const mutation = fc.record({
  at: fc.nat(),
  cut: fc.nat({ max: 3 }),
  put: fc.oneof(
    fc.uint8Array({ maxLength: 4 }).map((bytes) => [...bytes]),
    fc.constantFrom(
      [0],
      [0x7f],
      [0x80],
      [0xff],
      [0x0b],
      [0xff, 0xff, 0xff, 0xff, 0x0f],
      Array(9).fill(0x80)
    ),
    junkField
  )
})

for (const codec of CODECS) {
  describe(`${codec.name} (seed ${seed})`, () => {
    it('returns what was encoded', () => {
      check(
        fc.property(codec.values, (value) => {
          expect(clean(codec.decode(codec.encode(value)))).to.deep.equal(clean(value))
        }),
        100
      )
    })

    it('agrees with the twin on mutated bytes, and throws nothing but typed errors', () => {
      check(
        fc.property(codec.values, fc.array(mutation, { maxLength: 3 }), (value, mutations) => {
          let bytes = [...codec.encode(value)]
          for (const { at, cut, put } of mutations) {
            bytes = bytes.toSpliced(at % (bytes.length + 1), cut, ...put)
          }
          compare(codec, Uint8Array.from(bytes))
        }),
        300
      )
    })

    it('agrees with the twin on fields in any order, repeated, of any type, and unknown', () => {
      check(
        fc.property(
          codec.values,
          codec.values,
          fc.array(junkField, { maxLength: 4 }),
          fc.infiniteStream(fc.nat()),
          (value, other, junk, order) => {
            const fields = [codec.encode(value), codec.encode(other)].flatMap(split)
            const keys = order[Symbol.iterator]()
            const shuffled = [...fields, ...junk]
              .map((field) => ({ field, key: keys.next().value as number }))
              .sort((a, b) => a.key - b.key)
            compare(codec, Uint8Array.from(shuffled.flatMap(({ field }) => field)))
          }
        ),
        150
      )
    })

    it('agrees with the twin on junk', () => {
      check(
        fc.property(fc.array(junkField, { maxLength: 6 }), (junk) => {
          compare(codec, Uint8Array.from(junk.flat()))
        }),
        150
      )
    })
  })
}

function split(bytes: Uint8Array): number[][] {
  let start = 0
  return readFields(bytes).map(({ end }) => {
    const field = [...bytes.subarray(start, end)]
    start = end
    return field
  })
}
