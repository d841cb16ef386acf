import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { createServiceNode } from 'waku-light-service-node'
import { encodeMessage, TOPIC } from './helpers/messages.ts'
import { push } from './helpers/push.ts'
import { Resources } from './helpers/resources.ts'
import { query } from './helpers/store.ts'

describe('admin port', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  it('serves health', async () => {
    const node = await resources.node({ standalone: true, admin: { port: 0 } })
    const client = await resources.client()
    await push(client, node.multiaddrs[0], encodeMessage())
    const response = await fetch(`${node.adminUrl}/health`)
    expect(response.status).to.equal(200)
    expect(await response.json()).to.deep.equal({
      status: 'ok',
      peerId: node.peerId,
      multiaddrs: node.multiaddrs,
      connections: 1,
      messages: 1,
      relayPeers: { [TOPIC]: 0 }
    })
  })

  it('serves metrics that count requests by protocol and status', async () => {
    const node = await resources.node({ admin: { port: 0 } })
    const client = await resources.client()
    await push(client, node.multiaddrs[0], encodeMessage())
    await query(client, node.multiaddrs[0])
    const response = await fetch(`${node.adminUrl}/metrics`)
    expect(response.headers.get('content-type')).to.match(/^text\/plain/)
    const lines = (await response.text()).split('\n')
    expect(lines).to.include.members([
      'waku_requests_total{protocol="/vac/waku/lightpush/3.0.0",status="505"} 1',
      'waku_archive_messages 1',
      'waku_connections 1',
      `waku_relay_peers{pubsub_topic="${TOPIC}"} 0`,
      'waku_request_duration_seconds_count{protocol="/vac/waku/store-query/3.0.0"} 1'
    ])
  })

  it('has nothing else, and is gone when the node is closed', async () => {
    const node = await resources.node({ admin: { port: 0 } })
    expect((await fetch(`${node.adminUrl}/`)).status).to.equal(404)
    expect((await fetch(`${node.adminUrl}/health`, { method: 'POST' })).status).to.equal(405)
    const url = node.adminUrl
    await node.close()
    const error = await fetch(`${url}/health`).catch((reason: Error) => reason)
    expect(error).to.be.instanceOf(TypeError)
  })

  it('a port that is taken fails the start, and releases what was opened', async () => {
    const file = join(resources.directory(), 'archive.db')
    const node = await resources.node({ admin: { port: 0 } })
    const port = Number(new URL(node.adminUrl ?? '').port)
    const error = await resources
      .node({ databaseFile: file, admin: { port } })
      .catch((reason: Error) => reason)
    expect(error).to.have.property('code', 'ERR_LISTEN')
    expect((await resources.node({ databaseFile: file })).messageCount()).to.equal(0)
  })
})

describe('createServiceNode', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  it('refuses options that make no sense before it opens anything', async () => {
    const file = join(resources.directory(), 'archive.db')
    const cases = [
      { clusterId: -1 },
      { shards: [] },
      { shards: [1], shardCount: 1 },
      { maxMessageBytes: 0 }
    ]
    for (const options of cases) {
      const error = await createServiceNode({ databaseFile: file, ...options }).catch(
        (reason: Error) => reason
      )
      expect(error).to.have.property('code', 'ERR_INVALID_ARGUMENT')
    }
    expect(() => readFileSync(file)).to.throw('ENOENT')
  })

  it('has the same peer id again with a key file, and refuses one that holds no key', async () => {
    const keyFile = join(resources.directory(), 'key')
    const first = await resources.node({ keyFile })
    await first.close()
    expect((await resources.node({ keyFile })).peerId).to.equal(first.peerId)
    writeFileSync(keyFile, 'nonsense')
    const error = await resources.node({ keyFile }).catch((reason: Error) => reason)
    expect(error).to.have.property('code', 'ERR_KEY_FILE')
  })
})
