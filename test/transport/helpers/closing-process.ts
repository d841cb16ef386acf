// A process that must end by itself: it asks a node that does not answer, dials one that says nothing, and closes when told.
import { createLightNode } from '../../../src/transport/node.ts'
import { BODY } from './light-node.ts'
import { ECHO_PROTOCOL } from './scripted-node.ts'

const serviceNodes = process.argv.slice(2)
const node = await createLightNode({ serviceNodes, clusterId: 1, shardCount: 8 })
const { signal } = new AbortController()
const codes = node.servicePeers.candidates().map(async (peer) => {
  try {
    await node.servicePeers.request(
      peer,
      {
        protocols: [ECHO_PROTOCOL],
        encode: () => BODY,
        maxResponseBytes: 100,
        onWrite: () => process.send?.('asking')
      },
      signal
    )
    return 'answered'
  } catch (error) {
    return (error as { code?: string }).code
  }
})
process.once('message', () => {
  node.close().catch(() => {
    process.exitCode = 3
  })
})
if ((await Promise.all(codes)).some((code) => code !== 'ERR_CLOSED')) {
  process.exitCode = 2
}
