import { expect } from 'chai'
import { PacedWriter } from '../../src/transport/paced-writer.ts'
import { caught, countedSignal } from './helpers/caught.ts'

/** A stream that notes what is sent, in which turn of the event loop. */
function stream(canSendMore: () => boolean = () => true) {
  const sent: { readonly bytes: Uint8Array; readonly turn: number }[] = []
  let turn = 0
  let drains = 0
  const next = (): void => {
    turn++
    timer = setTimeout(next)
  }
  let timer = setTimeout(next)
  return {
    sent,
    drains: () => drains,
    end: () => clearTimeout(timer),
    bytes: () => Uint8Array.from(sent.flatMap(({ bytes }) => [...bytes])),
    writer: {
      send: (data: Uint8Array | { subarray(): Uint8Array }) => {
        sent.push({ bytes: data.subarray().slice(), turn })
        return canSendMore()
      },
      onDrain: async () => {
        drains++
      }
    }
  }
}

describe('PacedWriter', () => {
  it('writes a small frame in one piece, with its length before it', async () => {
    const test = stream()
    await new PacedWriter(test.writer, 1000).write(new Uint8Array(300).fill(7))
    test.end()
    expect(test.sent).to.have.length(1)
    expect(test.bytes()).to.deep.equal(Uint8Array.of(0xac, 0x02, ...new Uint8Array(300).fill(7)))
  })

  it('writes what is beyond the free bytes in pieces, a turn apart', async () => {
    const test = stream()
    const body = new Uint8Array(400_000).map((_, index) => index)
    const writer = new PacedWriter(test.writer, 192 * 1024)
    await writer.write(body)
    test.end()
    expect(test.bytes().subarray(3)).to.deep.equal(body)
    expect(test.sent[0]?.bytes.length).to.equal(192 * 1024)
    expect(Math.max(...test.sent.slice(1).map(({ bytes }) => bytes.length))).to.equal(32 * 1024)
    const turns = test.sent.map((piece) => piece.turn)
    expect(new Set(turns).size).to.equal(turns.length)
    expect(writer.sentBytes).to.equal(400_003)
  })

  it('paces many frames in a row as one', async () => {
    const test = stream()
    const writer = new PacedWriter(test.writer)
    for (let count = 0; count < 20; count++) {
      await writer.write(new Uint8Array(10_000))
    }
    test.end()
    const perTurn = new Map<number, number>()
    for (const { bytes, turn } of test.sent) {
      perTurn.set(turn, (perTurn.get(turn) ?? 0) + bytes.length)
    }
    expect(Math.max(...perTurn.values())).to.be.at.most(32 * 1024)
  })

  it('waits for a stream that is full, and ends with the reason of the signal', async () => {
    let isFull = true
    const test = stream(() => !isFull)
    await new PacedWriter(test.writer).write(Uint8Array.of(1))
    expect(test.drains()).to.equal(1)
    isFull = false
    const counted = countedSignal()
    const reason = new Error('mine')
    const writing = new PacedWriter(test.writer).write(new Uint8Array(100_000), counted.signal)
    counted.abort(reason)
    expect(await caught(writing)).to.equal(reason)
    expect(counted.listeners()).to.equal(0)
    test.end()
  })
})
