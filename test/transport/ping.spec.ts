import { type StreamCloseEvent } from '@libp2p/interface'
import { byteStream, streamPair } from '@libp2p/utils'
import { expect } from 'chai'
import { answerPing, PING_PROTOCOL, ping } from '../../src/transport/ping.ts'
import { caught, countedSignal } from './helpers/caught.ts'
import { closeMemoryConnections, connectInMemory } from './helpers/memory-connection.ts'

describe('ping', () => {
  afterEach(closeMemoryConnections)

  it('resolves when anything comes back, and leaves no stream', async () => {
    const memory = connectInMemory(answerPing, [PING_PROTOCOL])
    const counted = countedSignal()
    await ping(memory.connection, counted.signal)
    await ping(memory.connection, counted.signal)
    expect(counted.listeners()).to.equal(0)
    await memory.drained()
  })

  it('rejects when the stream ends before, or the signal is aborted', async () => {
    const refusing = connectInMemory((stream) => stream.abort(new Error('no')), [PING_PROTOCOL])
    const { signal } = new AbortController()
    expect(await caught(ping(refusing.connection, signal))).to.be.instanceOf(Error)
    const silent = connectInMemory(() => undefined, [PING_PROTOCOL])
    const counted = countedSignal()
    const reason = new Error('mine')
    const asking = ping(silent.connection, counted.signal)
    await new Promise((resolve) => setTimeout(resolve))
    counted.abort(reason)
    expect(await caught(asking)).to.equal(reason)
    expect(counted.listeners()).to.equal(0)
    await silent.drained()
  })
})

describe('answerPing', () => {
  it('sends back what comes, each time, and closes when the peer does', async () => {
    const [ours, theirs] = await streamPair({ protocol: PING_PROTOCOL })
    answerPing(ours)
    const peer = byteStream(theirs)
    for (const fill of [1, 2]) {
      const ping = new Uint8Array(32).fill(fill)
      await peer.write(ping)
      const pong = await peer.read({ bytes: 32, signal: AbortSignal.timeout(5_000) })
      expect(pong.subarray()).to.deep.equal(ping)
    }
    await theirs.close()
    expect(await peer.read({ signal: AbortSignal.timeout(5_000) })).to.equal(null)
    expect(ours.status).to.equal('closed')
  })

  it('resets the stream of a peer that pings faster than it reads', async () => {
    const [ours] = await streamPair({ protocol: PING_PROTOCOL })
    answerPing(ours)
    const { promise, resolve } = Promise.withResolvers<Error | undefined>()
    ours.addEventListener('close', ({ error }: StreamCloseEvent) => resolve(error))
    ours.send = () => false
    ours.push(new Uint8Array(32))
    expect(await promise).to.include({ code: 'ERR_CONNECTION' })
    expect(ours.status).to.equal('aborted')
  })
})
