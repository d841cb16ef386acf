import { expect } from 'chai'
import { createResume } from 'waku-light/resume'
import { StoreClient } from 'waku-light/store'
import { FakePeers } from '../helpers/fake-peers.ts'
import { World } from './world.ts'

describe('Resume.run, at nodes without a store', () => {
  it('fails, and does not ask again and again', async () => {
    const world = new World()
    let dials = 0
    const peers = new FakePeers([
      {
        peerId: 'peer-0',
        protocols: [],
        dial: () => {
          if (++dials > 20) {
            throw new Error('asked again and again')
          }
        },
        answer: () => new Uint8Array()
      }
    ])
    const components = {
      archive: world.archive,
      store: new StoreClient(peers),
      node: { servicePeers: peers }
    }
    const result = await createResume(components, world.init()).run()
    expect(result).to.have.nested.property('error.code', 'ERR_NO_USABLE_PEER')
    expect(dials).to.be.below(5)
  })
})
