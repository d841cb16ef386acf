import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import type { ServiceNode } from 'waku-light-service-node'
import { CLUSTER, encodeMessage } from './helpers/messages.ts'
import { push } from './helpers/push.ts'
import { Resources } from './helpers/resources.ts'

const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: node',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '',
  ''
].join('\r\n')

describe('the websocket listener', () => {
  const resources = new Resources()
  afterEach(() => resources.release())

  it('closes a socket on which a frame is none, and serves the others', async () => {
    const node = await resources.node({ standalone: true, listen: ['/ip4/127.0.0.1/tcp/0/ws'] })
    const socket = await open(node)
    socket.write(UPGRADE)
    await once(socket, 'data')
    socket.write(Uint8Array.of(0xf2, 0x80, 0, 0, 0, 0)) // reserved bits
    await once(socket, 'close')
    const client = await resources.client({ clusterId: CLUSTER })
    const { statusCode } = await push(client, node.multiaddrs[0], encodeMessage())
    expect(statusCode).to.equal(200)
  })

  it('closes while there is a connection on which nothing was sent', async () => {
    const node = await resources.node({ listen: ['/ip4/127.0.0.1/tcp/0/ws'] })
    const socket = await open(node)
    // The node has taken it once it has taken the next one, too.
    const client = await resources.client({ clusterId: CLUSTER })
    await client.dial(node.multiaddrs[0])
    const closed = once(socket, 'close')
    await node.close()
    await closed
  })

  async function open(node: ServiceNode): Promise<Socket> {
    const port = Number(/\/tcp\/(\d+)\//.exec(node.multiaddrs[0] ?? '')?.[1])
    const socket = connect(port, '127.0.0.1')
    resources.add(() => socket.destroy())
    socket.on('error', () => undefined)
    socket.resume()
    await once(socket, 'connect')
    return socket
  }
})
