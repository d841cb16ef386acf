import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { MessageStream, SecuredConnection } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { expect } from 'chai'
import { joinWrites } from 'waku-light'
import { delay } from '../../src/lib/deadline.ts'

type Components = Parameters<ReturnType<typeof noise>>[0]

/** Two ends with noise between them, of which the first joins what it writes. */
async function securedPair(role: 'secureOutbound' | 'secureInbound' = 'secureOutbound'): Promise<{
  readonly ours: MessageStream
  readonly theirs: MessageStream
  /** What ours runs over. */
  readonly under: MessageStream
  /** What came over the wire, a length each. */
  readonly wire: number[]
  /** What came out of it. */
  readonly received: number[]
}> {
  const [a, b] = multiaddrConnectionPair({ capacity: 1000 })
  const create = async (): Promise<Components> => ({
    privateKey: await generateKeyPair('Ed25519'),
    peerId: undefined as unknown as Components['peerId'], // which it does not use
    logger: { forComponent: () => a.log },
    upgrader: { getStreamMuxers: () => new Map() } as unknown as Components['upgrader']
  })
  const [{ connection: ours }, { connection: theirs }] = (await Promise.all([
    joinWrites(noise())(await create())[role](a),
    noise()(await create())[role === 'secureInbound' ? 'secureOutbound' : 'secureInbound'](b)
  ])) as [SecuredConnection, SecuredConnection]
  const wire: number[] = []
  const received: number[] = []
  b.addEventListener('message', ({ data }) => wire.push(data.byteLength))
  theirs.addEventListener('message', ({ data }) => received.push(...data.subarray()))
  return { ours, theirs, under: a, wire, received }
}

const OVERHEAD = 2 + 16

describe('joinWrites', () => {
  it('sends as one what is written in one turn, promises between or not', async () => {
    const { ours, wire, received } = await securedPair()
    ours.send(Uint8Array.of(1, 2))
    ours.send(Uint8Array.of(3))
    for (const next of [4, 5]) {
      for (let hop = 0; hop < 40; hop++) {
        await Promise.resolve()
      }
      ours.send(Uint8Array.of(next))
    }
    await delay(1)
    expect(received).to.deep.equal([1, 2, 3, 4, 5])
    expect(wire).to.deep.equal([5 + OVERHEAD])
    ours.send(Uint8Array.of(6))
    await delay(1)
    expect(received).to.deep.equal([1, 2, 3, 4, 5, 6])
    expect(wire).to.deep.equal([5 + OVERHEAD, 1 + OVERHEAD])
  })

  it('holds no more than 8 KiB, so that the peer begins while the rest is made', async () => {
    const { ours, wire, received } = await securedPair()
    for (let count = 0; count < 5; count++) {
      ours.send(new Uint8Array(4 * 1024).fill(count))
    }
    await delay(1)
    expect(wire).to.deep.equal([8 * 1024, 8 * 1024, 4 * 1024].map((bytes) => bytes + OVERHEAD))
    expect(received).to.have.length(5 * 4 * 1024)
    expect(received.at(-1)).to.equal(4)
  })

  it('waits as long for what comes after as before it was full', async () => {
    const { ours, wire, received } = await securedPair()
    for (let count = 0; count < 4; count++) {
      ours.send(new Uint8Array(65_519))
    }
    ours.send(Uint8Array.of(1))
    for (let hop = 0; hop < 40; hop++) {
      await Promise.resolve()
    }
    ours.send(Uint8Array.of(2))
    await delay(1)
    expect(received.slice(4 * 65_519)).to.deep.equal([1, 2])
    expect(wire.at(-1)).to.equal(2 + OVERHEAD)
  })

  it('sends what it holds before it is closed or aborted, and nothing after', async () => {
    for (const end of ['ours', 'under'] as const) {
      const closed = await securedPair()
      closed.ours.send(Uint8Array.of(1))
      await closed[end].close()
      expect(closed.received).to.deep.equal([1])
      const aborted = await securedPair()
      aborted.ours.send(Uint8Array.of(1))
      aborted[end].abort(new Error('enough'))
      expect(() => aborted.ours.send(Uint8Array.of(2))).to.throw('Cannot write')
      await delay(1)
      expect(aborted.received).to.deep.equal([1])
    }
  })

  it('does the same for who was dialled', async () => {
    const { ours, wire, received } = await securedPair('secureInbound')
    ours.send(Uint8Array.of(1))
    ours.send(Uint8Array.of(2))
    await delay(1)
    expect(received).to.deep.equal([1, 2])
    expect(wire).to.deep.equal([2 + OVERHEAD])
  })

  it('says when there is no room, and aborts what it cannot write', async () => {
    const { ours } = await securedPair()
    expect(ours.send(Uint8Array.of(1))).to.equal(true)
    Object.assign(ours, { writableNeedsDrain: true })
    expect(ours.send(Uint8Array.of(2))).to.equal(false)
    const broken = await securedPair()
    Object.assign(broken.ours, {
      sendData: () => {
        throw new Error('out of nonces')
      }
    })
    broken.ours.send(Uint8Array.of(1))
    await delay(1)
    expect(broken.ours.status).to.equal('aborted')
  })
})
