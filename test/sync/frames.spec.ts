import { StreamMessageEvent } from '@libp2p/interface'
import { lpStream, streamPair } from '@libp2p/utils'
import { expect } from 'chai'
import { compareBytes } from '../../src/lib/bytes.ts'
import { createFrames } from '../../src/sync/frames.ts'

const { signal } = new AbortController()

async function caught(promise: Promise<unknown>): Promise<unknown> {
  return await promise.catch((error: unknown) => error)
}

describe('createFrames', () => {
  it('reads what the usual helper writes, and the other way round', async () => {
    const [a, b] = await streamPair()
    const [ours, theirs] = [createFrames(a, 1_000_000), lpStream(b, { maxDataLength: 1_000_000 })]
    for (const size of [0, 1, 127, 128, 16_384, 500_000]) {
      const body = new Uint8Array(size).fill(size & 0xff)
      const [read] = await Promise.all([theirs.read(), ours.write(body, signal)])
      expect(read.byteLength).to.equal(size)
      const [back] = await Promise.all([ours.read(signal), theirs.write(body)])
      expect(back).to.deep.equal(body)
    }
    expect(ours.sentBytes).to.equal(ours.receivedBytes)
  })

  it('writes pieces of 32 kB at most, with a turn of the event loop between them', async () => {
    const [a] = await streamPair()
    const sizes: number[] = []
    const turns = new Set<number>()
    let turn = 0
    const timer = setInterval(() => turn++, 0)
    const send = a.send.bind(a)
    a.send = (data) => {
      sizes.push(data.byteLength)
      turns.add(turn)
      return send(data)
    }
    const frames = createFrames(a, 10)
    for (let count = 0; count < 5; count++) {
      await frames.write(new Uint8Array(50_000), signal)
    }
    clearInterval(timer)
    expect(Math.max(...sizes)).to.equal(32 * 1024)
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(frames.sentBytes)
    // no more than one piece's bytes in a turn
    expect(sizes.length).to.be.at.least(8)
  })

  it('rejects with ERR_CONNECTION where the stream throws', async () => {
    const [a] = await streamPair()
    const frames = createFrames(a, 10)
    a.send = () => {
      throw new Error('go away')
    }
    expect(await caught(frames.write(new Uint8Array(1), signal))).to.have.property(
      'code',
      'ERR_CONNECTION'
    )
  })

  it('tells the end from a reset, and from an end within a frame', async () => {
    for (const [end, bytes, expected] of [
      ['close', [1, 7], undefined],
      ['close', [1, 7, 5, 1], 'ERR_CONNECTION'],
      ['abort', [1, 7], 'ERR_CONNECTION']
    ] as const) {
      const [a, b] = await streamPair()
      const frames = createFrames(a, 10)
      b.send(Uint8Array.from(bytes))
      expect(await frames.read(signal)).to.deep.equal(Uint8Array.of(7))
      await (end === 'close' ? b.close() : b.abort(new Error('reset')))
      const result = await caught(frames.read(signal))
      expect((result as { code?: string } | undefined)?.code).to.equal(expected)
    }
  })

  it('reads what came before it was made, and the end', async () => {
    const [a, b] = await streamPair()
    b.send(Uint8Array.of(2, 1, 2))
    await b.close()
    const closed = Promise.withResolvers<void>()
    a.addEventListener('remoteCloseWrite', () => closed.resolve())
    await closed.promise
    const frames = createFrames(a, 10)
    expect(await frames.read(signal)).to.deep.equal(Uint8Array.of(1, 2))
    expect(await frames.read(signal)).to.equal(undefined)
  })

  for (const [what, bytes, code] of [
    ['too long', [11], 'ERR_LIMIT_EXCEEDED'],
    ['of more than four bytes', [0x80, 0x80, 0x80, 0x80], 'ERR_LIMIT_EXCEEDED'],
    ['longer than it need be', [0x81, 0], 'ERR_PROTOCOL_VIOLATION']
  ] as const) {
    it(`refuses a length that is ${what}`, async () => {
      const [a, b] = await streamPair()
      const frames = createFrames(a, 10)
      b.send(Uint8Array.from(bytes))
      expect(await caught(frames.read(signal))).to.have.property('code', code)
    })
  }

  it('pauses a peer that sends ahead, and loses nothing', async () => {
    const [a, b] = await streamPair()
    const frames = createFrames(a, 1_000)
    let pauses = 0
    const pause = a.pause.bind(a)
    a.pause = () => {
      pauses++
      pause()
    }
    const writer = lpStream(b)
    for (let count = 0; count < 300; count++) {
      await writer.write(new Uint8Array(1_000).fill(count & 0xff))
    }
    for (let count = 0; count < 300; count++) {
      expect((await frames.read(signal))?.[0]).to.equal(count & 0xff)
    }
    expect(pauses).to.be.greaterThan(0)
  })

  it('reads what comes byte by byte, in linear time', async () => {
    const [a] = await streamPair()
    const frames = createFrames(a, 4_000_000)
    const body = Uint8Array.from({ length: 600_000 }, (_, index) => index * 7)
    for (const byte of [0xc0, 0xcf, 0x24, ...body]) {
      a.dispatchEvent(new StreamMessageEvent(Uint8Array.of(byte)))
    }
    // one more, so that the frame is not all there is
    a.dispatchEvent(new StreamMessageEvent(Uint8Array.of(1)))
    expect(compareBytes(frames.take() ?? new Uint8Array(), body)).to.equal(0)
    expect(frames.take()).to.equal(undefined)
    a.dispatchEvent(new StreamMessageEvent(Uint8Array.of(9)))
    expect(frames.take()).to.deep.equal(Uint8Array.of(9))
  })

  it("rejects with the signal's own reason, and leaves no listener on the stream", async () => {
    const [a] = await streamPair()
    const frames = createFrames(a, 1_000)
    const controller = new AbortController()
    const reading = caught(frames.read(controller.signal))
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await reading).to.equal(reason)
    await frames.close(signal)
    expect(a.listenerCount('message')).to.equal(0)
    const [b] = await streamPair()
    createFrames(b, 1_000).abort()
    expect(b.listenerCount('message')).to.equal(0)
  })
})
