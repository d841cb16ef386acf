// A process that asks nodes, each alone, and says how it went: its trust in a certificate is set when it starts.
import { createLightNode } from '../../../src/transport/node.ts'
import { askEcho } from './light-node.ts'

const answers: unknown[] = []
for (const address of process.argv.slice(2)) {
  const node = await createLightNode({ serviceNodes: [address], clusterId: 1, shardCount: 8 })
  try {
    answers.push(Array.from((await askEcho(node)).bytes))
  } catch (error) {
    answers.push((error as { code?: string }).code)
  } finally {
    await node.close()
  }
}
process.send?.(answers)
