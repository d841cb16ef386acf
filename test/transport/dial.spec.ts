import type { AbortOptions, Connection } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { expect } from 'chai'
import { dialFirst } from '../../src/transport/dial.ts'
import { caught, countedSignal } from './helpers/caught.ts'

const [ONE, TWO] = ['/dns4/one.example/tcp/1/wss', '/dns4/two.example/tcp/1/wss'].map((address) =>
  multiaddr(address)
) as [Multiaddr, Multiaddr]
const PEER_ID = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'
const { signal: open } = new AbortController()

type Answer = (signal: AbortSignal) => Promise<Connection>

/** A libp2p whose dials are answered in order; each dial is noted. */
function dialer(...answers: Answer[]): {
  readonly libp2p: Parameters<typeof dialFirst>[0]
  readonly dialed: string[]
} {
  const dialed: string[] = []
  const dial = async (address: Multiaddr, { signal }: AbortOptions): Promise<Connection> => {
    dialed.push(address.toString())
    return await (answers.shift() ?? hang)(signal as AbortSignal)
  }
  return { libp2p: { dial }, dialed }
}

const connection = { id: 'a connection', remotePeer: { toString: () => 'somebody' } } as Connection
/** A connection that counts how often it is aborted. */
function caughtAborts(): { readonly connection: Connection; readonly aborted: () => number } {
  let aborted = 0
  const own = {
    ...connection,
    abort: () => {
      aborted++
    }
  }
  return { connection: own, aborted: () => aborted }
}

const connect: Answer = async () => connection
/** Ends with the signal only, as a dial to a black hole does. */
const hang: Answer = (signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('hidden')))
  })
const fail =
  (reason: unknown): Answer =>
  () =>
    Promise.reject(reason)

describe('dialFirst', () => {
  it('resolves with the first connection, and dials no more', async () => {
    const { libp2p, dialed } = dialer(fail(new Error('no')), connect)
    expect(await dialFirst(libp2p, [ONE, TWO, ONE], 1000, open)).to.equal(connection)
    expect(dialed).to.deep.equal([ONE.toString(), TWO.toString()])
  })

  it('tries the next address beside one that says nothing, which is given up then', async () => {
    let givenUp: AbortSignal | undefined
    const silent: Answer = (signal) => {
      givenUp = signal
      return new Promise(() => undefined)
    }
    const { libp2p, dialed } = dialer(silent, connect)
    expect(await dialFirst(libp2p, [ONE, TWO], 60_000, open)).to.equal(connection)
    expect(dialed).to.deep.equal([ONE.toString(), TWO.toString()])
    expect(givenUp?.aborted).to.equal(true)
  })

  it('takes nobody else at an address than the peer that it names', async () => {
    const stranger = caughtAborts()
    const dials = dialer(fail(new Error('no')), async () => stranger.connection)
    const named = [ONE, TWO].map((address) => multiaddr(`${address.toString()}/p2p/${PEER_ID}`))
    const error = await caught(dialFirst(dials.libp2p, named, 1000, open))
    expect(error.message).to.match(/somebody answers at \/dns4\/two.example/)
    expect(stranger.aborted()).to.equal(1)
    // without its peer id: libp2p would wait for the dial of the first address
    expect(dials.dialed).to.deep.equal([named[0]?.toString(), TWO.toString()])
  })

  it('ends a connection that comes too late', async () => {
    const late = caughtAborts()
    const arrived = Promise.withResolvers<Connection>()
    const { libp2p } = dialer(() => arrived.promise, connect)
    expect(await dialFirst(libp2p, [ONE, TWO], 60_000, open)).to.equal(connection)
    expect(late.aborted()).to.equal(0)
    arrived.resolve(late.connection)
    await arrived.promise
    await new Promise((resolve) => setTimeout(resolve))
    expect(late.aborted()).to.equal(1)
  })

  it('rejects with a TimeoutError where there is one address', async () => {
    const error = await caught(dialFirst(dialer().libp2p, [ONE], 10, open))
    expect(error).to.include({ code: 'ERR_TIMEOUT', operation: 'dial', timeoutMs: 10 })
  })

  it('makes an error of whatever a dial rejects with', async () => {
    const cases: [unknown, string][] = [
      [new Error('no route'), 'no route'],
      [new Event('error'), 'no reason given'],
      [undefined, 'no reason given'],
      [new AggregateError([new Error('one'), new Event('error')]), 'one; no reason given']
    ]
    for (const [reason, text] of cases) {
      const error = await caught(dialFirst(dialer(fail(reason)).libp2p, [ONE], 1000, open))
      expect(error).to.include({
        code: 'ERR_CONNECTION',
        message: `dial failed: ${text}`,
        cause: reason
      })
    }
  })

  it('ends with the reason of the signal, and dials no more', async () => {
    const counted = countedSignal()
    const { libp2p, dialed } = dialer()
    const dialing = dialFirst(libp2p, [ONE, TWO], 1000, counted.signal)
    const reason = new Error('mine')
    counted.abort(reason)
    expect(await caught(dialing)).to.equal(reason)
    expect(dialed).to.deep.equal([ONE.toString()])
    expect(counted.listeners()).to.equal(0)
  })
})
