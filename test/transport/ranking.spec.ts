import { expect } from 'chai'
import { ConnectionError } from '../../src/errors.ts'
import { Peer } from '../../src/transport/peer.ts'
import { ranked } from '../../src/transport/ranking.ts'

const WANTED = ['/vac/waku/store-query/3.0.0']

/** A node about which something is known. */
function peer(name: string, set: (peer: Peer) => void = () => undefined): Peer {
  const made = new Peer(name, 1)
  set(made)
  return made
}

describe('ranked', () => {
  it('puts what cannot be used behind what lacks the protocol, that behind what rests, and that behind all others', () => {
    const fail = ({ link }: Peer): void => {
      for (let count = 0; count < 10; count++) {
        link.failed()
      }
    }
    const inOrder = [
      peer('connected'),
      peer('good', (one) => one.at(WANTED).standing.succeeded()),
      peer('untried'),
      peer('failing', (one) => {
        fail(one)
        fail({ link: one.at(WANTED).standing } as Peer)
      }),
      peer('resting', (one) => one.at(WANTED).standing.rest()),
      peer('resting and failing', (one) => {
        one.at(WANTED).standing.rest()
        fail(one)
      }),
      peer('lacking', (one) => {
        one.protocols = ['/other/1']
        one.at(WANTED).standing.succeeded()
      }),
      peer('lacking and resting', (one) => {
        one.protocols = ['/other/1']
        one.at(WANTED).standing.rest()
      }),
      peer('refused', (one) => {
        one.refusal = new ConnectionError('no')
        one.at(WANTED).standing.succeeded()
      })
    ]
    const isConnected = ({ peerId }: Peer): boolean => peerId === 'connected'
    for (const given of [inOrder, [...inOrder].reverse()]) {
      const names = ranked(given, WANTED, isConnected).map(({ peerId }) => peerId)
      expect(names).to.deep.equal(inOrder.map(({ peerId }) => peerId))
    }
  })

  it('leaves nodes of which nothing is known in the order given', () => {
    const peers = ['b', 'a', 'c'].map((name) => peer(name))
    expect(ranked(peers, [], () => false)).to.deep.equal(peers)
  })
})
