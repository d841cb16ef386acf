import { expect } from 'chai'
import { toHex } from 'waku-light/message'
import { failure, PROPERTY } from '../helpers/collect.ts'
import { CORPUS } from './corpus.ts'
import { DECODERS } from './decoders.ts'
import { concat, framed, mutate, split } from './mutate.ts'
import { Random } from './random.ts'
import { fuzz, ROUNDS } from './run.ts'
import { settled } from './watch.ts'

const { seed, factor } = PROPERTY

/** The short form of `npm run fuzz`: frames for each target. */
const FRAMES: Readonly<Record<string, number>> = {
  decoders: 20_000,
  exchange: 150,
  answer: 40,
  push: 300,
  walk: 250
}

describe(`fuzzing (seed ${seed})`, () => {
  for (const target of Object.keys(ROUNDS)) {
    it(`${target}: every frame ends in a value or an error of this package`, async () => {
      const frames = (FRAMES[target] as number) * factor
      const report = await fuzz({ seed, frames, targets: [target] })
      expect(report.frames[target]).to.be.at.least(frames)
    })
  }
})

describe('the fuzzer', () => {
  it('does the same for the same seed', () => {
    const make = (own: number): string => {
      const random = new Random(own)
      return Array.from({ length: 50 }, () =>
        toHex(mutate(random, random.pick(CORPUS), random.pick(CORPUS)))
      ).join()
    }
    expect(make(5)).to.equal(make(5))
    expect(make(5)).to.not.equal(make(6))
  })

  it('cuts frames anywhere, and loses nothing', () => {
    const random = new Random(seed)
    for (const body of CORPUS.slice(0, 100)) {
      const frame = framed(body)
      expect(toHex(concat(...split(random, frame)))).to.equal(toHex(frame))
    }
  })

  it('knows every decoder, and decodes something with most of them', () => {
    expect(DECODERS.length).to.be.at.least(19)
    const decoding = DECODERS.filter(([, decode]) =>
      CORPUS.some((bytes) => {
        try {
          return decode(bytes) !== undefined
        } catch {
          return false
        }
      })
    )
    expect(decoding.length).to.be.at.least(DECODERS.length - 1)
  })

  it('names the seed that repeats a failure', async () => {
    const broken = { ...ROUNDS }
    Object.assign(ROUNDS, {
      decoders: () => {
        throw new TypeError('found')
      }
    })
    try {
      const error = await failure(() => fuzz({ seed: 7, frames: 1, targets: ['decoders'] }))
      expect((error as Error).message).to.equal('--seed 7 --frames 1: decoders: found')
    } finally {
      Object.assign(ROUNDS, broken)
    }
  })

  it('takes what is not of this package as a failure', async () => {
    const reason = new Error('given up')
    expect(await settled('it', Promise.reject(reason), reason)).to.deep.equal({ error: reason })
    const error = await failure(() => settled('it', Promise.reject(new TypeError('oops'))))
    expect((error as Error).message).to.match(/not of this package/)
  })
})
