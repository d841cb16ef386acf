import type { Stream } from '@libp2p/interface'
import { expect } from 'chai'
import { encodeMetadata, METADATA_PROTOCOL } from 'waku-light/wire'
import { PROPERTY } from '../helpers/collect.ts'
import { askEcho, BODY, closeLightNodes, startLightNode } from '../transport/helpers/light-node.ts'
import {
  ECHO_PROTOCOL,
  type ScriptedNode,
  startScriptedNode,
  stopScriptedNodes
} from '../transport/helpers/scripted-node.ts'
import { CORPUS } from './corpus.ts'
import { SCRIPT_NAMES, SCRIPTS } from './malice.ts'
import { Random } from './random.ts'
import { settled } from './watch.ts'

/** Streams that a node opens to a client at a time. */
const BATCH = 25

/** Streams of one protocol that a client takes from a peer at a time, by default. */
const MAX_INBOUND = 32

/** What an honest node says of itself. */
const OWN_METADATA = encodeMetadata({ clusterId: 1, shards: [0] })

/** Scripts that say nothing, or the truth: a node that says to be of another cluster, or of none, is not used any more. */
const HARMLESS = [
  'honest',
  'honest, and open',
  'frame and more',
  'endless bytes',
  'endless length',
  'endless frames',
  'reset',
  'closed',
  'silence'
]

/** What the client speaks, and what it does not. */
const PROTOCOLS = [METADATA_PROTOCOL, METADATA_PROTOCOL, ECHO_PROTOCOL, '/no/such/protocol/1.0.0']

describe(`inbound streams that nobody asked for (seed ${PROPERTY.seed})`, () => {
  afterEach(async () => {
    await closeLightNodes()
    await stopScriptedNodes()
  })

  it('leave the connection usable, and no streams behind', async () => {
    const random = new Random(PROPERTY.seed)
    const far = await startScriptedNode()
    const node = await startLightNode([far.address])
    await askEcho(node)
    for (let batch = 0; batch < 4 * PROPERTY.factor; batch++) {
      await bother(random, far, HARMLESS)
      const { bytes } = await askEcho(node)
      expect(bytes).to.deep.equal(BODY)
    }
    expect(far.accepted()).to.equal(1)
    expect(far.libp2p.getConnections()[0]?.streams.length).to.be.at.most(2 * MAX_INBOUND)
  })

  it('are answered, or cost the node its place with an error of this package, whatever they say', async () => {
    const random = new Random(PROPERTY.seed)
    for (let round = 0; round < 3 * PROPERTY.factor; round++) {
      const far = await startScriptedNode()
      const node = await startLightNode([far.address])
      await askEcho(node)
      await bother(random, far, SCRIPT_NAMES)
      await settled('a question', askEcho(node))
      await node.close()
    }
  })
})

/** Opens streams to the client, and does something with each. */
async function bother(
  random: Random,
  far: ScriptedNode,
  scripts: readonly string[]
): Promise<void> {
  await Promise.allSettled(
    Array.from({ length: BATCH }, async () => {
      const [connection] = far.libp2p.getConnections()
      const protocol = random.pick(PROTOCOLS)
      const name = random.pick(scripts)
      const body = scripts === HARMLESS ? OWN_METADATA : random.pick(CORPUS)
      const ends = random.chance(0.5)
      const stream = (await connection?.newStream([protocol])) as Stream
      const end = (): void => stream.abort(new Error('nothing more comes'))
      const onSilence = ends ? end : (): void => undefined
      await SCRIPTS[name]?.({ random, stream, body, onSilence, breakOff: end }).catch(end)
    })
  )
}
