import type { Connection } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { expect } from 'chai'
import { Membership } from '../../src/transport/membership.ts'
import { Peer } from '../../src/transport/peer.ts'
import { encodeMetadata, METADATA_PROTOCOL } from '../../src/wire/metadata.ts'
import { caught } from './helpers/caught.ts'
import { closeMemoryConnections, connectInMemory } from './helpers/memory-connection.ts'

const PEER_ID = 'peer'

/** A connection to a node of cluster 2, or one that says nothing; and how often it was asked, and why it was aborted. */
function connect(isSilent = false): {
  readonly connection: Connection
  readonly asked: () => number
  readonly aborts: Error[]
} {
  let asked = 0
  const { connection } = connectInMemory(
    async (stream) => {
      asked++
      if (isSilent) {
        return
      }
      const frames = lpStream(stream)
      await frames.read()
      await frames.write(encodeMetadata({ clusterId: 2, shards: [0] }))
    },
    [METADATA_PROTOCOL]
  )
  const aborts: Error[] = []
  const abort = (error: Error): unknown => aborts.push(error)
  return {
    connection: Object.assign(connection, { remotePeer: PEER_ID, abort }),
    asked: () => asked,
    aborts
  }
}

function createMembership(signal: AbortSignal, warnings: string[] = []): Membership {
  const note = (): void => undefined
  return new Membership({
    network: { clusterId: 1, shardCount: 8 },
    timeoutMs: 10_000,
    logger: { debug: note, info: note, error: note, warn: (message) => warnings.push(message) },
    signal
  })
}

describe('Membership', () => {
  afterEach(closeMemoryConnections)

  it('rejects a check that is under way when all ends', async () => {
    const closing = new AbortController()
    const { connection } = connect(true)
    const checked = caught(createMembership(closing.signal).check(connection, new Peer(PEER_ID, 1)))
    const reason = new Error('closed')
    closing.abort(reason)
    expect(await checked).to.equal(reason)
  })

  it('closes each connection to a node of another cluster, asks once on each, and warns once', async () => {
    const warnings: string[] = []
    const membership = createMembership(new AbortController().signal, warnings)
    const peer = new Peer(PEER_ID, 1)
    const connections = [connect(), connect()]
    const errors: Error[] = []
    for (const { connection } of [...connections, ...connections]) {
      errors.push(await caught(membership.check(connection, peer)))
    }
    expect(errors[0]).to.include({ code: 'ERR_CLUSTER_MISMATCH', peerId: PEER_ID })
    expect(new Set(errors)).to.have.length(1)
    expect(warnings).to.have.length(1)
    for (const { asked, aborts } of connections) {
      expect(asked()).to.equal(1)
      expect(new Set(aborts)).to.deep.equal(new Set([errors[0]]))
    }
  })
})
