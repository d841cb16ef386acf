import { yamux } from '@chainsafe/libp2p-yamux'
import type { MultiaddrConnection, Stream } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { expect } from 'chai'
import {
  AheadConnection,
  MAX_FIRST_STREAMS,
  MAX_SILENCE_MS
} from '../../src/transport/ahead-connection.ts'
import { toHello } from '../../src/transport/echo.ts'
import { SpokenProtocols } from '../../src/transport/spoken-protocols.ts'
import { caught } from './helpers/caught.ts'

const PROTOCOL = '/waku-light/test/1.0.0'
const { signal } = new AbortController()

/** Type of a frame of yamux. */
const WINDOW_UPDATE = 1

describe('AheadConnection', () => {
  const open: MultiaddrConnection[] = []

  afterEach(() => {
    for (const connection of open.splice(0)) {
      connection.abort(new Error('the test is over'))
    }
  })

  /** Two real muxers in memory, of which ours is taken over, with a clock of the test. */
  function connect(
    serve: (stream: Stream) => unknown,
    isSilent = false
  ): {
    readonly ahead: AheadConnection
    readonly muxer: ReturnType<ReturnType<ReturnType<typeof yamux>>['createStreamMuxer']>
    readonly theirs: MultiaddrConnection
    readonly forgotten: string[]
    readonly served: () => number
    readonly clock: { now: number }
    readonly attach: () => void
  } {
    const [secured, theirs] = multiaddrConnectionPair({ capacity: 1000 })
    open.push(secured, theirs)
    const create = yamux({ enableKeepAlive: false })
    const muxer = create().createStreamMuxer(secured)
    const clock = { now: 1_000_000 }
    const forgotten: string[] = []
    const ahead = new AheadConnection({
      muxer,
      secured,
      spoken: new SpokenProtocols(),
      forget: (protocol) => forgotten.push(protocol),
      now: () => clock.now
    })
    let served = 0
    const attach = (): void => {
      create()
        .createStreamMuxer(theirs)
        .addEventListener('stream', ({ detail }) => {
          served++
          serve(detail)
        })
    }
    if (!isSilent) {
      attach()
    }
    return { ahead, muxer, theirs, forgotten, served: () => served, clock, attach }
  }

  it('waits for answers after a long silence, until the peer says something', async () => {
    const { ahead, muxer, clock } = connect((stream) => stream.send(Uint8Array.of(1)))
    expect(ahead.isUsable).to.equal(true)
    clock.now += MAX_SILENCE_MS
    expect(ahead.isUsable).to.equal(false)
    const stream = await muxer.createStream({ protocol: PROTOCOL })
    expect(stream.protocol).to.equal('')
    await new Promise((resolve) => stream.addEventListener('message', resolve))
    expect(ahead.isUsable).to.equal(true)
  })

  it('is not used again once it was given up', async () => {
    const { ahead } = connect(() => undefined)
    ahead.giveUp()
    expect(ahead.isUsable).to.equal(false)
  })

  it('holds streams back on a new connection, and lets go of those that are aborted', async () => {
    const { ahead, served, attach } = connect(() => undefined, true)
    const opening = Array.from({ length: MAX_FIRST_STREAMS }, () =>
      ahead.open(PROTOCOL, signal, () => undefined)
    )
    for (const { stream } of await Promise.all(opening)) {
      stream.send(Uint8Array.of(1))
    }
    const controller = new AbortController()
    const reason = new Error('mine')
    const aborted = ahead.open(PROTOCOL, controller.signal, () => undefined)
    const waiting = ahead.open(PROTOCOL, signal, () => undefined)
    controller.abort(reason)
    expect(await caught(aborted)).to.equal(reason)
    let isOpen = false
    waiting.then(
      () => {
        isOpen = true
      },
      () => undefined
    )
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(isOpen).to.equal(false)
    attach()
    expect((await waiting).state()).to.equal('unsent')
    expect(served()).to.be.at.least(MAX_FIRST_STREAMS)
  })

  it('opens none of them on a connection that closes', async () => {
    const { ahead, theirs } = connect(() => undefined, true)
    for (let count = 0; count < MAX_FIRST_STREAMS; count++) {
      await ahead.open(PROTOCOL, signal, () => undefined)
    }
    const waiting = caught(ahead.open(PROTOCOL, signal, () => undefined))
    theirs.abort(new Error('gone'))
    expect(await waiting).to.include({ name: 'MuxerClosedError' })
  })

  it('tells of room for more only once there is something to tell, and then does', async () => {
    const size = 1024 * 1024
    const { ahead, theirs } = connect(async (stream) => {
      const asked = async (): Promise<unknown> =>
        await new Promise((resolve) => stream.addEventListener('message', resolve, { once: true }))
      await asked()
      stream.send(toHello(PROTOCOL))
      stream.send(Uint8Array.of(1))
      await asked()
      for (let sent = 0; sent < size; sent += 16_384) {
        if (!stream.send(new Uint8Array(16_384))) {
          await stream.onDrain()
        }
      }
    })
    let windows = 0
    theirs.addEventListener('message', ({ data }) => {
      const [, type, , flags] = data.subarray()
      windows += type === WINDOW_UPDATE && flags === 0 ? 1 : 0
    })
    const { stream } = await ahead.open(PROTOCOL, signal, () => undefined)
    let received = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    stream.addEventListener('message', ({ data }) => {
      received += data.byteLength
      if (received === 1) {
        expect(windows).to.equal(0)
        stream.send(Uint8Array.of(2))
      }
      if (received === 1 + size) {
        resolve()
      }
    })
    stream.send(Uint8Array.of(1))
    await promise
    expect(windows).to.be.within(3, size / (64 * 1024))
  })

  it('ends our side only when the peer has agreed', async () => {
    const statuses: string[] = []
    const { ahead } = connect((stream) => {
      const answer = (): void => {
        statuses.push(stream.remoteWriteStatus)
        stream.send(toHello(PROTOCOL))
      }
      // an end that was sent behind the data would be here by then
      stream.addEventListener('message', () => setTimeout(answer))
    })
    const { stream } = await ahead.open(PROTOCOL, signal, () => undefined)
    stream.send(Uint8Array.of(1))
    await stream.close()
    expect(stream.writeStatus).to.equal('closed')
    expect(statuses).to.deep.equal(['writable'])
  })

  it('does not wait to end our side of a stream that is reset', async () => {
    const { ahead } = connect((stream) => {
      stream.addEventListener('message', () => stream.abort(new Error('no')))
    })
    const { stream, state } = await ahead.open(PROTOCOL, signal, () => undefined)
    stream.send(Uint8Array.of(1))
    await stream.close()
    expect(state()).to.equal('awaited')
  })

  it('says that nothing was read where the peer lacks the muxer, but not where it said something else', async () => {
    for (const [name, state] of [
      ['UnsupportedProtocolError', 'unread'],
      ['ProtocolViolationError', 'awaited']
    ] as const) {
      const { ahead } = connect(() => undefined)
      const opened = await ahead.open(PROTOCOL, signal, () => undefined)
      opened.stream.send(Uint8Array.of(1))
      ahead.abort(Object.assign(new Error('no'), { name }))
      expect(opened.state()).to.equal(state)
      expect(ahead.isUsable).to.equal(false)
    }
  })

  it('has libp2p forget what a stream of its own was refused for', async () => {
    const { muxer, forgotten } = connect((stream) => {
      stream.addEventListener('message', () => stream.send(toHello('na')))
    })
    const stream = await muxer.createStream({ protocol: PROTOCOL })
    expect(stream.protocol).to.equal(PROTOCOL)
    while (stream.status === 'open') {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(forgotten).to.deep.equal([PROTOCOL])
    expect(() => stream.send(Uint8Array.of(1))).to.throw(PROTOCOL)
  })
})
