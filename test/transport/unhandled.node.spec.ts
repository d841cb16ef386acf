import { expect } from 'chai'
import { caught } from './helpers/caught.ts'
import { askEcho, closeLightNodes, startLightNode } from './helpers/light-node.ts'
import { startScriptedNode, stopScriptedNodes } from './helpers/scripted-node.ts'

describe('a dial that is aborted', () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopScriptedNodes()
  })

  it('leaves no unhandled rejection, whenever that is', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown): void => void unhandled.push(error)
    const others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', note)
    try {
      const [first, second] = [await startScriptedNode(), await startScriptedNode()]
      const node = await startLightNode([first.address, second.address])
      await askEcho(node, { peerId: first.peerId }) // the other one is left alone from now on
      for (let turns = 0; turns < 400; turns += 1) {
        const controller = new AbortController()
        const asked = caught(askEcho(node, { peerId: second.peerId, signal: controller.signal }))
        for (let count = 0; count < turns; count++) {
          await Promise.resolve()
        }
        controller.abort()
        await asked
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    } finally {
      process.off('unhandledRejection', note)
      for (const other of others) process.on('unhandledRejection', other)
    }
    expect(unhandled).to.deep.equal([])
  })
})
