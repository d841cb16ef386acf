import { expect } from 'chai'
import { createServicePeers } from 'waku-light'
import { LightPushClient } from 'waku-light/light-push'
import { StoreClient } from 'waku-light/store'
import { caught } from './transport/helpers/caught.ts'

/** What somebody without types may pass. */
const NO_COMPONENTS = [undefined, null, {}, { servicePeers: {} }] as never[]

describe('what is built over components', () => {
  it('says at once that they are missing', async () => {
    const wrong = { code: 'ERR_INVALID_ARGUMENT', parameter: 'components.servicePeers' }
    for (const components of NO_COMPONENTS) {
      const store = await caught((async () => new StoreClient(components))())
      expect(store).to.include(wrong)
      const lightPush = await caught((async () => new LightPushClient(components))())
      expect(lightPush).to.include(wrong)
      const servicePeers = await caught(createServicePeers(components, { serviceNodes: [] }))
      expect(servicePeers).to.include({ code: 'ERR_INVALID_ARGUMENT', parameter: 'libp2p' })
    }
  })
})
