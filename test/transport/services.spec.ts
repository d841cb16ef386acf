import { expect } from 'chai'
import { serviceOf, servicesOf } from '../../src/transport/services.ts'

describe('servicesOf', () => {
  it('is what some protocols are for, each service once, in a fixed order', () => {
    const protocols = [
      '/vac/waku/store-query/3.0.0',
      '/vac/waku/lightpush/3.0.0',
      '/vac/waku/store/2.0.0-beta4',
      '/ipfs/ping/1.0.0'
    ]
    expect(servicesOf(protocols)).to.deep.equal(['light-push', 'store'])
  })

  it('takes a protocol that is called as a service for none', () => {
    expect(servicesOf(['store', 'sync', 'light-push'])).to.deep.equal([])
    expect(serviceOf('/ipfs/ping/1.0.0')).to.equal('/ipfs/ping/1.0.0')
  })
})
