import { expect } from 'chai'
import { StoreClient } from '../../src/store/index.ts'
import { Archive } from '../helpers/archive.ts'
import { FakePeers } from '../helpers/fake-peers.ts'
import { archivePeer } from '../helpers/store-peers.ts'

describe('StoreClient, look-ups', () => {
  it('waits for a node that is connected before it chooses one', async () => {
    const peers = new FakePeers([archivePeer(new Archive(), 'one')])
    const calls: string[] = []
    const candidates = peers.candidates.bind(peers)
    Object.assign(peers, {
      reach: async () => {
        calls.push('reach')
      },
      candidates: () => {
        calls.push('candidates')
        return candidates()
      }
    })
    await new StoreClient(peers).has([new Uint8Array(32)])
    expect(calls).to.deep.equal(['reach', 'candidates'])
  })
})
