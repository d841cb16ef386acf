import { yamux } from '@chainsafe/libp2p-yamux'
import type { MessageStream, StreamMuxerFactory } from '@libp2p/interface'
import { expect } from 'chai'
import { LightPushClient } from 'waku-light/light-push'
import { LIGHT_PUSH_2_PROTOCOL, LIGHT_PUSH_3_PROTOCOL } from 'waku-light/wire'
import { caught } from './helpers/caught.ts'
import { askEcho, BODY, closeLightNodes, nextChange, startLightNode } from './helpers/light-node.ts'
import { startOddNode, stopOddNodes } from './helpers/odd-node.ts'
import { ECHO_PROTOCOL } from './helpers/scripted-node.ts'

/** A muxer that the light node lacks. */
const otherMuxer = (): StreamMuxerFactory => Object.assign(yamux()(), { protocol: '/mplex/6.7.0' })

/** True if the first message of noise came before its negotiation was answered. */
function isAhead(connection: MessageStream): boolean {
  return connection.readBufferLength > 0
}

describe('sending the handshake ahead', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopOddNodes()
  })

  it('does the handshake again the plain way where the node does not bear it, and keeps to that', async () => {
    const ahead: boolean[] = []
    const service = await startOddNode({
      echoes: [ECHO_PROTOCOL],
      handshake: (connection) => {
        ahead.push(isAhead(connection))
        if (isAhead(connection)) {
          throw new Error('not yet')
        }
      }
    })
    const node = await startLightNode([service.address])
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    expect(ahead).to.deep.equal([true, false])
    expect(service.asked.filter((line) => line.endsWith('with data'))).to.deep.equal([])
    const lost = nextChange(node, false)
    await service.closeConnections()
    await lost
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    expect(ahead).to.deep.equal([true, false, false])
  })

  it('does so too where the node says nothing, within the deadline of the dial', async () => {
    const ahead: boolean[] = []
    const service = await startOddNode({
      echoes: [ECHO_PROTOCOL],
      handshake: async (connection) => {
        ahead.push(isAhead(connection))
        if (isAhead(connection)) {
          await new Promise((resolve) => connection.addEventListener('close', resolve))
        }
      }
    })
    const node = await startLightNode([service.address], { dialTimeoutMs: 600 })
    expect((await askEcho(node)).bytes).to.deep.equal(BODY)
    expect(ahead).to.deep.equal([true, false])
  })

  it('gives up after one plain handshake', async () => {
    const service = await startOddNode({
      handshake: () => {
        throw new Error('no')
      }
    })
    const node = await startLightNode([service.address])
    expect(await caught(askEcho(node))).to.include({ code: 'ERR_CONNECTION' })
    expect(service.handshakes() % 2).to.equal(0)
  })

  it('fails where the node speaks another encrypter', async () => {
    const service = await startOddNode({ encrypter: '/tls/1.0.0' })
    const node = await startLightNode([service.address])
    expect(await caught(askEcho(node))).to.include({ code: 'ERR_CONNECTION' })
    expect(service.accepted()).to.equal(0)
  })

  it('does not ask a stranger twice', async () => {
    const service = await startOddNode()
    const other = await startOddNode()
    const node = await startLightNode([service.address.replace(service.peerId, other.peerId)])
    await caught(askEcho(node))
    const handshakes = service.handshakes()
    await caught(askEcho(node))
    expect(service.handshakes()).to.equal(handshakes + 1)
  })

  it('fails where the node lacks the muxer, with nothing read', async () => {
    for (const muxerApart of [false, true]) {
      const service = await startOddNode({ muxers: [otherMuxer], muxerApart })
      const node = await startLightNode([service.address])
      const events: string[] = []
      const error = await caught(
        askEcho(node, {
          onWrite: () => events.push('written'),
          onUnread: () => events.push('unread'),
          onRead: () => events.push('read')
        })
      )
      expect(error, String(muxerApart)).to.include({ code: 'ERR_CONNECTION' })
      expect(events.at(-1) ?? 'unread', String(muxerApart)).to.equal('unread')
      expect(events).to.not.include('read')
    }
  })

  it('speaks yamux with a node that offers it among others, in any order', async () => {
    for (const muxerApart of [false, true]) {
      for (const muxers of [
        [otherMuxer, yamux()],
        [yamux(), otherMuxer]
      ]) {
        const service = await startOddNode({ muxers, muxerApart, echoes: [ECHO_PROTOCOL] })
        const node = await startLightNode([service.address])
        expect((await askEcho(node)).bytes).to.deep.equal(BODY)
        expect(service.accepted()).to.equal(1)
      }
    }
  })

  it('lets a push say what became of it', async () => {
    const reset = await startOddNode({
      streams: { [LIGHT_PUSH_3_PROTOCOL]: (stream) => stream.abort(new Error('no')) }
    })
    const node = await startLightNode([reset.address])
    const message = { contentTopic: '/a/1/b/bytes', payload: BODY }
    // tried again, but never said to have failed
    const unsure = await new LightPushClient(node).push(message, { timeoutMs: 300 })
    expect(unsure.status).to.equal('unknown')
    expect(
      reset.asked.filter((line) => line === `${LIGHT_PUSH_3_PROTOCOL} with data`)
    ).to.have.length(1)
    const lacking = await startOddNode()
    const other = await startLightNode([lacking.address])
    const { status, attempts } = await new LightPushClient(other).push(message)
    expect(status).to.equal('failed')
    expect((attempts[0]?.error as { code?: string }).code).to.equal('ERR_UNSUPPORTED')
    expect(lacking.asked).to.include.members([
      `${LIGHT_PUSH_3_PROTOCOL} with data`,
      `${LIGHT_PUSH_2_PROTOCOL} with data`
    ])
  })
})
