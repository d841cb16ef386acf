import type { Connection, Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { expect } from 'chai'
import { withDeadline } from '../../src/lib/deadline.ts'
import {
  answer,
  type ExchangeReply,
  type ExchangeRequest,
  exchange,
  MAX_LINGERING_STREAMS
} from '../../src/transport/exchange.ts'
import { caught, countedSignal } from './helpers/caught.ts'
import { closeMemoryConnections, connectInMemory, PROTOCOL } from './helpers/memory-connection.ts'

const REQUEST = Uint8Array.of(1, 2, 3)
const REPLY = Uint8Array.of(9, 8, 7)
const { signal: open } = new AbortController()

function ask(
  connection: Connection,
  options: Partial<ExchangeRequest> & { readonly signal?: AbortSignal } = {}
): Promise<ExchangeReply> {
  const { signal = open, ...request } = options
  return exchange(
    connection,
    { protocols: [PROTOCOL], encode: () => REQUEST, maxResponseBytes: 1000, ...request },
    signal
  )
}

/** Reads the request, writes the reply, closes. */
async function serve(stream: Stream): Promise<void> {
  const frames = lpStream(stream)
  await frames.read()
  await frames.write(REPLY)
  await stream.close()
}

/** Sends bytes as they are, and closes. */
function send(...bytes: number[]): (stream: Stream) => Promise<void> {
  return async (stream) => {
    stream.send(Uint8Array.from(bytes))
    await stream.close()
  }
}

describe('exchange', () => {
  afterEach(closeMemoryConnections)

  it('writes a large request in pieces, less than any window at once', async () => {
    const received = Promise.withResolvers<Uint8Array>()
    const memory = connectInMemory(async (stream) => {
      const frames = lpStream(stream, { maxDataLength: 1_000_000, maxBufferSize: 2_000_000 })
      received.resolve((await frames.read()).subarray())
      await frames.write(REPLY)
      await stream.close()
    })
    const sizes: number[] = []
    const { newStream } = memory.connection
    memory.connection.newStream = async (...all) => {
      const stream = await newStream(...all)
      const { send } = stream
      stream.send = (data) => {
        sizes.push(data.byteLength)
        return send.call(stream, data)
      }
      return stream
    }
    const body = new Uint8Array(700_000).map((_, index) => index % 251)
    await ask(memory.connection, { encode: () => body })
    expect(await received.promise).to.deep.equal(body)
    expect(Math.max(...sizes)).to.be.at.most(200_000)
  })

  it('resolves with the reply and the protocol, and leaves neither stream nor listener', async () => {
    const received: Uint8Array[] = []
    const memory = connectInMemory(async (stream) => {
      const frames = lpStream(stream)
      received.push((await frames.read()).subarray())
      await frames.write(REPLY)
      await stream.close()
    })
    const counted = countedSignal()
    const written: string[] = []
    const reply = await ask(memory.connection, {
      protocols: ['/unknown', PROTOCOL],
      encode: (protocol) => {
        written.push(protocol)
        return REQUEST
      },
      onWrite: () => written.push('written'),
      signal: counted.signal
    })
    expect(reply).to.deep.equal({ protocol: PROTOCOL, bytes: REPLY })
    expect(written).to.deep.equal([PROTOCOL, 'written'])
    expect(received).to.deep.equal([REQUEST])
    await memory.drained()
    expect(counted.listeners()).to.equal(0)
  })

  it('takes a reply that comes before the request is read', async () => {
    const memory = connectInMemory(send(3, ...REPLY))
    expect((await ask(memory.connection)).bytes).to.deep.equal(REPLY)
    await memory.drained()
  })

  it('takes a reply though the peer resets the stream after it', async () => {
    const memory = connectInMemory((stream) => {
      stream.send(Uint8Array.of(3, ...REPLY))
      stream.abort(new Error('rate limit'))
    })
    expect((await ask(memory.connection)).bytes).to.deep.equal(REPLY)
    await memory.drained()
  })

  it('takes a reply though the request cannot be written in full', async () => {
    // far more than the window of a stream that nobody reads
    const memory = connectInMemory(async (stream) => {
      stream.pause()
      stream.send(Uint8Array.of(3, ...REPLY))
    })
    const counted = countedSignal()
    const reply = await ask(memory.connection, {
      encode: () => new Uint8Array(2 ** 20),
      signal: counted.signal
    })
    expect(reply.bytes).to.deep.equal(REPLY)
    await memory.drained()
    expect(counted.listeners()).to.equal(0)
  })

  it('takes an empty reply, and one in many pieces', async () => {
    const empty = connectInMemory(send(0))
    expect((await ask(empty.connection)).bytes).to.deep.equal(new Uint8Array(0))
    const large = new Uint8Array(700_000).map((_, index) => index % 251)
    const pieces = connectInMemory(async (stream) => {
      await lpStream(stream).write(large)
      await stream.close()
    })
    const reply = await ask(pieces.connection, { maxResponseBytes: large.length })
    expect(sameBytes(reply.bytes, large)).to.equal(true)
  })

  it('takes a reply that is larger than libp2p buffers unasked', async () => {
    const memory = connectInMemory(async (stream) => {
      stream.send(Uint8Array.of(0x80, 0x80, 0xc0, 0x02))
      stream.send(new Uint8Array(5 * 2 ** 20))
      await stream.close()
    })
    const reply = await ask(memory.connection, { maxResponseBytes: 6 * 2 ** 20 })
    expect(reply.bytes.length).to.equal(5 * 2 ** 20)
  })

  it('ignores what comes behind the frame, however much that is', async () => {
    const memory = connectInMemory(async (stream) => {
      stream.send(Uint8Array.of(3, ...REPLY))
      for (let chunk = 0; chunk < 20 && stream.status === 'open'; chunk++) {
        stream.send(new Uint8Array(10_000))
      }
    })
    expect((await ask(memory.connection)).bytes).to.deep.equal(REPLY)
    await memory.close()
  })

  it('takes no more than a window from a peer that goes on after the frame', async () => {
    let sentBytes = 0
    const done = Promise.withResolvers<void>()
    const memory = connectInMemory(async (stream) => {
      stream.send(Uint8Array.of(3, ...REPLY))
      for (let turn = 0; turn < 100; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 1))
        if (stream.writeBufferLength === 0) {
          stream.send(new Uint8Array(65_536))
          sentBytes += 65_536
        }
      }
      done.resolve()
    })
    expect((await ask(memory.connection)).bytes).to.deep.equal(REPLY)
    await done.promise
    expect(sentBytes).to.be.below(2 ** 20)
    await memory.close()
  })

  it('rejects when the stream ends before or within the frame', async () => {
    for (const bytes of [[], [0x80], [3], [3, 9, 8]]) {
      const memory = connectInMemory(send(...bytes))
      const error = await caught(ask(memory.connection))
      expect(error, String(bytes)).to.include({ code: 'ERR_CONNECTION' })
      expect(error.message).to.include('before a whole frame')
      await memory.drained()
    }
  })

  it('rejects when the stream is reset, or the connection breaks', async () => {
    const reset = connectInMemory((stream) => stream.abort(new Error('no')))
    expect(await caught(ask(reset.connection))).to.include({ code: 'ERR_CONNECTION' })
    const broken = connectInMemory(() => broken.breakOff())
    expect(await caught(ask(broken.connection))).to.include({ code: 'ERR_CONNECTION' })
  })

  it('aborts a connection that calls itself open but opens no stream', async () => {
    for (const [name, aborted] of [
      ['MuxerClosedError', true],
      ['ConnectionClosedError', true],
      ['TooManyOutboundProtocolStreamsError', false]
    ] as const) {
      const errors: Error[] = []
      const connection = {
        newStream: () => Promise.reject(Object.assign(new Error('no'), { name })),
        abort: (error: Error) => errors.push(error)
      } as unknown as Connection
      const error = await caught(ask(connection))
      expect(error).to.include({ code: 'ERR_CONNECTION' })
      expect(errors).to.deep.equal(aborted ? [error] : [])
    }
  })

  it('refuses a length over the limit as soon as it is read', async () => {
    for (const prefix of [
      [0xe9, 0x07],
      [0xff, 0xff, 0x7f],
      [0xff, 0xff, 0xff, 0x7f],
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]
    ]) {
      const memory = connectInMemory((stream) => {
        // and nothing after it
        stream.send(Uint8Array.from(prefix))
      })
      const error = await caught(ask(memory.connection))
      expect(error, String(prefix)).to.include({ code: 'ERR_LIMIT_EXCEEDED', limit: 1000 })
      await memory.drained()
    }
    const exact = connectInMemory(send(0xe8, 0x07, ...new Uint8Array(1000)))
    expect((await ask(exact.connection)).bytes.length).to.equal(1000)
  })

  it('refuses a length that never ends, and one that is not minimal', async () => {
    const endless = connectInMemory((stream) => {
      stream.send(new Uint8Array(10_000).fill(0xff))
    })
    expect(await caught(ask(endless.connection))).to.include({ code: 'ERR_LIMIT_EXCEEDED' })
    await endless.drained()
    const padded = connectInMemory(send(0x83, 0x00, ...REPLY))
    expect(await caught(ask(padded.connection))).to.include({
      code: 'ERR_PROTOCOL_VIOLATION',
      detail: 'frame'
    })
    await padded.drained()
  })

  it('resets a stream that drips, at the deadline', async () => {
    const memory = connectInMemory(async (stream) => {
      stream.send(Uint8Array.of(100))
      while (stream.status === 'open') {
        stream.send(Uint8Array.of(0))
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })
    const error = await caught(
      withDeadline('ask', {}, 30, (signal) => ask(memory.connection, { signal }))
    )
    expect(error).to.include({ code: 'ERR_TIMEOUT', operation: 'ask' })
    await memory.drained()
  })

  it('rejects with UnsupportedError if the peer speaks none of the protocols', async () => {
    const memory = connectInMemory(serve)
    const error = await caught(ask(memory.connection, { protocols: ['/a', '/b'] }))
    expect(error).to.include({ code: 'ERR_UNSUPPORTED' })
    expect(error.message).to.include('/a, /b')
  })

  it('opens no stream for a signal that is aborted already', async () => {
    const memory = connectInMemory(serve)
    const reason = new Error('mine')
    expect(await caught(ask(memory.connection, { signal: AbortSignal.abort(reason) }))).to.equal(
      reason
    )
    expect(memory.streams()).to.deep.equal({ ours: 0, theirs: 0 })
  })

  it('resets the stream of an aborted exchange, and rejects with the reason', async () => {
    const arrived = Promise.withResolvers<Stream>()
    const memory = connectInMemory((stream) => arrived.resolve(stream))
    const counted = countedSignal()
    const reason = { not: 'an error' }
    const asked: Promise<unknown> = ask(memory.connection, { signal: counted.signal }).catch(
      (error: unknown) => error
    )
    const stream = await arrived.promise
    counted.abort(reason)
    expect(await asked).to.equal(reason)
    await memory.drained()
    expect(stream.status).to.equal('reset')
    expect(counted.listeners()).to.equal(0)
  })

  it('is not changed by an abort afterwards', async () => {
    const memory = connectInMemory(serve)
    const controller = new AbortController()
    const reply = await ask(memory.connection, { signal: controller.signal })
    controller.abort()
    await memory.drained()
    expect(reply.bytes).to.deep.equal(REPLY)
  })

  it('rejects with what the encoder throws, and resets the stream', async () => {
    const memory = connectInMemory(serve)
    const broken = new TypeError('a bug')
    const asked = ask(memory.connection, {
      encode: () => {
        throw broken
      }
    })
    expect(await caught(asked)).to.equal(broken)
    await memory.drained()
  })

  it('bounds the streams that a peer never ends', async () => {
    const memory = connectInMemory(async (stream) => {
      const frames = lpStream(stream)
      await frames.read()
      await frames.write(REPLY)
    })
    let most = 0
    for (let round = 0; round < 5 * MAX_LINGERING_STREAMS; round++) {
      expect((await ask(memory.connection)).bytes).to.deep.equal(REPLY)
      most = Math.max(most, memory.streams().ours)
    }
    expect(most).to.equal(MAX_LINGERING_STREAMS)
    // a reset takes a moment to get there
    expect(memory.streams().theirs).to.be.at.most(MAX_LINGERING_STREAMS + 2)
  })

  it('leaves the streams of other exchanges alone when it ends those', async () => {
    const first = Promise.withResolvers<Stream>()
    let count = 0
    const memory = connectInMemory(async (stream) => {
      if (count++ === 0) {
        first.resolve(stream)
        return
      }
      const frames = lpStream(stream)
      await frames.read()
      await frames.write(REPLY)
    })
    const slow = ask(memory.connection)
    const stream = await first.promise
    for (let round = 0; round < 2 * MAX_LINGERING_STREAMS; round++) {
      await ask(memory.connection)
    }
    await serve(stream)
    expect((await slow).bytes).to.deep.equal(REPLY)
  })
})

describe('answer', () => {
  afterEach(closeMemoryConnections)

  /** What became of the answer to one request. */
  async function answered(
    send: (stream: Stream) => unknown,
    respond: (request: Uint8Array) => Uint8Array,
    signal: AbortSignal = open
  ): Promise<{ readonly outcome: Error | undefined; readonly status: string }> {
    const done = Promise.withResolvers<Error | undefined>()
    const memory = connectInMemory((stream) =>
      answer(stream, 10, respond, signal).then(
        () => done.resolve(undefined),
        (error: Error) => done.resolve(error)
      )
    )
    const stream = await memory.connection.newStream([PROTOCOL])
    await send(stream)
    const outcome = await done.promise
    if (outcome !== undefined) {
      await memory.drained()
    }
    return { outcome, status: stream.status }
  }

  it('answers one frame with one frame, and closes', async () => {
    const replies: Uint8Array[] = []
    const { outcome } = await answered(
      async (stream) => {
        const frames = lpStream(stream)
        await frames.write(REQUEST)
        replies.push((await frames.read()).subarray())
        await stream.close()
      },
      (request) => Uint8Array.of(...request, 4)
    )
    expect(outcome).to.equal(undefined)
    expect(replies).to.deep.equal([Uint8Array.of(1, 2, 3, 4)])
  })

  it('resets the stream when the request is too long, ends early, or is not understood', async () => {
    const refuse = (): never => {
      throw new Error('not understood')
    }
    const cases: [number[], string, () => Uint8Array][] = [
      [[11], 'ERR_LIMIT_EXCEEDED', () => REPLY],
      [[0xff, 0xff, 0xff, 0xff], 'ERR_LIMIT_EXCEEDED', () => REPLY],
      [[3, 1], 'ERR_CONNECTION', () => REPLY],
      [[3, 1, 2, 3], 'ERR_CONNECTION', refuse]
    ]
    for (const [bytes, code, respond] of cases) {
      const { outcome, status } = await answered(send(...bytes), respond)
      expect(outcome, String(bytes)).to.include({ code })
      expect(status).to.equal('reset')
    }
  })

  it('rejects with the reason of the signal when the peer does not read', async () => {
    const controller = new AbortController()
    const reason = new Error('mine')
    const { outcome, status } = await answered(
      (stream) => {
        stream.pause()
        stream.send(Uint8Array.of(3, ...REQUEST))
      },
      () => {
        queueMicrotask(() => controller.abort(reason))
        return new Uint8Array(2 ** 20)
      },
      controller.signal
    )
    expect(outcome).to.equal(reason)
    expect(status).to.equal('reset')
  })

  it('rejects with the reason of the signal when the peer says nothing', async () => {
    const controller = new AbortController()
    const reason = new Error('mine')
    const { outcome, status } = await answered(
      () => controller.abort(reason),
      () => REPLY,
      controller.signal
    )
    expect(outcome).to.equal(reason)
    expect(status).to.equal('reset')
  })
})

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
