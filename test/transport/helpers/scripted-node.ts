import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p, PrivateKey, Stream } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { lpStream } from '@libp2p/utils'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p } from 'libp2p'
import {
  decodeMetadata,
  encodeMetadata,
  METADATA_PROTOCOL,
  type Metadata
} from '../../../src/wire/metadata.ts'

/** Protocol of the scripted service; echoes a frame unless told otherwise. */
export const ECHO_PROTOCOL = '/waku-light/test/echo/1.0.0'

export interface ScriptedNodeInit {
  readonly clusterId?: number
  readonly shards?: readonly number[]
  /** What becomes of a metadata request: answered, left without an answer (the first one, or all), or refused as unknown. */
  readonly metadata?: 'answered' | 'silent once' | 'silent' | 'missing'
  /** True: asks a new peer for its metadata, as the reference nodes do. */
  readonly asks?: boolean
  readonly echo?: ((stream: Stream, connection: Connection) => void | Promise<void>) | undefined
  readonly noEcho?: boolean
  readonly privateKey?: PrivateKey
  readonly port?: number
  readonly tls?: { readonly cert: string; readonly key: string }
}

/** A service node that does what a test says. */
export interface ScriptedNode {
  readonly libp2p: Libp2p
  readonly peerId: string
  /** Its address with its peer id. */
  readonly address: string
  readonly port: number
  /** Number of connections that were opened to it. */
  readonly accepted: () => number
  /** Metadata requests of clients, in order. */
  readonly requests: readonly Metadata[]
  /** What the first client said when it was asked (`asks`). */
  readonly told: Promise<Metadata>
  stop(): Promise<void>
}

const running = new Set<ScriptedNode>()

export async function startScriptedNode(init: ScriptedNodeInit = {}): Promise<ScriptedNode> {
  const { clusterId = 1, shards = [0], metadata = 'answered', asks = false, tls } = init
  const libp2p = await createLibp2p({
    start: false,
    privateKey: init.privateKey,
    addresses: { listen: [`/ip4/127.0.0.1/tcp/${init.port ?? 0}${tls ? '/tls/ws' : '/ws'}`] },
    transports: [webSockets(tls === undefined ? {} : { https: { ...tls } })],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    connectionManager: { inboundConnectionThreshold: 1000 },
    services: { identify: identify(), ping: ping() }
  })
  const requests: Metadata[] = []
  const told = Promise.withResolvers<Metadata>()
  told.promise.catch(() => undefined)
  let accepted = 0
  if (metadata !== 'missing') {
    await libp2p.handle(METADATA_PROTOCOL, async (stream) => {
      const frames = lpStream(stream)
      requests.push(decodeMetadata((await frames.read()).subarray()))
      if (metadata === 'answered' || (metadata === 'silent once' && requests.length > 1)) {
        await frames.write(encodeMetadata({ clusterId, shards }))
        await stream.close()
      }
    })
  }
  if (!init.noEcho) {
    await libp2p.handle(
      ECHO_PROTOCOL,
      (stream, connection) => (init.echo ?? echo)(stream, connection),
      {
        maxInboundStreams: 64
      }
    )
  }
  libp2p.addEventListener('connection:open', ({ detail }) => {
    accepted++
    if (asks) {
      ask(detail, { clusterId, shards }).then(told.resolve, told.reject)
    }
  })
  await libp2p.start()
  const [address] = libp2p.getMultiaddrs()
  const node: ScriptedNode = {
    libp2p,
    peerId: libp2p.peerId.toString(),
    address: address?.toString() ?? '',
    port: Number(address?.getComponents().find(({ name }) => name === 'tcp')?.value),
    accepted: () => accepted,
    requests,
    told: told.promise,
    stop: async () => {
      running.delete(node)
      await libp2p.stop()
    }
  }
  running.add(node)
  return node
}

/** For `afterEach`. */
export async function stopScriptedNodes(): Promise<void> {
  await Promise.all(Array.from(running, (node) => node.stop()))
}

/** Asks a client for its metadata. */
export async function ask(connection: Connection, own: Metadata): Promise<Metadata> {
  const stream = await connection.newStream([METADATA_PROTOCOL])
  const frames = lpStream(stream)
  await frames.write(encodeMetadata(own))
  return decodeMetadata((await frames.read()).subarray())
}

export async function echo(stream: Stream): Promise<void> {
  const frames = lpStream(stream)
  await frames.write(await frames.read())
  await stream.close()
}
