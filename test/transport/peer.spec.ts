import { expect } from 'chai'
import { toPeers } from '../../src/transport/peer.ts'

const PEER_ID = '12D3KooWGyCFqLm5mGxnDhCMnUxtgWTHfzLpoUq7FbqmSWXfKdmA'
const GOOD = `/dns4/a.example/tcp/443/wss/p2p/${PEER_ID}`
const BAD = `/dns4/a.example/tcp/80/p2p/${PEER_ID}`
const WORSE = `/ip4/10.0.0.1/tcp/443/wss/p2p/${PEER_ID}`
const POLICY = { secureContextOnly: false, allowPrivateAddresses: false }

describe('toPeers', () => {
  it('refuses a node that has no good address, for the first reason', () => {
    const { peers, skipped } = toPeers([BAD, WORSE], POLICY, 1)
    expect(peers.map(({ peerId, refusal }) => ({ peerId, refusal }))).to.deep.equal([
      { peerId: PEER_ID, refusal: skipped[0]?.error }
    ])
    expect(skipped.map(({ error }) => error)).to.have.length(2)
  })

  it('takes one that has a good address, wherever that stands', () => {
    for (const addresses of [
      [GOOD, BAD],
      [BAD, GOOD],
      [BAD, GOOD, WORSE]
    ]) {
      const { peers, skipped } = toPeers(addresses, POLICY, 1)
      expect(peers).to.have.length(1)
      expect(peers[0]?.refusal).to.equal(undefined)
      expect(peers[0]?.multiaddrs.map(String)).to.deep.equal([GOOD])
      expect(skipped).to.have.length(addresses.length - 1)
    }
  })
})
