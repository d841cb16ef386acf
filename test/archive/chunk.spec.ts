import { expect } from 'chai'
import { CHUNK_SPAN, fromChunk, toChunks } from '../../src/archive/chunk.ts'
import { history, stored } from './messages.ts'

describe('toChunks', () => {
  it('puts twenty messages into a chunk, in order, and fromChunk takes them out again', () => {
    const many = history(45)
    const chunks = toChunks(many.toReversed())
    expect(chunks.map(({ hashes }) => hashes.length)).to.deep.equal([20, 20, 5])
    expect(chunks.flatMap(fromChunk)).to.deep.equal(many)
    expect(toChunks([])).to.deep.equal([])
  })

  it('ends a chunk where it would cover too much time', () => {
    const times = [0n, CHUNK_SPAN, CHUNK_SPAN + 1n, 3n * CHUNK_SPAN]
    const chunks = toChunks(times.map((time) => stored(time, `${time}`)))
    expect(chunks.map(({ hashes }) => hashes.length)).to.deep.equal([2, 1, 1])
  })

  it('ends a chunk where its payloads are large', () => {
    const payload = new Uint8Array(40_000)
    const chunks = toChunks([1n, 2n, 3n].map((time) => stored(time, '', { payload })))
    expect(chunks.map(({ hashes }) => hashes.length)).to.deep.equal([2, 1])
  })
})
