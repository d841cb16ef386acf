import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'chai'
import { soleDial } from '../../src/transport/sole-dial.ts'
import { caught } from './helpers/caught.ts'

const ONE = multiaddr('/dns4/one.example/tcp/1/wss')
const TWO = multiaddr('/dns4/two.example/tcp/1/wss')

async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
}

describe('soleDial', () => {
  it('dials an address when the dial of it before has ended, and others meanwhile', async () => {
    const dials: PromiseWithResolvers<Connection>[] = []
    const sole = soleDial({
      dial: async () => {
        const dial = Promise.withResolvers<Connection>()
        dials.push(dial)
        return await dial.promise
      }
    })
    const first = caught(sole.dial(ONE))
    const second = sole.dial(ONE)
    const other = sole.dial(TWO)
    await turn()
    expect(dials).to.have.length(2)
    const connection = { id: 'one' } as Connection
    dials[1]?.resolve(connection)
    expect(await other).to.equal(connection)
    const reason = new Error('given up')
    dials[0]?.reject(reason)
    expect(await first).to.equal(reason)
    await turn()
    expect(dials).to.have.length(3)
    dials[2]?.resolve(connection)
    expect(await second).to.equal(connection)
  })

  it('does not dial what was given up while it waited', async () => {
    let dials = 0
    const held = Promise.withResolvers<Connection>()
    const sole = soleDial({
      dial: () => {
        dials++
        return held.promise
      }
    })
    const first = caught(sole.dial(ONE))
    const reason = new Error('mine')
    const controller = new AbortController()
    const second = caught(sole.dial(ONE, { signal: controller.signal }))
    controller.abort(reason)
    held.reject(new Error('no'))
    await first
    expect(await second).to.equal(reason)
    expect(dials).to.equal(1)
  })
})
