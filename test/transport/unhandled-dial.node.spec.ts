import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'chai'
import { closingWebSockets } from '../../src/transport/websockets.ts'
import { caught } from './helpers/caught.ts'

/** A logger that says nothing. */
function forComponent(): object {
  const say = (): void => undefined
  return Object.assign(say, { error: say, trace: say, newScope: forComponent })
}

describe('closingWebSockets', () => {
  it('rejects to its caller only where the signal is aborted already', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown): void => {
      unhandled.push(error)
    }
    const others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', note)
    try {
      const { transport } = closingWebSockets(webSockets())
      const components = { logger: { forComponent } } as unknown as Parameters<typeof transport>[0]
      const made = transport(components)
      const reason = new Error('mine')
      const upgrader = {} as Parameters<typeof made.dial>[1]['upgrader']
      const options = { signal: AbortSignal.abort(reason), upgrader }
      expect(await caught(made.dial(multiaddr('/ip4/127.0.0.1/tcp/1/ws'), options))).to.equal(
        reason
      )
      await new Promise((resolve) => setTimeout(resolve))
      expect(unhandled).to.deep.equal([])
    } finally {
      process.off('unhandledRejection', note)
      for (const other of others) {
        process.on('unhandledRejection', other)
      }
    }
  })
})
