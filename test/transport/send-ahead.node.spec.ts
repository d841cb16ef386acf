import type { Stream } from '@libp2p/interface'
import { expect } from 'chai'
import { TimeoutError } from 'waku-light/errors'
import { toHello } from '../../src/transport/echo.ts'
import type { ExchangeRequest } from '../../src/transport/exchange.ts'
import { caught } from './helpers/caught.ts'
import { askEcho, BODY, closeLightNodes, startLightNode } from './helpers/light-node.ts'
import { startOddNode, stopOddNodes } from './helpers/odd-node.ts'
import { ECHO_PROTOCOL, startScriptedNode, stopScriptedNodes } from './helpers/scripted-node.ts'
import { startTurnProxy, stopTurnProxies, type TurnProxy } from './helpers/turn-proxy.ts'

const NEWER_PROTOCOL = '/waku-light/test/echo/2.0.0'
const BOTH = [NEWER_PROTOCOL, ECHO_PROTOCOL]
const ANSWER = Uint8Array.of(3, ...BODY)
const REFUSAL = Uint8Array.of(...toHello('na'))

/** What a request goes through, in order. */
function traced(): Partial<ExchangeRequest> & { readonly events: string[] } {
  const events: string[] = []
  return {
    events,
    encode: (protocol) => {
      events.push(protocol)
      return BODY
    },
    onWrite: () => events.push('written'),
    onUnread: () => events.push('unread'),
    onRead: () => events.push('read')
  }
}

/** Says all of it at once, and closes. */
function say(...parts: Uint8Array[]): (stream: Stream) => Promise<void> {
  return async (stream) => {
    for (const part of parts) {
      stream.send(part)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await stream.close()
  }
}

describe('sending negotiation ahead', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopTurnProxies()
    await stopOddNodes()
    await stopScriptedNodes()
  })

  async function behindTurns(node: { port: number; address: string }): Promise<{
    readonly proxy: TurnProxy
    readonly address: string
  }> {
    const proxy = await startTurnProxy(node.port)
    return { proxy, address: node.address.replace(`/tcp/${node.port}/`, `/tcp/${proxy.port}/`) }
  }

  it('takes three round trips for a cold request, and one for a warm one', async () => {
    for (const muxerApart of [false, true]) {
      const service = await startOddNode({ echoes: [ECHO_PROTOCOL], muxerApart })
      const { proxy, address } = await behindTurns(service)
      const node = await startLightNode([address])
      expect((await askEcho(node)).bytes).to.deep.equal(BODY)
      expect(proxy.takeTurns(), `muxer apart: ${muxerApart}`).to.equal(3)
      for (let count = 0; count < 2; count++) {
        await askEcho(node)
        expect(proxy.takeTurns()).to.equal(1)
      }
    }
  })

  it('takes four where the network is to be learnt', async () => {
    const { proxy, address } = await behindTurns(await startScriptedNode())
    const node = await startLightNode([address], { clusterId: undefined, shardCount: undefined })
    await node.network()
    expect(proxy.takeTurns()).to.equal(3)
    await askEcho(node)
    expect(proxy.takeTurns()).to.equal(1)
  })

  it('can be turned off', async () => {
    const service = await startOddNode({ echoes: [ECHO_PROTOCOL], muxerApart: true })
    const { proxy, address } = await behindTurns(service)
    const node = await startLightNode([address], { sendAhead: false })
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    expect(proxy.takeTurns()).to.equal(8)
    await askEcho(node)
    expect(proxy.takeTurns()).to.equal(2)
    expect(service.asked.filter((line) => line.endsWith('with data'))).to.deep.equal([])
  })

  it('costs one round trip more to ask for what the peer lacks, once', async () => {
    const service = await startOddNode({ echoes: [ECHO_PROTOCOL], withoutIdentify: true })
    const { proxy, address } = await behindTurns(service)
    const node = await startLightNode([address])
    const first = traced()
    const reply = await askEcho(node, { protocols: BOTH, ...first })
    expect(reply).to.deep.include({ protocol: ECHO_PROTOCOL, bytes: BODY })
    expect(proxy.takeTurns()).to.equal(4)
    expect(first.events).to.deep.equal([
      ...[NEWER_PROTOCOL, 'written', 'unread'],
      ...[ECHO_PROTOCOL, 'written', 'read']
    ])
    const second = traced()
    await askEcho(node, { protocols: BOTH, ...second })
    expect(second.events).to.deep.equal([ECHO_PROTOCOL, 'written', 'read'])
    expect(proxy.takeTurns()).to.equal(1)
    expect(await protocolsOf(node.streamHost, service.peerId)).to.not.include(NEWER_PROTOCOL)
    expect(service.accepted()).to.equal(1)
  })

  it('asks for what identify has told first', async () => {
    const service = await startOddNode({ echoes: [ECHO_PROTOCOL] })
    const node = await startLightNode([service.address])
    await askEcho(node)
    while (!(await protocolsOf(node.streamHost, service.peerId)).includes(ECHO_PROTOCOL)) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    // told right after it is stored
    await new Promise((resolve) => setTimeout(resolve, 20))
    const { events, ...request } = traced()
    await askEcho(node, { protocols: BOTH, ...request })
    expect(events).to.deep.equal([ECHO_PROTOCOL, 'written', 'read'])
  })

  it('rejects as unsupported where the peer speaks none, with nothing read', async () => {
    const service = await startOddNode()
    const node = await startLightNode([service.address])
    const { events, ...request } = traced()
    const error = await caught(askEcho(node, { protocols: BOTH, ...request }))
    expect(error).to.include({ code: 'ERR_UNSUPPORTED' })
    expect(error.message).to.include(BOTH.join(', '))
    expect(events.filter((event) => !event.startsWith('/'))).to.deep.equal([
      ...['written', 'unread'],
      ...['written', 'unread']
    ])
    expect(node.connectedPeers).to.deep.equal([service.peerId])
  })

  it('takes an echo in pieces, one with the answer, and an answer to what was not read', async () => {
    const hello = toHello(ECHO_PROTOCOL)
    const handlers: ((stream: Stream) => unknown)[] = [
      say(hello, ANSWER),
      say(
        hello.subarray(0, 1),
        hello.subarray(1, 20),
        hello.subarray(20, 30),
        hello.subarray(30),
        ANSWER
      ),
      say(Uint8Array.of(...hello, ...ANSWER)),
      say(Uint8Array.of(...hello, ...ANSWER.subarray(0, 2)), ANSWER.subarray(2)),
      // as a node that rejects for rate does
      (stream) => {
        stream.send(Uint8Array.of(...hello, ...ANSWER))
        stream.abort(new Error('too many'))
      }
    ]
    const queue = [...handlers]
    const service = await startOddNode({
      streams: { [ECHO_PROTOCOL]: async (stream) => await queue.shift()?.(stream) }
    })
    const node = await startLightNode([service.address])
    for (const index of handlers.keys()) {
      const { events, ...request } = traced()
      const reply = await askEcho(node, request)
      expect(reply.bytes, String(index)).to.deep.equal(BODY)
      expect(events).to.deep.equal([ECHO_PROTOCOL, 'written', 'read'])
    }
    expect(service.accepted()).to.equal(1)
  })

  it('takes a refusal in pieces, and one with garbage behind it', async () => {
    const queue = [
      say(REFUSAL.subarray(0, 20), REFUSAL.subarray(20, 22), REFUSAL.subarray(22)),
      say(Uint8Array.of(...REFUSAL, 1, 2, 3))
    ]
    const service = await startOddNode({
      echoes: [ECHO_PROTOCOL],
      withoutIdentify: true,
      streams: { [NEWER_PROTOCOL]: async (stream) => await queue.shift()?.(stream) }
    })
    for (let count = 0; count < 2; count++) {
      const node = await startLightNode([service.address])
      const reply = await askEcho(node, { protocols: BOTH })
      expect(reply.protocol).to.equal(ECHO_PROTOCOL)
    }
    expect(queue).to.have.length(0)
  })

  it('resets a stream with a wrong echo, and keeps the connection', async () => {
    const statuses: Promise<string>[] = []
    const queue: Uint8Array[] = [Uint8Array.of(1, 2, 3), toHello(NEWER_PROTOCOL), ANSWER]
    const service = await startOddNode({
      streams: {
        [ECHO_PROTOCOL]: (stream) => {
          statuses.push(
            new Promise((resolve) => stream.addEventListener('close', () => resolve(stream.status)))
          )
          stream.send(queue.shift() ?? Uint8Array.of(...toHello(ECHO_PROTOCOL), ...ANSWER))
        }
      }
    })
    const node = await startLightNode([service.address])
    for (let count = 0; count < 3; count++) {
      const { events, ...request } = traced()
      expect(await caught(askEcho(node, request))).to.include({
        code: 'ERR_PROTOCOL_VIOLATION',
        detail: 'negotiation'
      })
      // who knows what it has read
      expect(events).to.deep.equal([ECHO_PROTOCOL, 'written'])
    }
    expect(await Promise.all(statuses)).to.deep.equal(['reset', 'reset', 'reset'])
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    expect(service.accepted()).to.equal(1)
  })

  it('asks again, without sending ahead, where a reset comes instead of an echo', async () => {
    let resets = 1
    const service = await startOddNode({
      streams: {
        [ECHO_PROTOCOL]: async (stream) => {
          if (resets-- > 0) {
            stream.abort(new Error('no'))
          } else {
            stream.send(toHello(ECHO_PROTOCOL))
            await say(ANSWER)(stream)
          }
        }
      }
    })
    const node = await startLightNode([service.address])
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    const asked = service.asked.filter((line) => line.startsWith(ECHO_PROTOCOL))
    expect(asked).to.deep.equal([`${ECHO_PROTOCOL} with data`, ECHO_PROTOCOL])
    expect(service.accepted()).to.equal(1)
  })

  it('does not, for a caller that asks what has left; its next request waits for the echo', async () => {
    let resets = 1
    const service = await startOddNode({
      streams: {
        [ECHO_PROTOCOL]: async (stream) => {
          if (resets-- > 0) {
            stream.abort(new Error('no'))
          } else {
            stream.send(toHello(ECHO_PROTOCOL))
            await say(ANSWER)(stream)
          }
        }
      }
    })
    const node = await startLightNode([service.address])
    const first = traced()
    expect(await caught(askEcho(node, first))).to.include({ code: 'ERR_CONNECTION' })
    expect(first.events).to.deep.equal([ECHO_PROTOCOL, 'written'])
    const second = traced()
    expect((await askEcho(node, second)).bytes).to.deep.equal(BODY)
    const asked = service.asked.filter((line) => line.startsWith(ECHO_PROTOCOL))
    expect(asked).to.deep.equal([`${ECHO_PROTOCOL} with data`, ECHO_PROTOCOL])
  })

  it('goes on sending ahead after a caller gave up, and not after a deadline', async () => {
    for (const [reason, negotiation] of [
      [new Error('enough'), `${ECHO_PROTOCOL} with data`],
      [new TimeoutError('call', 1), ECHO_PROTOCOL]
    ] as const) {
      let isSilent = true
      const { promise: asked, resolve } = Promise.withResolvers<void>()
      const service = await startOddNode({
        streams: {
          [ECHO_PROTOCOL]: async (stream) => {
            if (isSilent) {
              isSilent = false
              resolve()
            } else {
              stream.send(toHello(ECHO_PROTOCOL))
              await say(ANSWER)(stream)
            }
          }
        }
      })
      const node = await startLightNode([service.address])
      const call = new AbortController()
      const given = caught(askEcho(node, { signal: call.signal }))
      await asked
      call.abort(reason)
      expect(await given).to.equal(reason)
      expect((await askEcho(node)).bytes).to.deep.equal(BODY)
      const last = service.asked.filter((line) => line.startsWith(ECHO_PROTOCOL)).at(-1)
      expect(last, reason.message).to.equal(negotiation)
    }
  })

  it('opens few streams on a new connection until the peer has said something', async () => {
    const service = await startScriptedNode()
    const node = await startLightNode([service.address])
    const replies = await Promise.all(Array.from({ length: 40 }, () => askEcho(node)))
    expect(replies).to.have.length(40)
    expect(service.accepted()).to.equal(1)
  })

  it('forgets that a peer was asked for ping, which it lacks, and keeps the connection', async () => {
    const service = await startOddNode({ echoes: [ECHO_PROTOCOL], withoutPing: true })
    const node = await startLightNode([service.address], { pingIntervalMs: 30 })
    await askEcho(node)
    while (!service.asked.some((line) => line.startsWith('/ipfs/ping/'))) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    while ((await protocolsOf(node.streamHost, service.peerId)).includes('/ipfs/ping/1.0.0')) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await askEcho(node)
    expect(service.accepted()).to.equal(1)
  })
})

/** What libp2p remembers of a peer that is connected. */
async function protocolsOf(
  host: Awaited<ReturnType<typeof startLightNode>>['streamHost'],
  peerId: string
): Promise<readonly string[]> {
  const connection = host
    .getConnections()
    .find(({ remotePeer }) => remotePeer.toString() === peerId)
  return connection === undefined ? [] : (await host.peerStore.get(connection.remotePeer)).protocols
}
